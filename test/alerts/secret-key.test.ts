// The key that channels are sealed with: given, or made once in the data folder; and the settings of alerts.
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSeal, SealError } from '../../server/alerts/sealed.ts'
import { ConfigError, readConfig } from '../../server/config.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { startProcess } from '../support/process.ts'
import { startServer } from '../support/server.ts'

let folder: string
let database: TestDatabase
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runwatch-test-'))
  database = await newDatabase()
})
afterAll(async () => {
  await database.drop()
  await rm(folder, { recursive: true })
})

test('the key is made at the first start, for this user alone, and stays', async () => {
  const dataDir = join(folder, 'fresh', 'data')
  const first = await openSeal(null, dataDir)
  const file = join(dataDir, 'secret-key')
  const key = await readFile(file, 'utf8')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(Buffer.from(key.trim(), 'base64url')).toHaveLength(32)
  const second = await openSeal(null, dataDir)
  expect(await readFile(file, 'utf8')).toBe(key)
  expect(await readdir(dataDir)).toEqual(['secret-key'])
  expect(second.open(first.seal('an address', 'a'), 'a')).toBe('an address')
})

test('many that start at once have one key, and nothing else is left behind', async () => {
  const dataDir = join(folder, 'at-once')
  const seals = await Promise.all(Array.from({ length: 20 }, () => openSeal(null, dataDir)))
  const sealed = seals.map((seal) => seal.seal('an address', 'a'))
  for (const seal of seals) for (const one of sealed) expect(seal.open(one, 'a')).toBe('an address')
  expect(await readdir(dataDir)).toEqual(['secret-key'])
})

test('two servers that start at once on one folder can read each other', async () => {
  // Who may sign in is there already.
  await (await startServer({ database })).stop()
  const env = { SECRET_KEY: '', DATA_DIR: join(folder, 'two') }
  const servers = await Promise.all([startServer({ database, env }), startServer({ database, env })])
  const [one, two] = await Promise.all(servers.map(async (server) => ({ server, cookie: await server.signIn() })))
  const made = await one!.server.query(
    `mutation { createChannel(kind: SLACK, input: { name: "Shared", url: "http://127.0.0.1:1/" }) { channel { id } } }`,
    {},
    { cookie: one!.cookie },
  )
  const { testChannel } = await two!.server.query(
    `mutation ($id: ID!) { testChannel(id: $id) { problem } }`,
    { id: made.createChannel.channel.id },
    { cookie: two!.cookie },
  )
  expect(testChannel.problem).toMatch(/private/)
  await Promise.all(servers.map((server) => server.stop()))
})

test('with SECRET_KEY no file is made', async () => {
  const dataDir = join(folder, 'given')
  const seal = await openSeal('sixteen characters and more', dataDir)
  expect((await openSeal('sixteen characters and more', folder)).open(seal.seal('x', 'a'), 'a')).toBe('x')
  await expect(readdir(dataDir)).rejects.toThrow('ENOENT')
})

test('an empty key file is told of, and not taken for a key', async () => {
  const dataDir = join(folder, 'blank')
  await mkdir(dataDir)
  await writeFile(join(dataDir, 'secret-key'), '\n')
  const error = await openSeal(null, dataDir).catch((thrown: unknown) => thrown as Error)
  expect(error).toBeInstanceOf(SealError)
  expect((error as Error).message).toContain(join(dataDir, 'secret-key'))
  expect((error as Error).message).not.toMatch(/argument|undefined|null/)
  expect(await readdir(dataDir)).toEqual(['secret-key'])
})

test('a key file that was cut short is not taken for a key', async () => {
  const dataDir = join(folder, 'cut')
  await mkdir(dataDir)
  await writeFile(join(dataDir, 'secret-key'), 'Zk')
  await expect(openSeal(null, dataDir)).rejects.toThrow(SealError)
})

