// What a call costs, and when silence is unusual.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownCost, priceTokens } from '../../server/sessions/prices.ts'
import { quietAfterMs } from '../../server/sessions/quiet.ts'
import { startServer, type TestServer } from '../support/server.ts'

const AT = Date.parse('2026-11-21T12:00:00Z')

describe('a price', () => {
  test.each([
    ['2', '10', 1000, 100, '0.003'],
    ['0.15', '0.60', 1, 1, '7.5e-7'],
    ['0.1', '0.2', 3, 0, '3e-7'],
    ['0', '0', 5, 5, '0'],
    ['2.5', '10', 9007199254740991, 9007199254740991, '112589990684.2623875'],
  ])(
    'of %s and %s USD per million for %d and %d tokens is exactly %s',
    (inputUsdPerMillion, outputUsdPerMillion, prompt, completion, cost) => {
      expect(Number(ownCost({ inputUsdPerMillion, outputUsdPerMillion }, prompt, completion))).toBe(Number(cost))
    },
  )

  test('of a model in the table is known with and without its vendor, of others it is not', () => {
    expect(priceTokens(undefined, 'gpt-4o', 1000, 100, AT)).toBe('0.0035')
    expect(priceTokens(undefined, 'openai/gpt-4o', 1000, 100, AT)).toBe('0.0035')
    expect(priceTokens(undefined, 'nobody-knows-this', 1000, 100, AT)).toBeNull()
  })

  test('that changes at half past is the one of its minute, whichever was asked for first', () => {
    const at = (time: string) =>
      priceTokens(undefined, 'deepseek-chat', 1_000_000, 0, Date.parse(`2026-01-15T${time}Z`))
    expect([at('16:10:00'), at('16:29:59.999'), at('16:30:00'), at('16:50:00')]).toEqual([
      '0.27',
      '0.27',
      '0.135',
      '0.135',
    ])
  })

  test('with half of the tokens unknown is unknown', () => {
    expect(priceTokens(undefined, 'gpt-4o', 1000, null, AT)).toBeNull()
    expect(priceTokens(undefined, 'gpt-4o', null, 100, AT)).toBeNull()
  })
})

describe('silence', () => {
  const minutes = (n: number) => n * 60_000
  test.each([
    ['nothing is known of the agent', [], minutes(30)],
    ['19 runs are known', Array(19).fill(minutes(60)), minutes(30)],
    ['its runs are short', Array(20).fill(1000), minutes(5)],
    ['its runs take ten minutes', Array(200).fill(minutes(10)), minutes(30)],
  ])('is unusual, where %s, after %3$d ms', (_what, durations, after) => {
    expect(quietAfterMs(durations)).toBe(after)
  })

  let server: TestServer
  beforeAll(async () => void (server = await startServer()))
  afterAll(() => server.stop())

  test('makes a running session quiet without touching its status, and a new event ends it', async () => {
    const read = async () =>
      (
        await server.query(
          '{ session(platform: PLATFORM_A, externalId: "silent") { status quiet quietAt lastEventAt } }',
        )
      ).session
    await server.ingestA({ session_id: 'silent', type: 'span' })
    expect(await read()).toMatchObject({ status: 'RUNNING', quiet: false })
    await server.database
      .sql`update sessions set last_event_at = now() - interval '31 minutes' where external_id = 'silent'`
    const silent = await read()
    expect(silent).toMatchObject({ status: 'RUNNING', quiet: true })
    expect(Date.parse(silent.quietAt) - Date.parse(silent.lastEventAt)).toBe(minutes(30))
    await server.ingestA({ session_id: 'silent', type: 'span' })
    expect((await read()).quiet).toBe(false)
    await server.ingestA({ session_id: 'silent', type: 'session.end' })
    expect(await read()).toMatchObject({ status: 'COMPLETED', quiet: false, quietAt: null })
  })
})
