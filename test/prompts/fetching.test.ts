// GET /api/prompts/active: what a workflow fetches, whoever asks and however.
import { request as plainRequest } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { promptStand, type PromptStand } from '../support/prompt-stand.ts'
import { KEY } from '../support/server.ts'
import { until } from '../support/until.ts'

const TEXT = 'Write dates as YYYY-MM-DD.\nFrage nach, wenn “eines” fehlt 📅.'
let stand: PromptStand
let version: any
beforeAll(async () => {
  stand = await promptStand()
  const made = await stand.byHand('Booking desk', TEXT)
  version = await stand.decide('activate', { id: made.id, revision: 1, reason: 'Go' })
})
afterAll(() => stand.stop())

const get = (query: string, init: RequestInit = {}) =>
  fetch(`${stand.server.url}/api/prompts/active${query}`, { ...init, headers: { 'x-api-key': KEY, ...init.headers } })
const ASKED = '?agent_name=Booking%20desk'
const key = async (scopes: string, project = 'default') =>
  (
    await stand.server.query(
      `mutation { createApiKey(input: { name: "x", scopes: [${scopes}], project: "${project}" }) { secret apiKey { id } } }`,
      {},
      stand.admin,
    )
  ).createApiKey

test('JSON unless text is asked for, the same words in both', async () => {
  const json = await get(ASKED)
  expect([json.status, json.headers.get('content-type'), json.headers.get('x-prompt-version')]).toEqual([
    200,
    'application/json; charset=utf-8',
    '1',
  ])
  expect(await json.json()).toEqual({ agent_name: 'Booking desk', prompt: TEXT, version: 1 })
  const text = await get(ASKED, { headers: { accept: 'text/plain' } })
  expect(text.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await text.text()).toBe(TEXT)
  for (const answer of [json, text]) {
    expect(answer.headers.get('cache-control')).toBe('private, no-cache')
    expect(answer.headers.get('vary')).toContain('accept')
  }
})

test.each([
  ['', 'json'],
  ['*/*', 'json'],
  ['application/json, text/plain, */*', 'json'],
  ['application/json,text/html,application/xhtml+xml,application/xml,text/*;q=0.9, image/*;q=0.8, */*;q=0.7', 'json'],
  ['text/plain;q=0.5, application/json', 'json'],
  ['text/plain;q=0', 'json'],
  ['text/plain;q=nonsense', 'json'],
  ['text/html', 'json'],
  ['text/plain', 'text'],
  ['TEXT/PLAIN; charset=utf-8', 'text'],
  ['text/plain, */*', 'text'],
  ['application/json;q=0.5, text/plain', 'text'],
])('who accepts %j is given %s', async (accept, form) => {
  const type = (await get(ASKED, { headers: { accept } })).headers.get('content-type')
  expect(type).toMatch(form === 'text' ? /^text\/plain/ : /^application\/json/)
})

test('what is known already is not sent again, in either form, and one form is not taken for the other', async () => {
  const tags = await Promise.all(
    ['application/json', 'text/plain'].map(async (accept) =>
      (await get(ASKED, { headers: { accept } })).headers.get('etag')!,
    ),
  )
  expect(tags[0]).not.toBe(tags[1])
  for (const [i, accept] of ['application/json', 'text/plain'].entries()) {
    const statusOf = async (tag: string) => (await get(ASKED, { headers: { accept, 'if-none-match': tag } })).status
    for (const tag of [tags[i]!, `W/${tags[i]}`, `"other", ${tags[i]}`, '*'])
      expect([tag, await statusOf(tag)]).toEqual([tag, 304])
    for (const tag of [tags[1 - i]!, '"none"', '', 'nonsense']) expect([tag, await statusOf(tag)]).toEqual([tag, 200])
  }
  const unchanged = await get(ASKED, { headers: { 'if-none-match': tags[0]! } })
  expect([await unchanged.text(), unchanged.headers.get('etag')]).toEqual(['', tags[0]])
})

test('an agent without an active version is answered an empty prompt, and so is one that nobody knows', async () => {
  await stand.byHand('Only a candidate')
  for (const agent of [
    'Only a candidate',
    'Nobody',
    'booking desk',
    '__proto__',
    'a\u0000b',
    '\ud83d',
    'x'.repeat(5_000),
  ]) {
    const answer = await get(`?agent_name=${encodeURIComponent(agent.toWellFormed())}`)
    expect([answer.status, answer.headers.get('x-prompt-version')]).toEqual([200, 'none'])
    expect(await answer.json()).toMatchObject({ prompt: '', version: null })
    const text = await get(`?agent_name=${encodeURIComponent(agent.toWellFormed())}`, {
      headers: { accept: 'text/plain' },
    })
    expect([text.status, await text.text()]).toEqual([200, ''])
  }
})

test('the name is taken as runs bring it, with the space around it, or without', async () => {
  expect(await (await get('?agent_name=%20Booking+desk%20')).json()).toMatchObject({ version: 1 })
  await stand.fail('Spaced ', 5)
  const [candidate] = await stand.candidates('Spaced ')
  await stand.decide('activate', { id: candidate.id, revision: 1, reason: 'Go' })
  expect(await (await get('?agent_name=Spaced%20')).json()).toMatchObject({ prompt: candidate.prompt, version: 1 })
  expect(await stand.byHand('Spaced ')).toMatchObject({ agent: 'Spaced ', version: 2 })
})

