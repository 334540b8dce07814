// What each project decides about its data, kept in memory and read anew when it changes.
import type { Sql } from '../database/connect.ts'

export interface ProjectSettings {
  /** Credentials of the big providers and in headers are masked in texts before they are stored. */
  masksCredentials: boolean
  /** Events of platform A that are equal, with an equal time of their own, count once. */
  mergesEqualEvents: boolean
  /** days after which sessions are deleted; null keeps them */
  retentionDays: number | null
}

export interface Project extends ProjectSettings {
  id: number
  name: string
}

export const MAX_RETENTION_DAYS = 3_650
const DEFAULTS: ProjectSettings = { masksCredentials: true, mergesEqualEvents: false, retentionDays: null }

export class Projects {
  private byId = new Map<number, Project>()
  private loads = 0
  private newestLoad = 0

  constructor(
    private readonly sql: Sql,
    private readonly onChanged: () => void,
  ) {}

  async load(): Promise<void> {
    const turn = ++this.loads
    const rows = await this.sql`
      select id, name, mask_credentials, merge_equal_events, retention_days from projects order by name`
    if (turn < this.newestLoad) return
    this.newestLoad = turn
    this.byId = new Map(rows.map((row) => [row.id as number, projectOf(row)]))
  }

  list(): Project[] {
    return [...this.byId.values()]
  }

  settingsOf(id: number): ProjectSettings {
    return this.byId.get(id) ?? DEFAULTS
  }

  async update(id: number, settings: ProjectSettings): Promise<Project> {
    const [row] = await this.sql`
      update projects set mask_credentials = ${settings.masksCredentials}, merge_equal_events = ${settings.mergesEqualEvents},
        retention_days = ${settings.retentionDays}
      where id = ${id} returning id, name, mask_credentials, merge_equal_events, retention_days`
    await this.load()
    this.onChanged()
    return projectOf(row!)
  }
}

const projectOf = (row: Record<string, unknown>): Project => ({
  id: row.id as number,
  name: row.name as string,
  masksCredentials: row.mask_credentials as boolean,
  mergesEqualEvents: row.merge_equal_events as boolean,
  retentionDays: row.retention_days as number | null,
})
