// A database as it is after two months of use, made in SQL: 1,000,000 sessions of both platforms and their events.
import type postgres from 'postgres'

export const DAYS = 60
const DAY_MS = 86_400_000
export const SESSIONS = 1_000_000
export const EVENTS_PER_SESSION = 10

/** How many of the agents' names exist; names are "Agent 01" and so on. */
export const AGENTS = 24
export const RARE_ERROR = 'certificate has expired'
export const COMMON_ERROR = 'Rate limit reached'

const PER_DAY = Math.ceil(SESSIONS / (DAYS + 1))

/** Day by day, on as many connections as `sql` has. */
export async function fill(sql: postgres.Sql, connections: number, say: (line: string) => void): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS)
  const days = Array.from({ length: DAYS + 1 }, (_, i) => i)
  const began = performance.now()
  const work = async () => {
    for (let back = days.pop(); back !== undefined; back = days.pop()) {
      await fillDay(sql, new Date((today - back) * DAY_MS).toISOString().slice(0, 10), DAYS - back)
      if (back % 10 === 0) say(`filling: ${back} days to go, ${((performance.now() - began) / 1000).toFixed(0)} s`)
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
}

/** Numbers that look random and are the same in every run. */
const pick = (salt: number, below: number) => `(hashint8extended(n, ${salt}) & 2147483647) % ${below}`

async function fillDay(sql: postgres.Sql, day: string, place: number): Promise<void> {
  const first = place * PER_DAY
  const last = Math.min(SESSIONS, first + PER_DAY) - 1
  const partition = `events_${day.replaceAll('-', '')}`
  await sql.begin(async (tx) => {
    // Of today, only what has been; the last hour of it holds the runs that are still open.
    await tx.unsafe(`
      insert into sessions (id, project_id, platform, external_id, workflow_id, agent, mode, status, reported_status,
        error_message, last_node, first_seen_at, started_at, last_event_at, closed_at, duration_ms, duration_source,
        event_count, error_count, llm_calls, tool_calls, unpriced_calls, tokens_estimated, models, prompt_tokens,
        completion_tokens, cost_usd, coverage, revision, content_revision, closed_sequence)
      select md5('session ' || n)::uuid, 1, case when is_b then 'PLATFORM_B' else 'PLATFORM_A' end,
        case when is_b then n::text else 'run-' || md5('external ' || n) end,
        case when is_b then 'workflow' || agent end, 'Agent ' || lpad(agent::text, 2, '0'),
        case when is_b then 'webhook' end, status, case when is_b and status <> 'RUNNING' then 'success' end,
        case when status = 'FAILED' then case
          when ${pick(5, 5000)} = 0 then 'The ${RARE_ERROR} of host api-' || n || '.example.com'
          when ${pick(5, 5)} = 1 then '${COMMON_ERROR} for requests per minute in organization org-' || n
          when ${pick(5, 5)} = 2 then 'Request failed with status code 500: upstream order ' || n
          else 'The tool crm.search did not answer within 30000 ms (attempt ' || n || ')' end end,
        case when is_b then 'Reply' end, seen, seen, seen + interval '4 seconds',
        case when status <> 'RUNNING' then seen + interval '4 seconds' end,
        case when status <> 'RUNNING' then 500 + ${pick(6, 20000)} end,
        case when status <> 'RUNNING' then 'SPAN' end, ${EVENTS_PER_SESSION}, (status = 'FAILED')::int, 4, 3, 0, false,
        array['gpt-4o', 'claude-sonnet-4-5'], 4000 + ${pick(7, 4000)}, 400 + ${pick(8, 900)},
        0.01 + (${pick(9, 900)})::numeric / 10000, '[]', ${EVENTS_PER_SESSION}, ${EVENTS_PER_SESSION},
        case when status <> 'RUNNING' and not is_b then extract(epoch from seen)::bigint * 1000000 + 4000000 end
      from (
        select n, ${pick(1, 10)} < 4 as is_b, ${pick(2, AGENTS)} + 1 as agent,
          case when ${pick(3, 100)} < 5 then 'FAILED' when ${pick(3, 100)} < 6 then 'RUNNING' else 'COMPLETED' end as status,
          least('${day}'::date::timestamp at time zone 'UTC' + interval '1 day', now())
            - (${pick(4, 86_400_000)})::float8 / 86400000.0
              * (least('${day}'::date::timestamp at time zone 'UTC' + interval '1 day', now()) - '${day}'::date::timestamp at time zone 'UTC') as seen
        from generate_series(${first}::int8, ${last}::int8) n
      ) made order by seen`)
    await tx.unsafe(`create table ${partition} (like events including defaults including constraints)`)
    await tx.unsafe(`
      insert into ${partition} (session_id, day, event_key, revision, order_us, sequence, place, type, kind, kind_source,
        name, model, input, output, prompt_tokens, completion_tokens, tokens_estimated, cost_usd, cost_source,
        duration_ms, error, occurred_at, received_at, skewed, masked)
      select md5('session ' || n)::uuid, '${day}', md5('event ' || n || ' ' || e)::uuid, e + 1,
        extract(epoch from '${day}'::date)::bigint * 1000000 + n * 10 + e, n * 10 + e, 0,
        case e % 5 when 0 then 'LLM_CALL' when 1 then 'TOOL_CALL' when 2 then 'LLM_CALL' when 3 then 'RETRIEVAL' else 'SPAN' end,
        case e % 5 when 0 then 'LLM' when 1 then 'TOOL' when 2 then 'LLM' end, 'type',
        case e % 5 when 1 then 'crm.search' end, case when e % 5 in (0, 2) then 'gpt-4o' end,
        'What does order ' || n || ' still need before it can be sent to the customer? Step ' || e,
        'The order waits for its payment and for the second of its three parts; nothing else is missing. ' || e,
        case when e % 5 in (0, 2) then 1200 end, case when e % 5 in (0, 2) then 140 end, false,
        case when e % 5 in (0, 2) then 0.0044 end, case when e % 5 in (0, 2) then 'PRICED' end,
        300, case when e = 9 and ${pick(3, 100)} < 5 then '{"message": "failed"}'::jsonb end,
        '${day}'::date::timestamp at time zone 'UTC', '${day}'::date::timestamp at time zone 'UTC', false, false
      from generate_series(${first}::int8, ${last}::int8) n, generate_series(0, ${EVENTS_PER_SESSION - 1}) e`)
    await tx.unsafe(`alter table ${partition} add primary key (session_id, day, event_key),
      add constraint own_day check (day >= '${day}' and day < '${day}'::date + 1)`)
    await tx.unsafe(
      `alter table events attach partition ${partition} for values from ('${day}') to ('${nextDay(day)}')`,
    )
    await tx.unsafe(`alter table ${partition} drop constraint own_day`)
  })
}

const nextDay = (day: string) => new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10)
