// What a model call costs: the project's own price, else the price table that is shipped, else unknown.
import Big from 'big.js'
import { calcPrice } from '@pydantic/genai-prices'

/** USD per million tokens, exact decimal text. */
export interface OwnPrice {
  inputUsdPerMillion: string
  outputUsdPerMillion: string
}

/** Exact: the sum of two products of integers and decimals. */
export function ownCost(price: OwnPrice, promptTokens: number, completionTokens: number): string {
  const micro = Big(price.inputUsdPerMillion)
    .times(promptTokens)
    .plus(Big(price.outputUsdPerMillion).times(completionTokens))
  return micro.div(1_000_000).toFixed()
}

/**
 * Price table: @pydantic/genai-prices, as installed; nothing is fetched at run time. Both token counts must be known:
 * half a price would look like a whole one.
 */
export function priceTokens(
  own: ReadonlyMap<string, OwnPrice> | undefined,
  model: string,
  promptTokens: number | null,
  completionTokens: number | null,
  atMs: number,
): string | null {
  if (promptTokens === null || completionTokens === null) return null
  const price = own?.get(model)
  if (price) return ownCost(price, promptTokens, completionTokens)
  const known = tablePrice(model, atMs)
  if (known === null) return null
  if (promptTokens <= known.upToPromptTokens) return ownCost(known, promptTokens, completionTokens)
  const found = lookUp(model, promptTokens, completionTokens, atMs)
  // The table computes in binary floating point; 12 digits hold every price per token exactly.
  return found && Big(found.total_price.toPrecision(12)).toFixed()
}

/** A price of the table as long as a prompt stays in its first tier. */
interface TablePrice extends OwnPrice {
  upToPromptTokens: number
}

/** What people are shown of the table: the price of a model's first tier; null where it has no plain one. */
export function plainTablePrice(model: string, atMs: number): OwnPrice | null {
  const price = tablePrice(model, atMs)
  return price && price.upToPromptTokens >= 0 ? price : null
}

/** Who the table says offers a model of this name. */
export const tableProvider = (model: string, atMs: number): string | null =>
  lookUp(model, 1, 1, atMs)?.provider.name ?? null

/** Finding a model in the table takes some 45 us, so prices are kept per model and half hour: some change at 16:30. */
const tablePrices = new Map<string, TablePrice | null>()
const MAX_KEPT = 10_000
const KEPT_MS = 1_800_000

function tablePrice(model: string, atMs: number): TablePrice | null {
  const key = `${Math.floor(atMs / KEPT_MS)} ${model}`
  let price = tablePrices.get(key)
  if (price === undefined) {
    price = readTable(model, atMs)
    if (tablePrices.size >= MAX_KEPT) tablePrices.clear()
    tablePrices.set(key, price)
  }
  return price
}

function readTable(model: string, atMs: number): TablePrice | null {
  const found = lookUp(model, 1, 1, atMs)
  if (!found) return null
  const { input_mtok: input, output_mtok: output } = found.model_price
  // Where the table has no plain price for both, every call is computed by it.
  if (input === undefined || output === undefined) {
    return { inputUsdPerMillion: '0', outputUsdPerMillion: '0', upToPromptTokens: -1 }
  }
  const base = (price: typeof input) => String(typeof price === 'number' ? price : price.base)
  const starts = [input, output].flatMap((price) =>
    typeof price === 'number' ? [] : price.tiers.map((tier) => tier.start),
  )
  return {
    inputUsdPerMillion: base(input),
    outputUsdPerMillion: base(output),
    upToPromptTokens: Math.min(Infinity, ...starts),
  }
}

/**
 * What is saved where so many tokens of a prompt are read from the provider's cache, by the price table: USD, or null where
 * it has no such price.
 */
export function cacheSaving(model: string, promptTokens: number, atMs: number): number | null {
  const plain = lookUp(model, promptTokens, 0, atMs)
  if (plain?.model_price.cache_read_mtok === undefined) return null
  const cached = lookUp(model, promptTokens, 0, atMs, promptTokens)
  return cached && Math.max(0, plain.total_price - cached.total_price)
}

/** Routers name models "openai/gpt-4o": without its vendor such a name is tried once more. */
function lookUp(model: string, promptTokens: number, completionTokens: number, atMs: number, cachedTokens = 0) {
  const usage = {
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    ...(cachedTokens > 0 && { cache_read_tokens: cachedTokens }),
  }
  const timestamp = new Date(atMs)
  return (
    calcPrice(usage, model, { timestamp }) ?? calcPrice(usage, model.slice(model.lastIndexOf('/') + 1), { timestamp })
  )
}
