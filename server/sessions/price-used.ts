// Which price a stored cost was computed with: not stored beside it, but found again where it still gives the same sum.
import Big from 'big.js'
import type { ModelPriceRow } from './own-prices.ts'
import { ownCost, plainTablePrice, tableProvider, type OwnPrice } from './prices.ts'

export interface PriceUsed extends OwnPrice {
  isOwn: boolean
  /** of the price table's model; null for a price of the project's own */
  provider: string | null
  /** since when the project has it, or the moment for which the table was asked */
  at: Date
}

/**
 * @param own the project's own price of the model as it is now
 * @param at when the call was priced for
 * @returns null where neither price gives this cost: it was changed since, or has tiers
 */
export function priceUsed(
  own: ModelPriceRow | undefined,
  call: { model: string; promptTokens: string; completionTokens: string; costUsd: string },
  at: Date,
): PriceUsed | null {
  const gives = (price: OwnPrice) =>
    Big(ownCost(price, Number(call.promptTokens), Number(call.completionTokens))).eq(call.costUsd)
  if (own && gives(own)) return { ...pricesOf(own), isOwn: true, provider: null, at: own.updatedAt }
  const table = plainTablePrice(call.model, at.getTime())
  if (!table || !gives(table)) return null
  return { ...pricesOf(table), isOwn: false, provider: tableProvider(call.model, at.getTime()), at }
}

const pricesOf = ({ inputUsdPerMillion, outputUsdPerMillion }: OwnPrice): OwnPrice => ({
  inputUsdPerMillion,
  outputUsdPerMillion,
})
