// Owns prices as the server applies them to history: read again while one of them goes on. Admins only.
import { mutate, query, sentenceOf } from '../client.ts'
import { applyPricesMutation, repricingsQuery, type RepricingRow } from '../queries-prices.ts'

const readAgainMs = 1500

export class Repricings {
  /** Newest first, of all projects; null until they were read. */
  list = $state.raw<RepricingRow[] | null>(null)
  problem = $state('')
  /** Whose end was not seen yet. */
  private open = new Set<string>()
  private reads = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private isStopped = false

  constructor(private readonly onFinished: (repricing: RepricingRow) => void) {}

  async read() {
    const turn = ++this.reads
    try {
      const { repricings } = await query(repricingsQuery, {})
      if (turn !== this.reads) return
      this.list = repricings
      this.problem = ''
      for (const each of repricings) {
        if (each.finishedAt === null) this.open.add(each.id)
        else if (this.open.delete(each.id)) this.onFinished(each)
      }
    } catch (error) {
      if (turn !== this.reads) return
      this.problem = sentenceOf(error)
    }
    const goesOn = this.list?.some((repricing) => repricing.finishedAt === null) ?? false
    clearTimeout(this.timer)
    if (goesOn && !this.isStopped) this.timer = setTimeout(() => void this.read(), readAgainMs)
  }

  /** Asks for sessions first seen in the last so many days, or all of them, to be priced anew. */
  async start(project: string, days: number | null) {
    const { applyPricesToHistory } = await mutate(applyPricesMutation, { project, days })
    this.open.add(applyPricesToHistory.id)
    await this.read()
  }

  stop() {
    this.isStopped = true
    clearTimeout(this.timer)
  }
}