test('where no key can be kept the start says so in a sentence', async () => {
  const file = join(folder, 'a file')
  await writeFile(file, '')
  await chmod(file, 0o400)
  const server = await startProcess({ DATABASE_URL: database.url, DATA_DIR: join(file, 'data') }, { isReady: false })
  expect(await server.exited).toBe(1)
  const said = server.output()
  expect(said).toContain('SECRET_KEY is not set, and a key cannot be kept in')
  expect(said).toContain('Set SECRET_KEY to 32 random characters or more.')
  expect(said).not.toMatch(/^\s+at /m)
  expect(said).not.toMatch(/^Error: /m)
})

const FROM = { SMTP_FROM: 'Runwatch <runwatch@example.com>' }
const SMTP = { SMTP_URL: 'smtp://mail.example.com' }
const URL_SENTENCE = 'SMTP_URL must be an address like smtp://user:password@mail.example.com:587'
const FROM_SENTENCE = 'SMTP_FROM must be an e-mail address like Runwatch <runwatch@example.com>'
const PAIR = 'SMTP_URL and SMTP_FROM belong together: set both or neither'
const HOSTS = /^ALLOWED_PRIVATE_HOSTS must be names or addresses of hosts/
const WRONG: [env: Record<string, string>, sentence: string | RegExp][] = [
  [{ SECRET_KEY: 'short' }, /^SECRET_KEY must have at least 16 characters/],
  [{ SECRET_KEY: `${' '.repeat(20)}short` }, /^SECRET_KEY must have at least 16 characters/],
  [{ SMTP_URL: 'mail.example.com:25', ...FROM }, URL_SENTENCE],
  [{ SMTP_URL: 'http://mail.example.com', ...FROM }, URL_SENTENCE],
  [{ SMTP_URL: 'smtp://mail.example.com:port', ...FROM }, URL_SENTENCE],
  [{ SMTP_URL: 'smtp://user:pass@', ...FROM }, URL_SENTENCE],
  [{ SMTP_URL: 'smtp://', ...FROM }, URL_SENTENCE],
  [{ SMTP_URL: 'smtp:///mail.example.com', ...FROM }, URL_SENTENCE],
  [{ ...SMTP, SMTP_FROM: 'runwatch' }, FROM_SENTENCE],
  [{ ...SMTP, SMTP_FROM: 'a@b\r\nBcc: c@d' }, FROM_SENTENCE],
  [{ ...SMTP, SMTP_FROM: 'Runwatch <@>' }, FROM_SENTENCE],
  [FROM, PAIR],
  [SMTP, PAIR],
  ...['http://a', '10.0.0.0/8', 'a:80', 'a,,b', 'a b', 'user@a', '[::1', 'a/b', '*', '*.internal'].map(
    (hosts): [Record<string, string>, RegExp] => [{ ALLOWED_PRIVATE_HOSTS: hosts }, HOSTS],
  ),
]

test.each(WRONG)('%j is answered with a sentence that repeats no password', (env, sentence) => {
  const read = () => readConfig({ ...env, SMTP_URL: env.SMTP_URL ?? '' })
  expect(read).toThrow(ConfigError)
  expect(read).toThrow(sentence)
  expect(read).not.toThrow(/user:pass@/)
})

test('settings of alerts are read as people write them', () => {
  const { smtp, secretKey, allowedPrivateHosts } = readConfig({
    SMTP_URL: ' smtps://user:p%40ss@mail.example.com:465 ',
    SMTP_FROM: 'runwatch@example.com',
    SECRET_KEY: '  sixteen letters!  ',
    ALLOWED_PRIVATE_HOSTS: ' 127.1, Chat.Internal ,::1,[fd00::1],192.168.0.7 ',
  })
  expect(smtp).toEqual({ url: 'smtps://user:p%40ss@mail.example.com:465', from: 'runwatch@example.com' })
  expect(secretKey).toBe('sixteen letters!')
  expect([...allowedPrivateHosts]).toEqual(['127.0.0.1', 'chat.internal', '[::1]', '[fd00::1]', '192.168.0.7'])
  expect(readConfig({})).toMatchObject({ smtp: null, secretKey: null, allowedPrivateHosts: new Set() })
})
