// Channels: where people are told. Addresses and signing secrets are sealed, and opened only to send.
import { randomBytes, randomUUID } from 'node:crypto'
import type { Sql } from '../database/connect.ts'
import type { ChannelKind } from './alert.ts'
import { SealError, type Seal } from './sealed.ts'

export interface Channel {
  id: string
  projectId: number
  name: string
  kind: ChannelKind
  /** what may be read of its address */
  shown: string
  /** the last characters of its signing secret */
  secretSuffix: string | null
  isEnabled: boolean
  pausedUntil: Date | null
  updatedAt: Date
  updatedBy: string
  /** a sentence where this server cannot open its address */
  problem: string | null
}

/** Where a message goes, opened. */
export type Target =
  { kind: 'WEBHOOK'; url: string; secret: string } | { kind: 'SLACK'; url: string } | { kind: 'EMAIL'; to: string[] }

const MAX_ADDRESSES = 20
const SUFFIX = 4

/** A sentence that says what is wrong, else null. */
export function targetProblem(target: Target, { canMail }: { canMail: boolean }): string | null {
  if (target.kind === 'EMAIL') {
    if (!canMail) return 'This server sends no mail yet: set SMTP_URL and SMTP_FROM and start it again.'
    if (target.to.length < 1 || target.to.length > MAX_ADDRESSES)
      return `An e-mail channel has 1 to ${MAX_ADDRESSES} addresses, not ${target.to.length}.`
    const wrong = target.to.find(
      (one) => one.length > 254 || !/^(?!.*\p{Cc})[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/u.test(one),
    )
    return wrong === undefined ? null : `"${wrong.slice(0, 80)}" is not an e-mail address like ops@example.com.`
  }
  if (target.url.length > 2_000 || !URL.canParse(target.url))
    return `url must be an address like https://example.com/hook, not "${target.url.slice(0, 8)}".`
  const { protocol } = new URL(target.url)
  if (protocol !== 'https:' && protocol !== 'http:')
    return `url must begin with https:// or http://, not ${protocol}//.`
  if (target.kind === 'WEBHOOK' && !isSecret(target.secret))
    return 'secret must be whsec_ and base64 of 24 to 64 bytes, as Standard Webhooks say; leave it out to have one made.'
  return null
}

export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

function isSecret(secret: string): boolean {
  const [, base64 = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  const { length } = Buffer.from(base64, 'base64')
  return base64.length % 4 === 0 && length >= 24 && length <= 64
}

/** Of a URL its host and its end: whoever knows the whole may post to it. */
function shownOf(target: Target): string {
  if (target.kind === 'EMAIL') return target.to.join(', ')
  const { protocol, host, pathname, search } = new URL(target.url)
  const rest = pathname + search
  return `${protocol}//${host}/${rest.length > 2 * SUFFIX + 1 ? `…${rest.slice(-SUFFIX)}` : rest.length > 1 ? '…' : ''}`
}

export class Channels {
  constructor(
    private readonly sql: Sql,
    private readonly seal: Seal,
  ) {}

  async list(projectIds: number[]): Promise<Channel[]> {
    const rows = await this.sql`
      select * from channels where project_id = any(${projectIds}::int2[]) and deleted_at is null order by lower(name)`
    return rows.map((row) => this.channelOf(row))
  }

  async find(id: string): Promise<Channel | null> {
    const [row] = await this.sql`select * from channels where id = ${id} and deleted_at is null`
    return row ? this.channelOf(row) : null
  }

  /** @returns null where the project has one of this name */
  async create(projectId: number, name: string, target: Target, who: string): Promise<Channel | null> {
    const id = randomUUID()
    const [row] = await this.sql`
      insert into channels (id, project_id, name, kind, shown, secret_suffix, sealed, updated_by)
      values (${id}, ${projectId}, ${name}, ${target.kind}, ${shownOf(target)}, ${suffixOf(target)},
        ${this.seal.seal(JSON.stringify(target), id)}, ${who})
      on conflict do nothing returning *`
    return row ? this.channelOf(row) : null
  }

  /** What is switched off tells nobody, nor later what it was to tell meanwhile. @returns null as \`create\` does */
  async update(
    { id }: Channel,
    changes: { name: string; isEnabled: boolean; target: Target | null },
    who: string,
  ): Promise<Channel | null> {
    const { name, isEnabled, target } = changes
    return await this.sql.begin(async (tx) => {
      const [other] = await tx`
        select from channels c join channels o on o.project_id = c.project_id and lower(o.name) = lower(${name})
        where c.id = ${id} and o.id <> c.id and o.deleted_at is null`
      if (other) return null
      const [row] = await tx`
        update channels set name = ${name}, is_enabled = ${isEnabled}, updated_by = ${who}, updated_at = now()
          ${
            target
              ? tx`, shown = ${shownOf(target)}, secret_suffix = ${suffixOf(target)}, paused_until = null,
                sealed = ${this.seal.seal(JSON.stringify(target), id)}`
              : tx``
          }
        where id = ${id} and deleted_at is null returning *`
      if (row && !isEnabled) await stopQueued(tx as unknown as Sql, id)
      return row ? this.channelOf(row) : null
    })
  }

  /** Its secrets go at once; what was told through it is kept. Rules that would tell nobody any more are switched off. */
  async delete(id: string, who: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      await tx`
        update channels set deleted_at = now(), is_enabled = false, sealed = '', secret_suffix = null, updated_by = ${who}
        where id = ${id} and deleted_at is null`
      await tx`
        update alert_rules set channel_ids = array_remove(channel_ids, ${id}),
          is_enabled = is_enabled and cardinality(array_remove(channel_ids, ${id})) > 0
        where ${id} = any(channel_ids)`
      await stopQueued(tx as unknown as Sql, id)
    })
  }

  /** @throws SealError */
  async target(id: string): Promise<Target | null> {
    const [row] = await this.sql`select sealed from channels where id = ${id} and deleted_at is null`
    return row ? this.open(id, row.sealed) : null
  }

  private channelOf(row: Record<string, any>): Channel {
    try {
      this.open(row.id, row.sealed)
      return channelOf(row, null)
    } catch (error) {
      if (error instanceof SealError) return channelOf(row, error.message)
      throw error
    }
  }

  /** @throws SealError */
  open(id: string, sealed: string): Target {
    return JSON.parse(this.seal.open(sealed, id)) as Target
  }
}

const stopQueued = (tx: Sql, channelId: string) => tx`
  update deliveries set state = 'SUPPRESSED', suppressed_by = 'CHANNEL_OFF', next_attempt_at = null, settled_at = now()
  where channel_id = ${channelId} and state = 'QUEUED'`

const suffixOf = (target: Target) => (target.kind === 'WEBHOOK' ? target.secret.slice(-SUFFIX) : null)

const channelOf = (row: Record<string, any>, problem: string | null): Channel => ({
  id: row.id,
  projectId: row.project_id,
  name: row.name,
  kind: row.kind,
  shown: row.shown,
  secretSuffix: row.secret_suffix,
  isEnabled: row.is_enabled,
  pausedUntil: row.paused_until,
  updatedAt: row.updated_at,
  updatedBy: row.updated_by,
  problem,
})
