// Credentials in payloads: what is never stored, what a project may decide about, and what the event says of it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

const VENDOR_KEY = 'sk-proj-abcdefghijklmnop0123456789'
const BEARER = 'Bearer abcdefghijklmnopqrstuvwxyz0123456789'
const RESUME_LINK = 'https://n8n.example.com/webhook-waiting/47?signature=0123456789abcdef'
const COOKIE = 'session=0123456789abcdef'

let server: TestServer
beforeAll(async () => void (server = await startServer()))
afterAll(() => server.stop())

/** Posts the same secrets to both platforms and returns all that is stored of them, and what the events say. */
async function storedOf(run: string) {
  await server.ingestA({
    session_id: run,
    type: 'tool.call',
    input: `call with ${VENDOR_KEY}`,
    output: `Authorization: ${BEARER}`,
    error: `refused: ${VENDOR_KEY}`,
    note: RESUME_LINK,
    cookie: COOKIE,
  })
  const node = (fields: object) => [
    { startTime: 1_795_000_000_000, executionTime: 5, executionStatus: 'error', ...fields },
  ]
  await server.ingestB({
    execution: {
      id: run,
      workflowId: 'secrets',
      status: 'error',
      resumeToken: 'resume-token-0123456789',
      data: {
        resultData: {
          error: { message: `failed with ${VENDOR_KEY}`, cause: { message: `because ${VENDOR_KEY}` } },
          runData: {
            'HTTP Request': node({
              error: { message: 'Bad', description: `denied ${BEARER}`, cause: { message: `key ${VENDOR_KEY}` } },
              data: { main: [[{ json: { link: RESUME_LINK, key: VENDOR_KEY, headers: { cookie: COOKIE } } }]] },
            }),
          },
        },
        pinData: { Secret: [{ json: { pinned: 'pinned-0123456789' } }] },
      },
      workflowData: {
        nodes: [
          { name: 'HTTP Request', type: 'n8n-nodes-base.httpRequest', parameters: { a: 'parameter-0123456789' } },
        ],
      },
    },
  })
  const rows = await server.database.sql`
    select s.*, array(select to_jsonb(e) from events e where e.session_id = s.id) as events
    from sessions s where s.external_id = ${run}`
  const events = rows.flatMap((row) => row.events as { masked: boolean }[])
  return { text: JSON.stringify(rows), masked: events.map(({ masked }) => masked) }
}

test('are masked before anything is stored, and the event says so', async () => {
  const { text, masked } = await storedOf('masked')
  for (const secret of [VENDOR_KEY, BEARER, '0123456789abcdef', 'resume-token', 'pinned-', 'parameter-']) {
    expect(text).not.toContain(secret)
  }
  expect(text).toContain('sk-proj-[masked]')
  expect(masked).toEqual([true, true])
})

test('a project may keep its texts as they come; links that resume a run and named fields are still not stored', async () => {
  const cookie = await server.signIn()
  const set = (on: boolean) =>
    server.query(
      `mutation { updateProject(settings: { masksCredentials: ${on} }) { masksCredentials } }`,
      {},
      { cookie },
    )
  expect(await set(false)).toEqual({ updateProject: { masksCredentials: false } })
  const { text, masked } = await storedOf('unmasked')
  expect(text).toContain(`call with ${VENDOR_KEY}`)
  expect(text).toContain(BEARER)
  expect(text).not.toContain('signature=0123456789abcdef')
  for (const secret of [COOKIE, 'resume-token', 'pinned-', 'parameter-']) expect(text).not.toContain(secret)
  expect(masked).toEqual([true, true])
  await server.ingestA({ session_id: 'only-a-key', input: VENDOR_KEY })
  const [event] = await server.database.sql`select input, masked from events where input = ${VENDOR_KEY}`
  expect(event).toEqual({ input: VENDOR_KEY, masked: false })
  await set(true)
  expect((await storedOf('masked-again')).text).not.toContain(VENDOR_KEY)
})
