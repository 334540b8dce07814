// Who is told that patterns change, and of what: new, seen again, decided, gone, or too many to tell.
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { execution, failedStep, untilAllClassified } from '../support/failed-runs.ts'
import { patternStand } from '../support/pattern-stand.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { socketClient, subscribe, type Subscription } from '../support/socket.ts'
import { until } from '../support/until.ts'

let server: TestServer
/** On the same database. */
let other: TestServer
let stand: ReturnType<typeof patternStand>
let admin: { cookie: string }
beforeAll(async () => {
  server = await startServer()
  other = await startServer({ database: server.database })
  admin = { cookie: await server.signIn() }
  stand = patternStand(server, admin)
})
afterAll(async () => {
  await other.stop()
  await server.stop()
})
const clients: { dispose(): void | Promise<void> }[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose()
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const CHANGED = `subscription ($range: TimeRange) { failurePatternChanged(range: $range) {
  goneId resync pattern { id agent title sessions state severity isMuted lastSeenAt share sparkline } } }`

async function follow(at: TestServer, key: string, variables: { range?: string } = {}): Promise<Subscription<any>> {
  // The other server hears of a new key a moment later.
  await until(async () => (await at.graphql('{ viewer { kind } }', {}, { 'x-api-key': key })).status === 200)
  const client = socketClient(at.url, { connectionParams: { 'x-api-key': key } })
  clients.push(client)
  return subscribe(client, CHANGED, variables)
}
/** Known to listen, and nothing of what was posted to find that out is left. */
async function listening(changes: Subscription<any>, post: () => Promise<unknown>) {
  await until(async () => {
    await post()
    return changes.next(800).catch(() => null)
  })
  await untilAllClassified(server.database.sql)
  await pause(1_000)
  changes.waiting.length = 0
}
const told = (changes: Subscription<any>, isThere: (change: any) => boolean) =>
  until<any>(async () => (await changes.next()).data.failurePatternChanged, isThere)
const idOf = async (project: Awaited<ReturnType<typeof stand.newProject>>, externalId: string, platform: string) =>
  (await project.ask(`{ session(platform: ${platform}, externalId: "${externalId}") { id } }`)).session.id as string
const remove = (id: string) => server.query(`mutation ($id: ID!) { deleteSession(id: $id) }`, { id }, admin)

test('a subscriber on each server hears of a pattern that is new, seen again, decided, reopened and gone', async () => {
  const project = await stand.newProject()
  let n = 0
  const probe = () => project.postA(failedStep(`probe-${n++}`, { agent_name: 'Probe' }))
  const all = [await follow(server, project.key), await follow(other, project.key)]
  for (const changes of all) await listening(changes, probe)
  for (const changes of all) changes.waiting.length = 0
  const eachHears = async (isThere: (pattern: any) => boolean) =>
    (
      await Promise.all(
        all.map((changes) => told(changes, ({ pattern }) => pattern?.agent === 'Told' && isThere(pattern))),
      )
    )[0]!.pattern

  await project.postA(failedStep('h-1', { agent_name: 'Told' }))
  const isNew = await eachHears(() => true)
  expect(isNew).toMatchObject({ sessions: 1, state: 'OPEN', severity: 'HIGH', share: 1 })
  await project.postA(failedStep('h-2', { agent_name: 'Told' }))
  const again = await eachHears(({ sessions }) => sessions === 2)
  expect(again.id).toBe(isNew.id)
  expect(Date.parse(again.lastSeenAt)).toBeGreaterThan(Date.parse(isNew.lastSeenAt))
  await stand.decide('resolve', isNew.id)
  await eachHears(({ state }) => state === 'RESOLVED')
  await stand.decide('mute', isNew.id, ', days: 1')
  await eachHears(({ isMuted }) => isMuted)
  await project.postA(failedStep('h-3', { agent_name: 'Told' }))
  await eachHears(({ state, sessions }) => state === 'REOPENED' && sessions === 3)
  for (const id of ['h-1', 'h-2', 'h-3']) await remove(await idOf(project, id, 'PLATFORM_A'))
  for (const changes of all) await told(changes, ({ goneId }) => goneId === isNew.id)
})

test('a pattern whose only run lost its failure, or got another name, is told to be gone', async () => {
  const project = await stand.newProject()
  let n = 0
  const changes = await follow(server, project.key)
  await listening(changes, () => project.postA(failedStep(`probe-${n++}`, { agent_name: 'Probe' })))
  const isGone = (id: string) => (change: any) => change.goneId === id || change.pattern?.id === id

  await project.postB(execution('e-1', { workflow: 'Mended', error: 'Bad gateway' }))
  const mended = (await told(changes, ({ pattern }) => pattern?.agent === 'Mended')).pattern
  await project.postB(execution('e-1', { workflow: 'Mended', durationMs: 500 }))
  const afterMending = await told(changes, isGone(mended.id))

  const named = execution('e-2', { workflow: 'Late name', error: 'Bad gateway' }).execution
  const { workflowName: _name, ...nameless } = named
  await project.postB({ execution: nameless })
  const old = (await told(changes, ({ pattern }) => pattern?.agent === 'late-name')).pattern
  await project.postB({ execution: named })
  await told(changes, ({ pattern }) => pattern?.agent === 'Late name')
  const afterNaming = await told(changes, isGone(old.id)).catch(() => 'nothing was told')
  expect([afterMending, afterNaming]).toMatchObject([
    { goneId: mended.id, pattern: null },
    { goneId: old.id, pattern: null },
  ])
})

test('of very many changed patterns a subscriber hears each, or that it must read the list again', async () => {
  const project = await stand.newProject()
  const count = 2_000
  const changes = [await follow(server, project.key), await follow(other, project.key)]
  let n = 0
  for (const one of changes)
    await listening(one, () => project.postA(failedStep(`probe-${n++}`, { agent_name: 'Probe' })))
  for (const one of changes) one.waiting.length = 0
  await project.postA(
    Array.from({ length: count }, (_, i) => failedStep(`m-${i}`, { agent_name: 'Many', tool_name: `tool-${i}` })),
  )
  const heard = changes.map(() => ({ ids: new Set<string>(), resyncs: 0 }))
  await until(
    async () => {
      for (const [i, one] of changes.entries())
        for (const { data } of one.waiting.splice(0)) {
          const { resync, pattern } = data.failurePatternChanged
          if (resync) heard[i]!.resyncs += 1
          else if (pattern.agent === 'Many') heard[i]!.ids.add(pattern.id)
        }
      await pause(20)
      return heard.every(({ ids, resyncs }) => ids.size === count || resyncs > 0)
    },
    Boolean,
    20_000,
  )
  const said = heard.map(({ ids, resyncs }) => `${ids.size} patterns and ${resyncs} times "read again"`)
  console.log(`of ${count} new patterns the own server told ${said[0]}, the other ${said[1]}`)
  // Afterwards all is as before: one change is told.
  await pause(1_000)
  for (const one of changes) one.waiting.length = 0
  await project.postA(failedStep('m-later', { agent_name: 'Later' }))
  for (const one of changes) await told(one, ({ pattern }) => pattern?.agent === 'Later')
})

test('a subscriber counts the range that it asked for', async () => {
  const project = await stand.newProject()
  await project.postA([failedStep('r-1', { agent_name: 'Range' }), failedStep('r-2', { agent_name: 'Range' })])
  await stand.age('r-1', 100)
  const week = await follow(server, project.key)
  const hour = await follow(server, project.key, { range: 'LAST_HOUR' })
  let n = 0
  for (const changes of [week, hour])
    await listening(changes, () => project.postA(failedStep(`probe-${n++}`, { agent_name: 'Probe' })))
  await project.postA(failedStep('r-3', { agent_name: 'Range' }))
  const sessions = async (changes: Subscription<any>) =>
    (await told(changes, ({ pattern }) => pattern?.agent === 'Range')).pattern.sessions
  expect([await sessions(week), await sessions(hour)]).toEqual([3, 2])
})

test("a stranger's key hears, reads and decides nothing of it, not even that something is gone", async () => {
  const [project, stranger] = [await stand.newProject(), await stand.newProject()]
  const strange = await follow(server, stranger.key)
  const own = await follow(server, project.key)
  let n = 0
  await listening(strange, () => stranger.postA(failedStep(`probe-${n++}`, { agent_name: 'Probe' })))
  await listening(own, () => project.postA(failedStep(`probe-${n++}`, { agent_name: 'Probe' })))
  strange.waiting.length = 0
  await project.postA(failedStep('x-1', { agent_name: 'Hidden', error: 'hidden words' }))
  const { id } = await project.pattern('Hidden')
  await stand.decide('resolve', id)
  await stand.decide('mute', id, ', days: 1')
  await remove(await idOf(project, 'x-1', 'PLATFORM_A'))
  await told(own, ({ goneId }) => goneId === id)
  // Nothing more happens.
  await pause(1_000)
  expect(strange.waiting).toEqual([])

  await project.postA(failedStep('x-2', { agent_name: 'Hidden', error: 'hidden words' }))
  const seen = await stranger.ask(
    `query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id }
      failurePatterns(filter: { search: "hidden" }) { nodes { id } } failureDays { sessions } }`,
    { id },
  )
  expect(seen).toMatchObject({ node: null, nodes: [null], failurePatterns: { nodes: [] } })
  const probes = await stranger.patterns()
  expect(seen.failureDays).toEqual([{ sessions: probes[0].sessions }])
  for (const name of ['resolve', 'reopen', 'mute'])
    expect(await stranger.refusal(`mutation { ${name}FailurePattern(id: "${id}") { id } }`)).toBe('FORBIDDEN')
})
