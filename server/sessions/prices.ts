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
  const flat = flatPrice(model, atMs)
  if (flat === null) return null
  if (flat !== 'tiered') return ownCost(flat, promptTokens, completionTokens)
  const found = lookUp(model, promptTokens, completionTokens, atMs)
  // The table computes in binary floating point; 12 digits hold every price per token exactly.
  return found && Big(found.total_price.toPrecision(12)).toFixed()
}

/** Finding a model in the table takes some 45 us, so plain prices are kept per model and hour (some change by the hour). */
const known = new Map<string, OwnPrice | 'tiered' | null>()
const MAX_KNOWN = 10_000
const HOUR_MS = 3_600_000

function flatPrice(model: string, atMs: number): OwnPrice | 'tiered' | null {
  const key = `${Math.floor(atMs / HOUR_MS)} ${model}`
  let price = known.get(key)
  if (price === undefined) {
    const found = lookUp(model, 1, 1, atMs)
    const input = found?.model_price.input_mtok
    const output = found?.model_price.output_mtok
    if (!found) price = null
    else if (typeof input !== 'number' || typeof output !== 'number') price = 'tiered'
    else price = { inputUsdPerMillion: String(input), outputUsdPerMillion: String(output) }
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(key, price)
  }
  return price
}

/** Routers name models "openai/gpt-4o": without its vendor such a name is tried once more. */
function lookUp(model: string, promptTokens: number, completionTokens: number, atMs: number) {
  const usage = { input_tokens: promptTokens, output_tokens: completionTokens }
  const timestamp = new Date(atMs)
  return (
    calcPrice(usage, model, { timestamp }) ?? calcPrice(usage, model.slice(model.lastIndexOf('/') + 1), { timestamp })
  )
}
