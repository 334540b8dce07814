// Who wants to know that sessions changed, within this process and, through NOTIFY, on the other servers.
import { withDeadline, type Sql } from '../database/connect.ts'

export interface SessionNotice {
  id: string
  projectId: number
}

export interface Listener {
  changed(notices: SessionNotice[]): void
  /** Notices were lost: whatever is shown must be read again. */
  resync(): void
}

const SESSION_CHANNEL = 'runwatch_sessions'
const SETTINGS_CHANNEL = 'runwatch_settings'
/** Things that are named by their ids alone: log entries, patterns of failures, deliveries, prompt versions, projects of agents. */
const ID_CHANNELS = {
  ingestLog: 'runwatch_ingest_log',
  patterns: 'runwatch_patterns',
  deliveries: 'runwatch_deliveries',
  prompts: 'runwatch_prompts',
  agents: 'runwatch_agents',
} as const
export type IdChannel = keyof typeof ID_CHANNELS
/** null where there were too many to name */
type IdListener = (ids: string[] | null) => void
/** Some 20 messages a second, whatever the load: notices wait this long for others. */
const COALESCE_MS = 50
/** NOTIFY takes 8,000 bytes; a session takes 37 and its project a few more. */
const NOTICES_PER_MESSAGE = 150
const MESSAGES_PER_TICK = 5
const RETRY_MS = 1_000
const CLOSE_WITHIN_MS = 2_000

export class Bus {
  private listeners = new Set<Listener>()
  private settingsListeners = new Set<() => void>()
  private idListeners: Record<IdChannel, Set<IdListener>> = {
    ingestLog: new Set(),
    patterns: new Set(),
    deliveries: new Set(),
    prompts: new Set(),
    agents: new Set(),
  }
  private outgoingIds = new Map<IdChannel, Set<string> | null>()
  private idTimer: NodeJS.Timeout | null = null
  private outgoing = new Map<string, number>()
  private timer: NodeJS.Timeout | null = null
  private settingsTimer: NodeJS.Timeout | null = null
  private unlisten: (() => Promise<void>)[] = []
  private readonly origin = crypto.randomUUID().slice(0, 8)
  private isClosed = false
  private hasLostNotices = false

  constructor(private readonly sql: Sql) {}

