// The only reader of the environment: every setting, its default and its check, once, frozen.
import { resolve } from 'node:path'
import { z } from 'zod'

const text = z
  .string()
  .optional()
  .transform((value) => value?.trim() || undefined)
const whole = (from: number, to: number, fallback: number) =>
  text
    .refine((value) => value === undefined || (/^\d+$/.test(value) && +value >= from && +value <= to), {
      error: (issue) => `must be a whole number from ${from} to ${to}, not ${JSON.stringify(issue.input)}`,
    })
    .transform((value) => (value === undefined ? fallback : Number(value)))
const yesNo = (fallback: boolean) =>
  text
    .refine((value) => value === undefined || /^(true|false|1|0|yes|no)$/i.test(value), 'must be true or false')
    .transform((value) => (value === undefined ? fallback : /^(true|1|yes)$/i.test(value)))
const url = (protocols: RegExp, example: string) =>
  text.refine((value) => value === undefined || (protocols.test(value) && URL.canParse(value)), {
    error: `must be an address like ${example}`,
  })

/** As the host of a URL stands once it was read. */
function readHost(host: string): string | null {
  const bare = host.trim()
  if (bare.includes('*')) return null
  const address = `http://${bare.includes(':') && !bare.startsWith('[') ? `[${bare}]` : bare}/`
  if (!URL.canParse(address)) return null
  const { hostname, href } = new URL(address)
  return href === `http://${hostname}/` ? hostname : null
}

/** How many proxies of one's own stand in front; what comes from beyond them may be made up. */
const proxies = text
  .refine((value) => value === undefined || /^(true|false|[0-9])$/i.test(value), {
    error: 'must be true or false, or the number of proxies in front (0 to 9)',
  })
  .transform((value) => (/^\d$/.test(value ?? '') ? Number(value) : Number(value?.toLowerCase() === 'true')))

