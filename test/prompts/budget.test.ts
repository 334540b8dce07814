// The budget of a day: held over all servers however many ask at once, and corrected by what calls really cost.
import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Budget } from '../../server/prompts/budget.ts'
import { Provider } from '../../server/prompts/provider.ts'
import { newDatabase, type TestDatabase } from '../support/database.ts'
import { LLM_KEY, neverAnswers, proposes, slowly, startLlmServer, type LlmServer } from '../support/llm-server.ts'
import { until } from '../support/until.ts'

let database: TestDatabase
let other: postgres.Sql
let model: LlmServer
beforeAll(async () => {
  database = await newDatabase()
  other = postgres(database.url, { max: 3, onnotice: () => {} })
  model = await startLlmServer()
})
afterAll(async () => {
  await model.close()
  await other.end()
  await database.drop()
})
beforeEach(async () => {
  await database.sql`delete from llm_usage`
  model.asked.length = 0
})

/** Two servers on one database. */
const servers = (tokensPerDay: number, usdPerDay: number, name = 'gpt-4o') =>
  [database.sql, other].map(
    (sql) =>
      new Provider(
        { baseUrl: model.url, apiKey: LLM_KEY, model: name, timeoutMs: 20_000 },
        new Budget(sql, { tokensPerDay, usdPerDay }),
      ),
  )
const propose = (provider: Provider) =>
  provider.propose(
    {
      agent: 'Desk',
      category: 'TOOL_FAILURE',
      cause: 'TIMEOUT',
      subject: 'crm',
      title: 't',
      role: 'TOOL',
      sessions: 5,
      days: 7,
      errorTexts: ['timeout'],
      instructionSeen: null,
    },
    { ruleText: 'Ask for less.', activePrompt: null },
  )
const today = () => new Budget(database.sql, { tokensPerDay: 0, usdPerDay: 0 }).today()
/** What one call reserves, in tokens and USD. */
async function reservedByOne() {
  model.answers(neverAnswers)
  const [provider] = servers(1e9, 1e6)
  const call = propose(provider!)
  await until(() => model.open === 1)
  const { tokens, costUsd } = await today()
  model.release(proposes())
  await call
  await database.sql`delete from llm_usage`
  model.asked.length = 0
  return { tokens, costUsd }
}

test.each([
  ['tokens', 1, 1e9],
  ['USD', 1e9, 1],
])('50 calls at once over two servers stay within the limit of %s', async (_what, tokenShare, usdShare) => {
  const one = await reservedByOne()
  const limits = [
    Math.min(1e9, Math.floor(one.tokens * 7.5) * tokenShare),
    Math.min(1e6, one.costUsd * 7.5 * usdShare),
  ] as const
  const both = servers(...limits)
  model.answers(neverAnswers)
  let refused = 0
  const calls = Array.from({ length: 50 }, async (_, i) => {
    const proposal = await propose(both[i % 2]!)
    if (proposal.kind === 'OVER_BUDGET') refused++
    return proposal
  })
  await until(() => model.open === 7 && refused === 43)
  const reserved = await today()
  expect(reserved.tokens).toBe(7 * one.tokens)
  expect(reserved.tokens).toBeLessThanOrEqual(limits[0])
  expect(reserved.costUsd).toBeLessThanOrEqual(limits[1])
  model.release(proposes())
  const kinds = (await Promise.all(calls)).map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'PROPOSED')).toHaveLength(7)
  expect(kinds.filter((kind) => kind === 'OVER_BUDGET')).toHaveLength(43)
  expect(model.asked).toHaveLength(7)
  // Corrected by what the calls cost, there is room again.
  expect(await today()).toEqual({ calls: 7, tokens: 7 * 750, costUsd: 7 * 0.00225 })
  expect(await propose(both[1]!)).toMatchObject({ kind: 'PROPOSED' })
})

test('calls one after the other spend no more than the limit, whatever the provider says they cost', async () => {
  const one = await reservedByOne()
  const [provider] = servers(3 * one.tokens, 1e6)
  const usage = { prompt_tokens: one.tokens, completion_tokens: 0 }
  model.answers(proposes({}, { usage }))
  const kinds = []
  for (let i = 0; i < 6; i++) kinds.push((await propose(provider!)).kind)
  expect(kinds).toEqual(['PROPOSED', 'PROPOSED', 'PROPOSED', 'OVER_BUDGET', 'OVER_BUDGET', 'OVER_BUDGET'])
  expect((await today()).tokens).toBe(3 * one.tokens)
})

test('a correction belongs to the day of its call', async () => {
  model.answers(slowly(50))
  const [provider] = servers(1e9, 1e6)
  const call = propose(provider!)
  await until(() => model.open === 1)
  await database.sql`update llm_usage set day = day - 1`
  await call
  expect(await today()).toEqual({ calls: 0, tokens: 0, costUsd: 0 })
})

test.each([
  [0, 1],
  [4_000, 1],
  [1e9, 0],
])(
  'limits that hold no single call (%d tokens, %d USD) are said to be too low, and nothing is sent',
  async (tokens, usd) => {
    const [provider] = servers(tokens, usd)
    expect(await propose(provider!)).toEqual({
      kind: 'OVER_BUDGET',
      problem:
        'One call may take more than LLM_TOKENS_PER_DAY or LLM_USD_PER_DAY: the model is not asked until they are raised.',
    })
    expect(model.asked).toHaveLength(0)
  },
)

test('without a known price the limit of USD holds nothing up', async () => {
  const [provider] = servers(1e9, 0, 'house-model-of-nobody')
  model.answers(proposes())
  expect(await propose(provider!)).toMatchObject({ kind: 'PROPOSED' })
})
