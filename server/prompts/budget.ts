// What may be spent on the model that proposes prompts: tokens and USD a day in UTC, over all servers.
import type { Sql } from '../database/connect.ts'

export interface Limits {
  tokensPerDay: number
  usdPerDay: number
}

export interface Spend {
  calls: number
  tokens: number
  costUsd: number
}

/** `costUsd` null: the price of the model is not known, and only tokens can be held to their limit. */
export interface Amount {
  tokens: number
  costUsd: number | null
}

export class Budget {
  constructor(
    private readonly sql: Sql,
    readonly limits: Limits,
  ) {}

  /** Whether it could be spent on a day on which nothing else is. */
  holds({ tokens, costUsd }: Amount): boolean {
    return tokens <= this.limits.tokensPerDay && (costUsd ?? 0) <= this.limits.usdPerDay
  }

  /** Reserves what a call may cost at most, before it is made. @returns the day it counts for; null where it would exceed the limits */
  async reserve({ tokens, costUsd }: Amount): Promise<string | null> {
    const { tokensPerDay, usdPerDay } = this.limits
    await this.sql`insert into llm_usage (day) values ((now() at time zone 'UTC')::date) on conflict do nothing`
    const [row] = await this.sql`
      update llm_usage set calls = calls + 1, tokens = tokens + ${tokens}, cost_usd = cost_usd + ${costUsd ?? 0}::numeric
      where day = (now() at time zone 'UTC')::date and tokens + ${tokens} <= ${tokensPerDay}
        and cost_usd + ${costUsd ?? 0}::numeric <= ${usdPerDay}::numeric
      returning day::text`
    return row ? (row.day as string) : null
  }

  /** What it came to. A call that broke off keeps its reservation: it may have been charged. */
  async correct(day: string, reserved: Amount, spent: Amount): Promise<void> {
    await this.sql`
      update llm_usage set tokens = greatest(0, tokens + ${spent.tokens - reserved.tokens}),
        cost_usd = greatest(0, cost_usd + ${spent.costUsd ?? 0}::numeric - ${reserved.costUsd ?? 0}::numeric)
      where day = ${day}::date`
  }

  async today(): Promise<Spend> {
    const [row] = await this
      .sql`select calls, tokens, cost_usd from llm_usage where day = (now() at time zone 'UTC')::date`
    return row
      ? { calls: row.calls, tokens: Number(row.tokens), costUsd: Number(row.cost_usd) }
      : { calls: 0, tokens: 0, costUsd: 0 }
  }
}
