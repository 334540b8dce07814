// A server that may post to loopback, with what alert tests do as an admin: channels, rules, deliveries.
import { until } from './until.ts'
import { startServer, type TestServer } from './server.ts'

export const ALERT_ENV = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1, localhost, ::1' }

const RULE = `id name kind isEnabled sentence minSeverity categories agents platform cooldownMinutes failureShare minRuns
  windowMinutes updatedBy channels { id name }`
export const DELIVERY = `id channel channelKind state suppressedBy isTrying attemptCount
  nextAttemptAt lastStatus lastProblem createdAt settledAt
  alert { alertId: id kind title rule agent severity category session { externalId } }
  attempts { number startedAt durationMs isDelivered status answer problem }`

/** What the API shows of one. */
type Seen = { id: string; name: string; sentence: string } & Record<string, any>

export async function alertStand(options: Parameters<typeof startServer>[0] = {}) {
  const server = await startServer({ ...options, env: { ...ALERT_ENV, ...options.env } })
  return { server, ...(await alertsOf(server)) }
}

/** What an admin does on a server. */
export async function alertsOf(server: TestServer) {
  const headers = { cookie: await server.signIn() }
  const ask = (query: string, variables = {}) => server.query(query, variables, headers)
  const refusal = async (query: string, variables = {}) =>
    (await server.graphql(query, variables, headers)).body.errors?.[0] as
      { message: string; extensions: { code: string } } | undefined
  const deliveries = async (filter: object = {}) =>
    (
      await ask(
        `query ($filter: DeliveryFilter) { deliveries(filter: $filter, first: 100) { nodes { ${DELIVERY} } } }`,
        { filter },
      )
    ).deliveries.nodes.map(({ alert, ...delivery }: any) => ({ ...alert, ...delivery })) as any[]
  return {
    headers,
    ask,
    refusal,
    deliveries,
    channel: async (kind: 'WEBHOOK' | 'SLACK' | 'EMAIL', input: object, project = 'default') =>
      (
        await ask(
          `mutation ($kind: ChannelKind!, $input: ChannelInput!, $project: String) {
            createChannel(kind: $kind, input: $input, project: $project) {
              secret channel { id name kind address secretSuffix isEnabled } } }`,
          { kind, input, project },
        )
      ).createChannel as { secret: string | null; channel: any },
    rule: async (input: object, project = 'default') =>
      (
        await ask(
          `mutation ($input: AlertRuleInput!, $project: String) { createAlertRule(input: $input, project: $project) { ${RULE} } }`,
          { input: { name: 'A rule', isEnabled: true, ...input }, project },
        )
      ).createAlertRule as Seen,
    changeRule: async (id: string, input: object) =>
      (
        await ask(
          `mutation ($id: ID!, $input: AlertRuleInput!) { updateAlertRule(id: $id, input: $input) { ${RULE} } }`,
          { id, input },
        )
      ).updateAlertRule as Seen,
    rules: async () => (await ask(`{ alertRules { ${RULE} } }`)).alertRules as any[],
    test: async (id: string) =>
      (
        await ask(`mutation ($id: ID!) { testChannel(id: $id) { isDelivered status durationMs answer problem } }`, {
          id,
        })
      ).testChannel,
    /** Once all that was written is sent, given up or suppressed. */
    settled: (filter: object = {}, withinMs = 20_000) =>
      until(
        () => deliveries(filter),
        (all) => all.length > 0 && all.every(({ state }) => state !== 'QUEUED'),
        withinMs,
      ),
  }
}
