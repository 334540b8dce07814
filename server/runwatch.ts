// The composition root: starts every part in order and closes them in reverse. Many may run in one process.
import { hostname } from 'node:os'
import type { Access } from './access/actor.ts'
import { AccessLinks } from './access/links.ts'
import { People } from './access/people.ts'
import { Roster } from './access/roster.ts'
import { KeyRing } from './access/keys.ts'
import { Projects } from './access/projects.ts'
import { Roller } from './agents/roller.ts'
import { noticeOf, type DeliveryNotice, type NewDelivery } from './alerts/alert.ts'
import { AlertRules } from './alerts/alert-rules.ts'
import { Channels } from './alerts/channels.ts'
import { Courier } from './alerts/courier.ts'
import { FailureRates } from './alerts/rates.ts'
import { readDeliveriesById } from './alerts/read.ts'
import { openSeal } from './alerts/sealed.ts'
import { Sender } from './alerts/send.ts'
import { buildApp, safeError } from './app.ts'
import type { Config } from './config.ts'
import { loadDashboard } from './dashboard-files.ts'
import { connectDatabase } from './database/connect.ts'
import { startEmbeddedPostgres } from './database/embedded.ts'
import { migrate } from './database/migrate.ts'
import { ensurePartitions } from './database/partitions.ts'
import type { Services } from './graphql/context.ts'
import { Classifier } from './failures/classifier.ts'
import type { PatternNotice, Rule } from './failures/failure.ts'
import { FirstLook } from './failures/first-look.ts'
import { FixedThresholdSettings } from './failures/fixed-thresholds.ts'
import { Analyser } from './findings/analyser.ts'
import { startHousekeeping } from './housekeeping.ts'
import { Intake } from './ingest/intake.ts'
import { IngestLog } from './ingest/log.ts'
import { SendAgain } from './ingest/send-again.ts'
import { WriteQueue } from './ingest/write-queue.ts'
import { AgentFeed } from './live/agent-feed.ts'
import { Bus, type SessionNotice } from './live/bus.ts'
import { IdFeed } from './live/id-feed.ts'
import { LogFeed } from './live/log-feed.ts'
import { PatternFeed } from './live/pattern-feed.ts'
import { SessionFeed } from './live/session-feed.ts'
import type { Logger } from './log.ts'
import { ActivePrompts } from './prompts/active.ts'
import { Budget } from './prompts/budget.ts'
import { CandidateSettings } from './prompts/candidate-settings.ts'
import { Candidates } from './prompts/candidates.ts'
import { readPromptsById } from './prompts/read.ts'
import type { PromptNotice } from './prompts/store.ts'
import { OwnPrices } from './sessions/own-prices.ts'
import { QuietTimes } from './sessions/quiet.ts'
import { Repricing } from './sessions/repricing.ts'
import { Retention } from './sessions/retention.ts'

/** With more events or sessions waiting than this, others go first. */
const BUSY = 100

export interface Runwatch {
  /** where it listens, e.g. http://127.0.0.1:4000 */
  address: string
  /** where people reach it */
  publicUrl: string
  databaseUrl: string
  /** the one-time link that makes the first admin; null where there is one */
  setUpLink: string | null
  close(): Promise<void>
}

