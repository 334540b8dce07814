// The prices that a project set for itself, kept in memory and read anew when they change.
import type { Sql } from '../database/connect.ts'
import { priceTokens, type OwnPrice } from './prices.ts'
import type { Price } from '../ingest/parsed.ts'

export interface ModelPriceRow extends OwnPrice {
  projectId: number
  model: string
  updatedAt: Date
}

export class OwnPrices {
  private byProject = new Map<number, Map<string, OwnPrice>>()
  private rows: ModelPriceRow[] = []
  private loads = 0
  private newestLoad = 0

  constructor(
    private readonly sql: Sql,
    private readonly onChanged: () => void,
  ) {}

  async load(): Promise<void> {
    const turn = ++this.loads
    const rows = (
      await this
        .sql`select project_id, model, input_usd_per_million, output_usd_per_million, updated_at from model_prices order by model`
    ).map((row) => ({
      projectId: row.project_id,
      model: row.model,
      inputUsdPerMillion: row.input_usd_per_million,
      outputUsdPerMillion: row.output_usd_per_million,
      updatedAt: row.updated_at,
    }))
    if (turn < this.newestLoad) return
    this.newestLoad = turn
    this.rows = rows
    const byProject = new Map<number, Map<string, OwnPrice>>()
    for (const row of this.rows) {
      if (!byProject.has(row.projectId)) byProject.set(row.projectId, new Map())
      byProject.get(row.projectId)!.set(row.model, row)
    }
    this.byProject = byProject
  }

  list(projectIds: number[]): ModelPriceRow[] {
    return this.rows.filter((row) => projectIds.includes(row.projectId))
  }

  priceFor(projectId: number): Price {
    const own = this.byProject.get(projectId)
    return (model, promptTokens, completionTokens, atMs) =>
      priceTokens(own, model, promptTokens, completionTokens, atMs)
  }

  /** Whether the project set a price of its own. */
  hasOwn(projectId: number, model: string): boolean {
    return this.byProject.get(projectId)?.has(model) ?? false
  }

  /** Whether a call of this model would be priced now. */
  hasPrice(projectId: number, model: string): boolean {
    return this.priceFor(projectId)(model, 1, 1, Date.now()) !== null
  }

  async set(projectId: number, model: string, price: OwnPrice): Promise<ModelPriceRow> {
    await this.sql`
      insert into model_prices (project_id, model, input_usd_per_million, output_usd_per_million)
      values (${projectId}, ${model}, ${price.inputUsdPerMillion}, ${price.outputUsdPerMillion})
      on conflict (project_id, model) do update set
        input_usd_per_million = excluded.input_usd_per_million,
        output_usd_per_million = excluded.output_usd_per_million,
        updated_at = now()`
    await this.load()
    this.onChanged()
    return this.rows.find((row) => row.projectId === projectId && row.model === model)!
  }

  async remove(projectId: number, model: string): Promise<boolean> {
    const gone = await this
      .sql`delete from model_prices where project_id = ${projectId} and model = ${model} returning 1`
    await this.load()
    this.onChanged()
    return gone.length > 0
  }
}
