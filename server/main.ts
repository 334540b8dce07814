// `npm start`: reads the settings, starts Runwatch, says where it is, and stops it when asked to.
import { ConfigError, readConfig, type Config } from './config.ts'
import { SealError } from './alerts/sealed.ts'
import { buildDashboardIfStale, DASHBOARD_FOLDER } from './dashboard-build.ts'
import { safeError } from './app.ts'
import { kindOfError } from './database/connect.ts'
import { EmbeddedPostgresError } from './database/embedded.ts'
import { MigrationError } from './database/migrate.ts'
import { makeLogger } from './log.ts'
import { startRunwatch, type Runwatch } from './runwatch.ts'

const SECOND_SIGNAL_AFTER_MS = 1_000
const PARENT_CHECK_MS = 1_000

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** npm passes a Ctrl-C on that the terminal has sent already: a second signal counts only when it comes later. */
function stopOnSignals(config: Config, stop: () => Promise<void>): void {
  let stoppedAt: number | null = null
  const ask = () => {
    if (stoppedAt !== null) {
      if (performance.now() - stoppedAt > SECOND_SIGNAL_AFTER_MS) process.exit(1)
      return
    }
    stoppedAt = performance.now()
    void stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGINT', ask)
  process.on('SIGTERM', ask)
  process.on('SIGHUP', ask)
  if (config.isStartedByNpm) {
    // Where the script's shell cannot exec, it dies of a signal to npm and leaves this process behind.
    const parent = process.ppid
    setInterval(() => {
      if (process.ppid !== parent) ask()
    }, PARENT_CHECK_MS).unref()
  }
}

function explain(error: unknown, config: Config | null): string {
  const said = [ConfigError, EmbeddedPostgresError, MigrationError, SealError]
  if (said.some((kind) => error instanceof kind)) return (error as Error).message
  const { code, message, stack } = error as { code?: string; message?: string; stack?: string }
  if (code === 'EADDRINUSE' && config) {
    return `Port ${config.port} on ${config.host} is taken by another program. Stop that one, or set PORT to another number.`
  }
  if (code === 'EACCES' && config)
    return `Port ${config.port} may not be used by this user. Set PORT to a number above 1023.`
  if (
    config?.databaseUrl &&
    (code === 'ECONNREFUSED' ||
      code === 'ENOTFOUND' ||
      code === 'CONNECT_TIMEOUT' ||
      code?.startsWith('28') ||
      code === '3D000')
  ) {
    return `The database of DATABASE_URL cannot be used: ${message}`
  }
  return stack ?? String(error)
}

let config: Config | null = null
let starting: Promise<Runwatch> | null = null
try {
  config = readConfig()
  const log = makeLogger(config.logLevel)
  stopOnSignals(config, async () => {
    say('Stopping.')
    await (await starting)?.close()
  })
  await buildDashboardIfStale(() => say('Building the dashboard ..'))
  process.on('unhandledRejection', (error) => {
    // The driver lets nobody wait for what it asks a new connection first: when that is lost, it is one of many to lose.
    if (kindOfError(error) === 'refused') throw error
    log.error({ err: safeError(error) }, 'a new connection was lost')
  })
  starting = startRunwatch(config, { log, dashboardFolder: DASHBOARD_FOLDER })
  const { publicUrl, setUpLink } = await starting
  say(`Runwatch is ready at ${publicUrl}`)
  if (setUpLink)
    say(`\nNobody can sign in yet. Open this one-time link to set your e-mail and password:\n  ${setUpLink}\n`)
} catch (error) {
  process.stderr.write(`${explain(error, config)}\n`)
  process.exit(1)
}
