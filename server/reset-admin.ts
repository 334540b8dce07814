// `npm run reset-admin -- someone@example.com`: sets a new password for an admin, or makes one, and prints it.
import { randomBytes } from 'node:crypto'
import { isEmail, People } from './access/people.ts'
import { readConfig } from './config.ts'
import { connectDatabase } from './database/connect.ts'
import { EmbeddedPostgresError, startEmbeddedPostgres } from './database/embedded.ts'
import { migrate } from './database/migrate.ts'

const email = process.argv[2]?.trim() ?? ''
if (!isEmail(email)) {
  process.stderr.write('Say whose password to set: npm run reset-admin -- someone@example.com\n')
  process.exit(1)
}
const config = readConfig()
let embedded: Awaited<ReturnType<typeof startEmbeddedPostgres>> | null = null
try {
  embedded = config.databaseUrl ? null : await startEmbeddedPostgres({ dataDir: config.dataDir })
} catch (error) {
  if (!(error instanceof EmbeddedPostgresError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
const database = connectDatabase({ url: config.databaseUrl ?? embedded!.url, prepare: config.databasePrepare })
try {
  await migrate(database.jobs)
  const password = randomBytes(15).toString('base64url')
  await new People(database.jobs).setAdmin(email, password, { onlyIfNone: false })
  process.stdout.write(`${email} is an admin and can sign in with this password:\n  ${password}\n`)
} finally {
  await database.close()
  await embedded?.stop()
}
