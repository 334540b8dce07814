// What comes round by itself: settings read anew, uses and fetches written down, what is too old dropped.
import type { KeyRing } from './access/keys.ts'
import type { People } from './access/people.ts'
import { pruneAlerts } from './alerts/read.ts'
import type { Database } from './database/connect.ts'
import { dropOldPartitions, ensurePartitions } from './database/partitions.ts'
import type { IngestLog } from './ingest/log.ts'
import type { ActivePrompts } from './prompts/active.ts'
import { readPromptsById } from './prompts/read.ts'
import { forgetGoneEvidence, type PromptNotice } from './prompts/store.ts'
import type { Repricing } from './sessions/repricing.ts'
import type { Retention } from './sessions/retention.ts'

/** Should a word of another server be lost, what it changed holds here from then on. */
const SETTINGS_EVERY_MS = 60_000
const LAST_USED_EVERY_MS = 30_000
const FETCHES_EVERY_MS = 5_000
/** People wait for it: what a fault or the end of another server broke off goes on soon. */
const REPRICING_EVERY_MS = 60_000
const PRUNE_LOG_EVERY_MS = 300_000
const OLD_EVERY_MS = 3_600_000

export interface HousekeepingOptions {
  database: Database
  keys: KeyRing
  people: People
  ingestLog: IngestLog
  retention: Retention
  repricing: Repricing
  activePrompts: ActivePrompts
  loadSettings(): Promise<unknown>
  promptsChanged(notices: PromptNotice[]): void
  onError(error: unknown, what: string): void
}

/** @returns ends it, and writes down what was counted until then */
export function startHousekeeping(options: HousekeepingOptions): () => Promise<void> {
  const { database, keys, people, ingestLog, retention, repricing, activePrompts, promptsChanged, onError } = options
  const timers: NodeJS.Timeout[] = []
  const attempt = (what: string, work: () => Promise<unknown>) =>
    work().catch((error: unknown) => onError(error, what)) as Promise<void>
  const every = (ms: number, what: string, work: () => Promise<unknown>) =>
    timers.push(setInterval(() => void attempt(what, work), ms))

  const counts: [everyMs: number, what: string, write: () => Promise<unknown>][] = [
    [LAST_USED_EVERY_MS, 'the last use of keys could not be written', () => keys.flushLastUsed()],
    [LAST_USED_EVERY_MS, 'when people were last seen could not be written', () => people.flushLastSeen()],
    [
      FETCHES_EVERY_MS,
      'fetches of prompts could not be counted',
      async () => {
        const ids = await activePrompts.flushFetched()
        if (ids.length === 0) return
        promptsChanged((await readPromptsById(database.reads, ids)).filter(({ state }) => state === 'ACTIVE'))
      },
    ],
  ]
  for (const count of counts) every(...count)
  every(SETTINGS_EVERY_MS, 'settings could not be read', () => options.loadSettings())
  every(REPRICING_EVERY_MS, 'prices could not be applied to history', () => repricing.run())
  every(PRUNE_LOG_EVERY_MS, 'old entries of the ingest log could not be dropped', () => ingestLog.prune())
  every(OLD_EVERY_MS, 'partitions could not be made', () => ensurePartitions(database.jobs))
  every(OLD_EVERY_MS, 'old sessions could not be deleted', () => retention.run())
  every(OLD_EVERY_MS, 'old alerts could not be deleted', () => pruneAlerts(database.alerts))
  every(OLD_EVERY_MS, 'texts of deleted sessions could not be forgotten', () => forgetGoneEvidence(database.jobs))
  const dropOld = () => dropOldPartitions(database.jobs)
  every(OLD_EVERY_MS, 'old partitions could not be dropped', dropOld)
  void attempt('old partitions could not be dropped', dropOld)
  void retention.run()
  void repricing.run()

  return async () => {
    for (const timer of timers) clearInterval(timer)
    for (const [, what, write] of counts) await attempt(what, write)
  }
}
