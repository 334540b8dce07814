// What every resolver is given: who asks, which projects they may see, and the services.
import DataLoader from 'dataloader'
import type { Access, Actor } from '../access/actor.ts'
import {
  readBefore,
  readDurations,
  readModels,
  readParts,
  type AgentDurations,
  type AgentSums,
  type ModelSums,
} from '../agents/read.ts'
import type { AlertRules } from '../alerts/alert-rules.ts'
import type { NewDelivery } from '../alerts/alert.ts'
import type { Channels } from '../alerts/channels.ts'
import type { Courier } from '../alerts/courier.ts'
import { readAttempts, readDeliveriesOfSessions, type AttemptRow, type DeliveryRow } from '../alerts/read.ts'
import type { Sender } from '../alerts/send.ts'
import type { Projects } from '../access/projects.ts'
import type { Sql } from '../database/connect.ts'
import type { Classifier } from '../failures/classifier.ts'
import type { PatternNotice } from '../failures/failure.ts'
import type { FixedThresholdSettings } from '../failures/fixed-thresholds.ts'
import { readPatternsById, readRunCounts, readSparklines, type PatternRow } from '../failures/patterns.ts'
import { readFailures, readLatest, readPrimary, type FailureRow } from '../failures/read.ts'
import type { SendAgain } from '../ingest/send-again.ts'
import { readFindings, type FindingRow } from '../findings/read.ts'
import type { AgentFeed } from '../live/agent-feed.ts'
import type { IdFeed } from '../live/id-feed.ts'
import type { LogFeed } from '../live/log-feed.ts'
import type { PatternFeed } from '../live/pattern-feed.ts'
import type { SessionFeed } from '../live/session-feed.ts'
import type { Budget } from '../prompts/budget.ts'
import type { CandidateSettings } from '../prompts/candidate-settings.ts'
import type { Provider } from '../prompts/provider.ts'
import {
  readDecisions,
  readPromptsById,
  readProposals,
  type DecisionRow,
  type PromptRow,
  type ProposalRow,
} from '../prompts/read.ts'
import type { PromptNotice } from '../prompts/store.ts'
import type { OwnPrices } from '../sessions/own-prices.ts'
import type { QuietTimes } from '../sessions/quiet.ts'
import { readEventTexts, type EventRef, type EventTexts } from '../sessions/read-events.ts'
import { readSessionsById, type SessionRow } from '../sessions/read.ts'
import type { Repricing } from '../sessions/repricing.ts'
import type { Retention } from '../sessions/retention.ts'

export interface Services {
  sql: Sql
  /** for what people change */
  jobs: Sql
  access: Access
  feed: SessionFeed
  quiet: QuietTimes
  prices: OwnPrices
  projects: Projects
  retention: Retention
  repricing: Repricing
  logFeed: LogFeed
  patternFeed: PatternFeed
  agentFeed: AgentFeed
  classifier: Classifier
  fixedThresholds: FixedThresholdSettings
  /** tells everyone who looks at patterns */
  patternChanged(notice: PatternNotice): void
  alertRules: AlertRules
  channels: Channels
  sender: Sender
  deliveryFeed: IdFeed<DeliveryRow>
  promptFeed: IdFeed<PromptRow>
  /** some were made, edited or decided about */
  promptsChanged(notices: PromptNotice[]): Promise<void>
  candidateSettings: CandidateSettings
  /** null where no model is configured */
  provider: Provider | null
  budget: Budget | null
  courier: Courier
  /** somebody queued these */
  deliveriesQueued(deliveries: NewDelivery[]): void
  sendAgain: SendAgain
  /** where people reach this server, for links */
  readonly baseUrl: string
}