  /** Starts to hear the other servers. A connection that was lost and is back may have missed notices. */
  async connect(): Promise<void> {
    let isFirst = true
    const sessions = await this.sql.listen(
      SESSION_CHANNEL,
      (text) => this.receive(text),
      () => {
        if (!isFirst) this.resync()
        isFirst = false
      },
    )
    const settings = await this.sql.listen(
      SETTINGS_CHANNEL,
      (origin) => {
        if (origin !== this.origin) this.settingsChanged()
      },
      () => this.settingsChanged(),
    )
    const ids = await Promise.all(
      (Object.keys(ID_CHANNELS) as IdChannel[]).map((channel) => {
        let isFirst = true
        return this.sql.listen(
          ID_CHANNELS[channel],
          (text) => {
            const [origin, ...named] = text.split(' ')
            if (origin !== this.origin) this.tell(channel, named.length > 0 ? named : null)
          },
          () => {
            if (!isFirst) this.tell(channel, null)
            isFirst = false
          },
        )
      }),
    )
    this.unlisten = [sessions, settings, ...ids].map(({ unlisten }) => unlisten)
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Call after the commit: here at once, elsewhere within some 50 ms. */
  publish(notices: SessionNotice[]): void {
    this.deliver(notices)
    for (const { id, projectId } of notices) this.outgoing.set(id, projectId)
    if (!this.timer && !this.isClosed) this.timer = setTimeout(() => this.send(), COALESCE_MS)
  }

  /** Keys, prices or rights changed here: everyone who keeps some reads them anew, also on the other servers. */
  publishSettings(): void {
    this.settingsChanged()
    void this.sql.notify(SETTINGS_CHANNEL, this.origin).catch(() => {})
  }

  onSettingsChanged(listener: () => void): void {
    this.settingsListeners.add(listener)
  }

  /** These can be read: here at once, elsewhere within some 50 ms. Null where there are too many to name. */
  publishIds(channel: IdChannel, ids: string[] | null): void {
    this.tell(channel, ids)
    const waiting = this.outgoingIds.get(channel)
    if (waiting === null || ids === null) this.outgoingIds.set(channel, null)
    else this.outgoingIds.set(channel, new Set([...(waiting ?? []), ...ids]))
    if (!this.isClosed) this.idTimer ??= setTimeout(() => this.sendIds(), COALESCE_MS)
  }

  onIds(channel: IdChannel, listener: IdListener): void {
    this.idListeners[channel].add(listener)
  }

  async close(): Promise<void> {
    this.isClosed = true
    if (this.timer) clearTimeout(this.timer)
    if (this.settingsTimer) clearTimeout(this.settingsTimer)
    this.timer = null
    if (this.idTimer) clearTimeout(this.idTimer)
    this.sendIds()
    // Connections that fell silent must not hold up the end.
    await withDeadline(this.send(), CLOSE_WITHIN_MS).catch(() => {})
    await withDeadline(Promise.all(this.unlisten.map((stop) => stop())), CLOSE_WITHIN_MS).catch(() => {})
  }

  private tell(channel: IdChannel, ids: string[] | null): void {
    for (const listener of this.idListeners[channel]) listener(ids)
  }

  private sendIds(): void {
    this.idTimer = null
    for (const [channel, waiting] of this.outgoingIds) {
      const ids = waiting && waiting.size <= NOTICES_PER_MESSAGE ? [...waiting] : []
      // Others that miss this read again when their connection is back.
      void this.sql.notify(ID_CHANNELS[channel], [this.origin, ...ids].join(' ')).catch(() => {})
    }
    this.outgoingIds.clear()
  }

  private deliver(notices: SessionNotice[]): void {
    for (const listener of this.listeners) listener.changed(notices)
  }

  private resync(): void {
    for (const listener of this.listeners) listener.resync()
  }

  /** Several changes in a row, and every reconnect, mean one reading. */
  private settingsChanged(): void {
    this.settingsTimer ??= setTimeout(() => {
      this.settingsTimer = null
      for (const listener of this.settingsListeners) listener()
    }, 20)
  }

  private async send(): Promise<void> {
    this.timer = null
    const all = [...this.outgoing]
    this.outgoing.clear()
    const messages: string[] = []
    for (let i = 0; i < all.length && messages.length < MESSAGES_PER_TICK; i += NOTICES_PER_MESSAGE) {
      messages.push(
        `${this.origin} ${all
          .slice(i, i + NOTICES_PER_MESSAGE)
          .map(([id, project]) => `${project}:${id}`)
          .join(' ')}`,
      )
    }
    if (all.length > NOTICES_PER_MESSAGE * MESSAGES_PER_TICK) messages.splice(0, Infinity, `${this.origin} resync`)
    if (this.hasLostNotices) messages.splice(0, Infinity, `${this.origin} resync`)
    try {
      for (const message of messages) await this.sql.notify(SESSION_CHANNEL, message)
      this.hasLostNotices = false
    } catch {
      // The other servers did not hear of these: as soon as they can be told, they read everything again.
      this.hasLostNotices = true
      if (!this.isClosed) this.timer ??= setTimeout(() => void this.send(), RETRY_MS)
    }
  }

  private receive(text: string): void {
    const [origin, ...parts] = text.split(' ')
    if (origin === this.origin) return
    if (parts[0] === 'resync') return this.resync()
    this.deliver(
      parts.map((part) => ({
        projectId: Number(part.slice(0, part.indexOf(':'))),
        id: part.slice(part.indexOf(':') + 1),
      })),
    )
  }
}
