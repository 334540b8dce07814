// The active prompts, kept in memory with the answers they make: a fetch asks no database.
import { hash } from 'node:crypto'
import type { Sql } from '../database/connect.ts'
import { countFetches } from './store.ts'

export interface ActivePrompt {
  id: string
  version: number
  prompt: string
  etag: string
  /** the answer in JSON */
  json: string
}

const NONE = { version: null, prompt: '', etag: '"none"' }

export class ActivePrompts {
  private byAgent = new Map<string, ActivePrompt>()
  private fetched = new Map<string, { count: number; lastAt: Date }>()
  private loads = 0
  private newestLoad = 0

  constructor(private readonly sql: Sql) {}

  /** Reads all anew; call it at start and when another server says that one changed. */
  async load(): Promise<void> {
    const turn = ++this.loads
    const rows = await this
      .sql`select id, project_id, agent, version, prompt from prompt_versions where state = 'ACTIVE'`
    if (turn < this.newestLoad) return
    this.newestLoad = turn
    this.byAgent = new Map(
      rows.map(({ id, project_id: projectId, agent, version, prompt }) => [
        keyOf(projectId, agent),
        { id, version, prompt, etag: etagOf(version, prompt), json: jsonOf(agent, prompt, version) },
      ]),
    )
  }

  /** What a workflow is answered, and counts that it asked. Where none is active the prompt is empty: no workflow may break on it. */
  fetch(projectId: number, agent: string): Omit<ActivePrompt, 'id' | 'version'> & { version: number | null } {
    // Names of agents are kept as they came, with the space around them.
    const active = this.byAgent.get(keyOf(projectId, agent)) ?? this.byAgent.get(keyOf(projectId, agent.trim()))
    if (!active) return { ...NONE, json: jsonOf(agent, '', null) }
    const fetched = this.fetched.get(active.id)
    if (fetched) {
      fetched.count += 1
      fetched.lastAt = new Date()
    } else this.fetched.set(active.id, { count: 1, lastAt: new Date() })
    return active
  }

  /** Writes how often each was fetched. @returns their ids */
  async flushFetched(): Promise<string[]> {
    const fetched = [...this.fetched].map(([id, one]) => ({ id, ...one }))
    this.fetched.clear()
    await countFetches(this.sql, fetched).catch((error: unknown) => {
      for (const { id, count, lastAt } of fetched) {
        const since = this.fetched.get(id)
        this.fetched.set(id, { count: count + (since?.count ?? 0), lastAt: since?.lastAt ?? lastAt })
      }
      throw error
    })
    return fetched.map(({ id }) => id)
  }
}

const keyOf = (projectId: number, agent: string) => `${projectId} ${agent}`
const etagOf = (version: number, prompt: string) => `"${version}-${hash('sha256', prompt, 'hex').slice(0, 16)}"`
const jsonOf = (agent: string, prompt: string, version: number | null) =>
  JSON.stringify({ agent_name: agent, prompt, version })