test.each([
  ['', 'It is missing: name the agent in the address, like /api/prompts/active?agent_name=Support%20triage.'],
  ['?agent=Booking%20desk', 'It is missing: name the agent'],
  ['?agent_name=', '"" came: name the agent'],
  ['?agent_name=%20%09%20', 'came: name the agent'],
  ['?agent_name=a&agent_name=b', 'agent_name came 2 times; ask for one agent at a time.'],
  ['?agent_name[]=a', 'It is missing: name the agent'],
])('%j is refused in words', async (query, sentence) => {
  const answer = await get(query)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([422, 'application/problem+json; charset=utf-8'])
  const problem = await answer.json()
  expect(problem.detail).toContain(sentence)
  expect(problem.errors[0]).toMatchObject({ field: 'agent_name' })
})

test.each(['%', '%E0%A4%A', '%00', '%FF', 'a%ed%a0%bd'])('a broken name %s is no fault of the server', async (name) => {
  expect((await get(`?agent_name=${name}`)).status).toBeLessThan(500)
})

test('any key may fetch, for its own project alone; nobody else may', async () => {
  const others: any = await key('INGEST, READ', 'other')
  for (const scopes of ['INGEST', 'READ']) {
    const { secret } = await key(scopes)
    expect(await (await get(ASKED, { headers: { 'x-api-key': secret } })).json()).toMatchObject({ version: 1 })
    const bearer = await fetch(`${stand.server.url}/api/prompts/active${ASKED}`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    expect(bearer.status).toBe(200)
  }
  const stranger = await get(ASKED, { headers: { 'x-api-key': others.secret, 'if-none-match': version.id } })
  expect(await stranger.json()).toEqual({ agent_name: 'Booking desk', prompt: '', version: null })
  for (const headers of [{}, { 'x-api-key': 'rw_nope' }, stand.admin] as Record<string, string>[]) {
    const refused = await fetch(`${stand.server.url}/api/prompts/active${ASKED}`, { headers })
    expect([refused.status, refused.headers.get('cache-control')]).toEqual([401, 'no-store'])
    expect(await refused.text()).not.toContain('YYYY')
  }
  const { secret, apiKey } = await key('READ')
  await stand.server.query(`mutation { revokeApiKey(id: "${apiKey.id}") { id } }`, {}, stand.admin)
  expect((await get(ASKED, { headers: { 'x-api-key': secret } })).status).toBe(403)
})

test.each(['POST', 'PUT', 'DELETE', 'PATCH'])('%s is not possible, and what is is said', async (method) => {
  const answer = await get(ASKED, { method })
  expect([answer.status, answer.headers.get('allow')]).toEqual([405, expect.stringContaining('GET')])
})

test('HEAD says the same without the words', async () => {
  const [whole, head] = [await get(ASKED), await get(ASKED, { method: 'HEAD' })]
  expect([head.status, await head.text()]).toEqual([200, ''])
  for (const name of ['etag', 'content-type', 'x-prompt-version', 'content-length'])
    expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)])
})

test('two headers with a key are no key', async () => {
  const status = await new Promise((resolve) => {
    const request = plainRequest(`${stand.server.url}/api/prompts/active${ASKED}`, (answer) =>
      resolve(answer.resume().statusCode),
    )
    request.setHeader('x-api-key', [KEY, KEY])
    request.end()
  })
  expect(status).toBe(401)
})

test('a change is fetched at once, and each version has a tag of its own', async () => {
  const tags = new Set<string>()
  let active: any = null
  const seen = async (expected: object) => {
    const answer = await stand.active('Changing')
    tags.add(answer.headers.get('etag')!)
    expect(await answer.json()).toMatchObject(expected)
  }
  const made = [
    await stand.byHand('Changing', 'One.'),
    await stand.byHand('Changing', 'One.'),
    await stand.byHand('Changing', 'Three.'),
  ]
  for (const { id, prompt, version } of made) {
    active = await stand.decide('activate', { id, revision: 1, activeVersion: active?.version ?? null, reason: 'Next' })
    await seen({ prompt, version })
  }
  await stand.decide('retire', { id: active.id, revision: active.revision, reason: 'Stop' })
  await seen({ prompt: '', version: null })
  expect(tags.size).toBe(4)
  await stand.decide('activate', { id: made[0].id, revision: 3, reason: 'Back' })
  await seen({ prompt: 'One.', version: 1 })
  expect(tags.size).toBe(4)
})

test('what was fetched is counted, and told with the version', async () => {
  const made = await stand.byHand('Counted')
  await stand.decide('activate', { id: made.id, revision: 1, reason: 'Go' })
  const etag = (await stand.active('Counted')).headers.get('etag')!
  await Promise.all(Array.from({ length: 24 }, () => stand.active('Counted', { 'if-none-match': etag })))
  const [counted] = await until(
    () => stand.ofAgent('Counted'),
    ([one]) => one.fetchCount >= 25,
    15_000,
  )
  expect(counted.fetchCount).toBe(25)
  expect(Date.parse(counted.lastFetchedAt)).toBeGreaterThan(Date.parse(counted.activatedAt))
})