/** @throws ConfigError, EmbeddedPostgresError or MigrationError with a sentence; a port that is taken: EADDRINUSE */
export async function startRunwatch(
  config: Config,
  { log, dashboardFolder, rules }: { log: Logger; dashboardFolder: string; rules?: Rule[] },
): Promise<Runwatch> {
  const closers: (() => Promise<unknown>)[] = []
  const close = async () => {
    for (const step of closers.splice(0).reverse()) {
      await step().catch((error: unknown) => log.error({ err: safeError(error) }, 'a part did not close cleanly'))
    }
  }
  try {
    let databaseUrl = config.databaseUrl
    if (databaseUrl === null) {
      const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) })
      closers.push(() => postgres.stop())
      databaseUrl = postgres.url
    }
    const database = connectDatabase({ url: databaseUrl, prepare: config.databasePrepare })
    closers.push(() => database.close())
    const onError = (error: unknown, what: string) => log.error({ err: safeError(error) }, what)

    for (const name of await migrate(database.jobs)) log.info({ migration: name }, 'migration applied')
    await ensurePartitions(database.jobs)

    const bus = new Bus(database.jobs)
    const keys = new KeyRing(database.jobs, () => bus.publishSettings())
    const prices = new OwnPrices(database.jobs, () => bus.publishSettings())
    const projects = new Projects(database.jobs, () => bus.publishSettings())
    const fixedThresholds = new FixedThresholdSettings(database.jobs, () => bus.publishSettings())
    const people = new People(database.jobs)
    const candidateSettings = new CandidateSettings(database.jobs, () => bus.publishSettings())
    const activePrompts = new ActivePrompts(database.jobs)
    const cached = [keys, prices, projects, fixedThresholds, candidateSettings, activePrompts]
    const loadSettings = () => Promise.all(cached.map((one) => one.load()))
    await loadSettings()
    bus.onSettingsChanged(
      () => void loadSettings().catch((error: unknown) => onError(error, 'settings could not be read')),
    )
    await bus.connect()
    closers.push(() => bus.close())

    if (config.initApiKey) await keys.ensure(config.initApiKey)
    if (config.initAdmin) await people.setAdmin(config.initAdmin.email, config.initAdmin.password, { onlyIfNone: true })

    const feed = new SessionFeed(bus, database.reads, onError)
    const tell = (sessions: SessionNotice[], patterns: PatternNotice[]) => {
      bus.publish(sessions)
      if (patterns.length > 0) bus.publishIds('patterns', patterns)
    }
    let publicUrl = config.publicUrl ?? ''
    const seal = await openSeal(config.secretKey, config.dataDir)
    const sender = new Sender(config)
    const deliveriesChanged = (notices: DeliveryNotice[]) => bus.publishIds('deliveries', notices)
    const courier = new Courier({
      sql: database.alerts,
      channels: new Channels(database.alerts, seal),
      sender,
      baseUrl: () => publicUrl,
      onChanged: deliveriesChanged,
      onError,
    })
    closers.push(() => courier.close())
    const deliver = (deliveries: NewDelivery[]) => {
      if (deliveries.length === 0) return
      courier.due(deliveries)
      deliveriesChanged(deliveries.map(noticeOf))
    }
    const rates = new FailureRates({ sql: database.alerts, onRaised: deliver, onError })
    closers.push(() => rates.close())
    const projectIds = () => [...keys.projects.keys()]
    const promptsChanged = (notices: PromptNotice[]) =>
      bus.publishIds(
        'prompts',
        notices.map(({ id, projectId }) => `${projectId}/${id}`),
      )
    const budget = config.llm && new Budget(database.analyse, config.llm.limits)
    // Its client takes a quarter of a second to load, and most installations ask no model.
    const provider = config.llm && new (await import('./prompts/provider.ts')).Provider(config.llm.provider, budget!)
    const candidates = new Candidates({
      sql: database.analyse,
      settings: candidateSettings,
      provider,
      projectIds,
      onChanged: promptsChanged,
      onError,
    })
    closers.push(() => candidates.close())
    const quiet = new QuietTimes(database.reads)
    const roller = new Roller({ sql: database.analyse, bus, onError })
    closers.push(() => roller.close())
    const analyser = new Analyser({
      sql: database.analyse,
      prices,
      quiet,
      projectIds,
      isBusy: () => queue.depth.events > BUSY || classifier.waitingCount > BUSY,
      committedEvents: () => queue.counters.events,
      onAnalysed: () => roller.soon(),
      onFound: (changed) => bus.publish(changed),
      onError,
    })
    closers.push(() => analyser.close())
    const classifier = new Classifier({
      sql: database.classify,
      explainSql: database.jobs,
      fixed: fixedThresholds,
      onClassified: ({ sessions, patterns, deliveries }) => {
        deliver(deliveries)
        tell(sessions, patterns)
        if (patterns.length > 0) rates.soon()
        candidates.due(patterns)
        analyser.due(sessions.map(({ id }) => id))
      },
      ...(rules && { rules }),
      onError,
    })
    closers.push(() => classifier.close())
    const queue = new WriteQueue({
      sql: database.ingest,
      onCommitted: (written) => {
        bus.publish(written)
        classifier.due(written.flatMap(({ id, isDue }) => (isDue ? id : [])))
        analyser.due(written.flatMap(({ id, isDue, status }) => (isDue || status === 'RUNNING' ? [] : id)))
      },
      onError,
    })
    const ingestLog = new IngestLog({
      sql: database.log,
      server: `${hostname()}:${config.port}`,
      onWritten: (ids) => bus.publishIds('ingestLog', ids),
      onError,
    })
    closers.push(() => ingestLog.close())
    const firstLook = new FirstLook(classifier.history, fixedThresholds, rules)
    const intake = new Intake({ queue, prices, projects, firstLook })
    const retention = new Retention({ sql: database.jobs, projects, onGone: tell, onError })
    closers.push(() => retention.close())
    const onRepriced = (changed: SessionNotice[]) => {
      bus.publish(changed)
      classifier.due(changed.map(({ id }) => id))
    }
    const repricing = new Repricing({ sql: database.jobs, prices, onChanged: onRepriced, onError })
    closers.push(() => repricing.close())

    const kept = { keys, people, ingestLog, retention, repricing, activePrompts }
    closers.push(startHousekeeping({ ...kept, database, loadSettings, promptsChanged, onError }))

    const rightsListeners = new Set<() => void>()
    const access: Access = {
      keys,
      people,
      roster: new Roster(database.jobs),
      links: new AccessLinks(database.jobs),
      rightsChanged: () => bus.publishSettings(),
      onRightsChanged: (listener) => rightsListeners.add(listener),
    }
    bus.onSettingsChanged(() => {
      for (const listener of rightsListeners) listener()
    })
    const services: Services = {
      sql: database.reads,
      jobs: database.jobs,
      access,
      feed,
      prices,
      projects,
      retention,
      repricing,
      quiet,
      logFeed: new LogFeed(bus, database.reads, onError),
      agentFeed: new AgentFeed(bus),
      patternFeed: new PatternFeed(bus, database.reads, onError),
      patternChanged: (notice) => bus.publishIds('patterns', [notice]),
      classifier,
      fixedThresholds,
      alertRules: new AlertRules(database.jobs),
      channels: new Channels(database.jobs, seal),
      sender,
      courier,
      deliveryFeed: new IdFeed({
        bus,
        channel: 'deliveries',
        read: (ids) => readDeliveriesById(database.reads, ids),
        onError,
      }),
      promptFeed: new IdFeed({ bus, channel: 'prompts', read: (ids) => readPromptsById(database.reads, ids), onError }),
      promptsChanged: async (notices) => {
        // It is decided: where it cannot be read at this moment, all that is kept is read again in the next.
        await activePrompts.load().catch((error: unknown) => onError(error, 'active prompts could not be read'))
        bus.publishSettings()
        promptsChanged(notices)
      },
      candidateSettings,
      provider,
      budget,
      deliveriesQueued: deliver,
      sendAgain: new SendAgain({ sql: database.jobs, intake, log: ingestLog }),
      get baseUrl() {
        return publicUrl
      },
    }
    const dashboard = await loadDashboard(dashboardFolder)
    classifier.start()
    analyser.start()
    candidates.start()
    roller.start()
    const parts = { config, database, access, services, queue, intake, ingestLog, activePrompts, analyser, candidates }
    const app = await buildApp({ ...parts, dashboard, log })
    closers.push(() => app.close())
    const address = await app.listen()
    publicUrl ||= address
    courier.start()
    rates.start()
    const token = await people.newSetUpToken()
    return { address, publicUrl, databaseUrl, setUpLink: token && `${publicUrl}/set-up#token=${token}`, close }
  } catch (error) {
    await close()
    throw error
  }
}