export interface Context extends Services {
  actor: Actor
  /** The projects whose rows this actor may see: a key's own, all for people. */
  readonly projectIds: number[]
  readonly projectNames: ReadonlyMap<number, string>
  sessions: DataLoader<string, SessionRow | null>
  texts: DataLoader<EventRef, EventTexts | null, string>
  failures: DataLoader<string, FailureRow[]>
  primaryFailures: DataLoader<string, FailureRow | null>
  /** counted over the last 7 days */
  patterns: DataLoader<string, PatternRow | null>
  latestFailures: DataLoader<string, FailureRow | null>
  runCounts: DataLoader<PatternRow, number, string>
  sparklines: DataLoader<PatternRow, number[], string>
  agentDurations: DataLoader<AgentSums, AgentDurations | null>
  agentsBefore: DataLoader<AgentSums, AgentSums | null>
  agentParts: DataLoader<AgentSums, AgentSums[]>
  agentModels: DataLoader<AgentSums, ModelSums[]>
  /** by session */
  deliveries: DataLoader<string, DeliveryRow[]>
  /** by delivery */
  attempts: DataLoader<string, AttemptRow[]>
  /** by session */
  findings: DataLoader<string, FindingRow[]>
  prompts: DataLoader<string, PromptRow | null>
  proposals: DataLoader<string, ProposalRow[]>
  decisions: DataLoader<string, DecisionRow[]>
}

const WEEK_MS = 7 * 86_400_000

/** By what name something is said to have been done. */
export const whoAsks = ({ actor }: Context) => (actor.kind === 'PERSON' ? actor.person.email : actor.key.name)

export const isAdmin = ({ actor }: Context) => actor.kind === 'PERSON' && actor.person.role === 'ADMIN'

export function makeContext(services: Services, actor: Actor): Context {
  const { keys } = services.access
  const projectIds = () => (actor.kind === 'KEY' ? [actor.key.projectId] : [...keys.projects.keys()])
  return {
    ...services,
    // Known when the server listens, and so not yet when the services are made.
    get baseUrl() {
      return services.baseUrl
    },
    actor,
    // Asked each time: a subscription lives long, and projects are made meanwhile.
    get projectIds() {
      return projectIds()
    },
    get projectNames() {
      return keys.projects
    },
    sessions: new DataLoader(
      async (ids) => {
        const rows = await readSessionsById(services.sql, projectIds(), ids)
        return ids.map((id) => rows.find((row) => row.id === id) ?? null)
      },
      // A subscription lives long: what it loads must not stay.
      { cache: false },
    ),
    texts: new DataLoader((refs) => readEventTexts(services.sql, refs), {
      cache: false,
      cacheKeyFn: (ref) => `${ref.sessionId}/${ref.eventKey}`,
    }),
    failures: new DataLoader((ids) => readFailures(services.sql, ids), { cache: false }),
    primaryFailures: new DataLoader((ids) => readPrimary(services.sql, ids), { cache: false }),
    patterns: new DataLoader(
      async (ids) => {
        const rows = await readPatternsById(services.sql, ids, new Date(Date.now() - WEEK_MS))
        return ids.map((id) => rows.find((row) => row.id === id && projectIds().includes(row.projectId)) ?? null)
      },
      { cache: false },
    ),
    latestFailures: new DataLoader((ids) => readLatest(services.sql, ids), { cache: false }),
    // A batch is of one list, and so of one range.
    runCounts: new DataLoader((patterns) => readRunCounts(services.sql, patterns, patterns[0]!.since), {
      cache: false,
    }),
    sparklines: new DataLoader(
      async (patterns) => {
        const lines = await readSparklines(
          services.sql,
          patterns.map(({ id }) => id),
          patterns[0]!.since,
        )
        return patterns.map(({ id }) => lines.get(id)!)
      },
      { cache: false },
    ),
    // Kept within a batch alone, as the two percentiles are asked for by themselves.
    agentDurations: new DataLoader((sums) => readDurations(services.sql, sums), { cache: false }),
    agentsBefore: new DataLoader((agents) => readBefore(services.sql, agents), { cache: false }),
    agentParts: new DataLoader((agents) => readParts(services.sql, agents), { cache: false }),
    agentModels: new DataLoader((agents) => readModels(services.sql, agents), { cache: false }),
    deliveries: new DataLoader((ids) => readDeliveriesOfSessions(services.sql, ids), { cache: false }),
    attempts: new DataLoader((ids) => readAttempts(services.sql, ids), { cache: false }),
    findings: new DataLoader((ids) => readFindings(services.sql, ids), { cache: false }),
    prompts: new DataLoader(
      async (ids) => {
        const rows = await readPromptsById(services.sql, ids)
        return ids.map((id) => rows.find((row) => row.id === id && projectIds().includes(row.projectId)) ?? null)
      },
      { cache: false },
    ),
    proposals: new DataLoader((ids) => readProposals(services.sql, ids), { cache: false }),
    decisions: new DataLoader((ids) => readDecisions(services.sql, ids), { cache: false }),
  }
}
