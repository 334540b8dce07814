// The database goes away under a server: prompts are fetched as before, and what changed meanwhile is seen afterwards.
import { afterEach, expect, test } from 'vitest'
import { newDatabase } from '../support/database.ts'
import { promptsOn } from '../support/prompt-stand.ts'
import { breakableProxy } from '../support/proxy.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'

const TIMEOUT = 60_000
const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
}, TIMEOUT)

test(
  'while the database is away prompts are fetched as before, and what another server did is seen when it is back',
  { timeout: TIMEOUT },
  async () => {
    const database = await newDatabase()
    closers.push(() => database.drop())
    const proxy = await breakableProxy(database.url)
    closers.push(() => proxy.close())
    const near = await startServer({ database: { ...database, url: proxy.url } })
    closers.push(() => near.stop())
    const far = await startServer({ database })
    closers.push(() => far.stop())
    closers.push(() => proxy.accept())
    const [here, there] = [await promptsOn(near), await promptsOn(far)]
    const made = [await there.byHand('Away', 'One.'), await there.byHand('Away', 'Two.')]
    await there.decide('activate', { id: made[0].id, revision: 1, reason: 'Go' })
    const seen = async () => (await (await here.active('Away')).json()).prompt
    await until(async () => (await seen()) === 'One.')
    proxy.refuse()
    await until(async () => (await fetch(`${near.url}/readyz`)).status === 503, Boolean, 20_000)
    await there.decide('activate', { id: made[1].id, revision: 1, activeVersion: 1, reason: 'Next' })
    expect(await Promise.all(Array.from({ length: 50 }, seen))).toEqual(Array(50).fill('One.'))
    expect((await here.active('Away', { 'x-api-key': 'rw_unknown' })).status).toBe(401)
    await proxy.accept()
    await until(async () => (await seen()) === 'Two.', Boolean, 20_000)
  },
)