const environment = z
  .object({
    PORT: whole(0, 65535, 4000),
    HOST: text.transform((value) => value ?? '127.0.0.1'),
    DATABASE_URL: url(/^postgres(ql)?:\/\//, 'postgres://user:password@host:5432/runwatch'),
    DATABASE_PREPARE: yesNo(true),
    DATA_DIR: text.transform((value) => resolve(value ?? 'data')),
    PUBLIC_URL: url(/^https?:\/\//, 'https://runwatch.example.com').transform((value) => value?.replace(/\/+$/, '')),
    TRUST_PROXY: proxies,
    INIT_API_KEY: text.refine((value) => value === undefined || /^[\x21-\x7e]{24,200}$/.test(value), {
      error: 'must be 24 to 200 visible characters',
    }),
    INIT_ADMIN_EMAIL: text.refine(
      (value) => value === undefined || /^\S+@\S+$/.test(value),
      'must be an e-mail address',
    ),
    INIT_ADMIN_PASSWORD: text.refine((value) => value === undefined || value.length >= 12, {
      error: 'must have at least 12 characters',
    }),
    SECRET_KEY: text.refine((value) => value === undefined || value.length >= 16, {
      error: 'must have at least 16 characters, better 32 random ones',
    }),
    SMTP_URL: url(/^smtps?:\/\/[^/]/, 'smtp://user:password@mail.example.com:587'),
    SMTP_FROM: text.refine((value) => value === undefined || /^([^<>\r\n]*<)?[^\s<>@]+@[^\s<>@]+>?$/.test(value), {
      error: 'must be an e-mail address like Runwatch <runwatch@example.com>',
    }),
    ALLOWED_PRIVATE_HOSTS: text
      .refine((value) => value === undefined || value.split(',').every((host) => readHost(host) !== null), {
        error: 'must be names or addresses of hosts with commas between, like 127.0.0.1, chat.internal',
      })
      .transform((value) => new Set(value?.split(',').flatMap((host) => readHost(host) ?? []))),
    LLM_BASE_URL: url(/^https?:\/\//, 'https://api.openai.com/v1').transform((value) => value?.replace(/\/+$/, '')),
    LLM_API_KEY: text.refine((value) => value === undefined || /^[\x21-\x7e]{1,1000}$/.test(value), {
      error: 'must be visible characters without spaces',
    }),
    LLM_MODEL: text,
    LLM_TOKENS_PER_DAY: whole(0, 1_000_000_000, 200_000),
    LLM_USD_PER_DAY: text
      .refine((value) => value === undefined || /^\d{1,6}(\.\d{1,6})?$/.test(value), {
        error: 'must be a number of USD like 2.50',
      })
      .transform((value) => Number(value ?? 1)),
    LLM_TIMEOUT_SECONDS: whole(1, 600, 60),
    RATE_LIMIT_PER_MINUTE: whole(1, 1_000_000_000, 300_000),
    SIGN_IN_TRIES_PER_MINUTE: whole(1, 1_000_000, 10),
    INTROSPECTION: yesNo(true),
    RUNWATCH_URL: url(/^https?:\/\//, 'http://127.0.0.1:4000').transform((value) => value?.replace(/\/+$/, '')),
    RUNWATCH_KEY: text,
    npm_lifecycle_event: text,
    LOG_LEVEL: text
      .refine((value) => value === undefined || /^(fatal|error|warn|info|debug|trace|silent)$/.test(value), {
        error: 'must be fatal, error, warn, info, debug, trace or silent',
      })
      .transform((value) => value ?? 'info'),
  })
  .refine((env) => !env.INIT_ADMIN_EMAIL === !env.INIT_ADMIN_PASSWORD, {
    error: 'INIT_ADMIN_EMAIL and INIT_ADMIN_PASSWORD belong together: set both or neither',
  })
  .refine((env) => !env.SMTP_URL === !env.SMTP_FROM, {
    error: 'SMTP_URL and SMTP_FROM belong together: set both or neither',
  })
  .refine((env) => !(env.LLM_BASE_URL ?? env.LLM_API_KEY) === !env.LLM_MODEL, {
    error: 'LLM_MODEL belongs to LLM_API_KEY or LLM_BASE_URL: name the model, and the key or the server that has it',
  })

export class ConfigError extends Error {}

/** @throws ConfigError with one sentence per wrong setting */
export function readConfig(env: Record<string, string | undefined> = process.env) {
  const result = environment.safeParse(env)
  if (!result.success) {
    throw new ConfigError(
      result.error.issues.map((issue) => [issue.path.join('.'), issue.message].filter(Boolean).join(' ')).join('\n'),
    )
  }
  const e = result.data
  return Object.freeze({
    port: e.PORT,
    host: e.HOST,
    databaseUrl: e.DATABASE_URL ?? null,
    databasePrepare: e.DATABASE_PREPARE,
    dataDir: e.DATA_DIR,
    publicUrl: e.PUBLIC_URL ?? null,
    trustProxy: e.TRUST_PROXY,
    initApiKey: e.INIT_API_KEY ?? null,
    initAdmin: e.INIT_ADMIN_EMAIL ? { email: e.INIT_ADMIN_EMAIL, password: e.INIT_ADMIN_PASSWORD! } : null,
    secretKey: e.SECRET_KEY ?? null,
    smtp: e.SMTP_URL ? { url: e.SMTP_URL, from: e.SMTP_FROM! } : null,
    llm: e.LLM_MODEL
      ? {
          provider: {
            baseUrl: e.LLM_BASE_URL ?? 'https://api.openai.com/v1',
            // Servers of one's own often ask for none; the client wants one.
            apiKey: e.LLM_API_KEY ?? 'none',
            model: e.LLM_MODEL,
            timeoutMs: 1_000 * e.LLM_TIMEOUT_SECONDS,
          },
          limits: { tokensPerDay: e.LLM_TOKENS_PER_DAY, usdPerDay: e.LLM_USD_PER_DAY },
        }
      : null,
    allowedPrivateHosts: e.ALLOWED_PRIVATE_HOSTS as ReadonlySet<string>,
    rateLimitPerMinute: e.RATE_LIMIT_PER_MINUTE,
    signInTriesPerMinute: e.SIGN_IN_TRIES_PER_MINUTE,
    introspection: e.INTROSPECTION,
    logLevel: e.LOG_LEVEL,
    demoUrl: e.RUNWATCH_URL ?? null,
    demoKey: e.RUNWATCH_KEY ?? null,
    isStartedByNpm: e.npm_lifecycle_event !== undefined,
  })
}

export type Config = ReturnType<typeof readConfig>
