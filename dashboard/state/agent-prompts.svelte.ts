// Owns the prompt versions of one agent: the list, the active one and the one that is open, live and in their places.
import { query, sentenceOf } from '../client.ts'
import {
  promptsByIdQuery,
  promptVersionChangedSubscription,
  promptVersionsQuery,
  type PromptRow,
  type PromptWhole,
} from '../queries-prompts.ts'
import { plural } from '../rules/format.ts'
import { announcer } from './announcer.svelte.ts'
import { LiveReading } from './live-reading.ts'

const pageSize = 100
const mostPages = 10

export class AgentPrompts {
  /** Newest first; null until they were read. */
  versions = $state.raw<PromptRow[] | null>(null)
  /** What came since and waits to be shown. */
  fresh = $state.raw<PromptRow[]>([])
  active = $state.raw<PromptWhole | null>(null)
  /** The one that is open; what was open before stays until the next is there. */
  open = $state.raw<PromptWhole | null>(null)
  /** Which of this agent's projects are told apart, and all there are. */
  ownProjects = $state.raw<string[]>([])
  projects = $state.raw<string[]>([])
  hasOlder = $state(false)
  problem = $state('')
  isLoading = $state(true)
  readonly project = $derived.by(() => {
    const of = this.ownProjects.length > 0 ? this.ownProjects : this.projects
    return this.wantedProject ?? (of.includes('default') ? 'default' : (of[0] ?? 'default'))
  })
  private wantedProject = $state<string | null>(null)
  private wantedVersion: number | null = null
  private turn = 0
  private readonly reading: LiveReading<unknown>

  constructor(
    readonly agent: string,
    project: string | null,
    version: number | null,
  ) {
    this.wantedProject = project
    this.wantedVersion = version
    this.reading = new LiveReading(
      promptVersionChangedSubscription,
      () => ({ filter: { agents: [agent] } }),
      () => this.read(),
    ) as LiveReading<unknown>
  }

  stop() {
    this.turn += 1
    this.reading.stop()
  }

  /** Which one is open; it is read if it is another. */
  turnTo(version: number | null) {
    if (version === this.wantedVersion) return
    this.wantedVersion = version
    this.reveal()
    if (version === null) return
    this.isLoading = true
    void this.reading.readNow()
  }

  readNow() {
    return this.reading.readNow()
  }

  /** Shows what waits. */
  reveal() {
    if (this.fresh.length === 0) return
    this.versions = [...this.fresh, ...(this.versions ?? [])]
    this.fresh = []
  }

  /** After a decision: as the server answered it, and then all of them as they stand. */
  decided(version: PromptWhole) {
    this.take([version])
    void this.reading.readNow()
  }

  private async read(): Promise<void> {
    const turn = (this.turn += 1)
    const { wantedVersion } = this
    try {
      const rows = await this.readRows()
      if (turn !== this.turn) return
      this.ownProjects = [...new Set(rows.map(({ project }) => project))].sort()
      const own = rows.filter(({ project }) => project === this.project)
      const active = own.find(({ state }) => state === 'ACTIVE')
      const wanted = own.find(({ version }) => version === this.wantedVersion)
      const ids = [...new Set([active?.id, wanted?.id])].filter((id) => id !== undefined)
      const wholes = ids.length === 0 ? [] : await this.readWholes(ids)
      if (turn !== this.turn) return
      this.takeRows(own)
      this.active = wholes.find(({ id, state }) => id === active?.id && state === 'ACTIVE') ?? null
      this.open = wholes.find(({ id }) => id === wanted?.id) ?? (wanted ? this.open : null)
      this.problem = ''
    } catch (error) {
      if (turn === this.turn) this.problem = sentenceOf(error)
    } finally {
      if (turn === this.turn && wantedVersion === this.wantedVersion) this.isLoading = false
    }
  }

  /** One as it stands now, for who was told that it is another by now. */
  async readOne(id: string): Promise<PromptWhole | null> {
    const [whole] = await this.readWholes([id])
    return whole ?? null
  }

  private async readRows(): Promise<PromptRow[]> {
    const rows: PromptRow[] = []
    let after: string | null = null
    for (let page = 0; page < mostPages; page++) {
      const read: {
        promptVersions: { nodes: PromptRow[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }
        projects: { name: string }[]
      } = await query(promptVersionsQuery, { agent: this.agent, first: pageSize, after })
      rows.push(...read.promptVersions.nodes)
      this.projects = read.projects.map(({ name }) => name)
      after = read.promptVersions.pageInfo.endCursor
      this.hasOlder = read.promptVersions.pageInfo.hasNextPage
      if (!this.hasOlder) break
    }
    return rows.sort((one, other) => other.version - one.version)
  }

  private async readWholes(ids: string[]): Promise<PromptWhole[]> {
    const { nodes } = await query(promptsByIdQuery, { ids })
    return nodes.flatMap((node) => (node?.__typename === 'PromptVersion' ? [node] : []))
  }

  private takeRows(read: PromptRow[]) {
    const { versions } = this
    if (versions === null || versions.length === 0) {
      this.versions = read
      return
    }
    const byId = new Map(read.map((row) => [row.id, row]))
    const shown = new Set(versions.map(({ id }) => id))
    this.versions = versions.flatMap((row) => byId.get(row.id) ?? [])
    const before = this.fresh.length
    this.fresh = read.filter(({ id }) => !shown.has(id))
    // What a person made or opened is not news.
    if (this.fresh.some(({ version }) => version === this.wantedVersion)) this.reveal()
    else if (this.fresh.length > before) announcer.say(`${plural(this.fresh.length, 'new version')} of ${this.agent}`)
  }

  private take(wholes: PromptWhole[]) {
    for (const whole of wholes) {
      this.versions = this.versions?.map((row) => (row.id === whole.id ? whole : row)) ?? null
      if (this.open?.id === whole.id) this.open = whole
    }
  }
}
