// Owns the prices of one project: its own, and the models that have none. Read again after each change.
import { mutate, query, sentenceOf } from '../client.ts'
import {
  modelPricesQuery,
  removeModelPriceMutation,
  setModelPriceMutation,
  type ModelPrice,
  type UnpricedModel,
} from '../queries-prices.ts'

export class ModelPrices {
  /** Null until they were read. */
  unpriced = $state.raw<UnpricedModel[] | null>(null)
  own = $state.raw<ModelPrice[] | null>(null)
  problem = $state('')
  private reads = 0

  constructor(readonly project: string) {}

  async read() {
    const turn = ++this.reads
    try {
      const { unpricedModels, modelPrices } = await query(modelPricesQuery, { project: this.project })
      if (turn !== this.reads) return
      this.unpriced = unpricedModels
      this.own = modelPrices.filter(({ project }) => project === this.project)
      this.problem = ''
    } catch (error) {
      if (turn === this.reads) this.problem = sentenceOf(error)
    }
  }

  async set(model: string, price: { inputUsdPerMillion: string; outputUsdPerMillion: string }) {
    await mutate(setModelPriceMutation, { project: this.project, model, ...price })
    await this.read()
  }

  async remove(model: string) {
    await mutate(removeModelPriceMutation, { project: this.project, model })
    await this.read()
  }
}
