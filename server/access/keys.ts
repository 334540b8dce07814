// API keys and the projects they belong to: made once, kept as a hash, looked up from memory.
import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Sql } from '../database/connect.ts'
import { Problem } from '../errors.ts'

export type KeyScope = 'INGEST' | 'READ'

export interface ApiKey {
  id: string
  projectId: number
  project: string
  name: string
  /** the first characters, to tell keys apart */
  prefix: string
  scopes: KeyScope[]
  createdAt: Date
  lastUsedAt: Date | null
  revokedAt: Date | null
}

const RELOAD_UNKNOWN_AFTER_MS = 1_000

const hashOf = (secret: string) => hash('sha256', secret, 'buffer')

export class KeyRing {
  private byHash = new Map<string, { hash: Buffer; key: ApiKey }>()
  /** id -> name of every project */
  projects: ReadonlyMap<number, string> = new Map()
  private used = new Map<string, number>()
  private loadedAt = 0
  private loads = 0
  private newestLoad = 0

  constructor(
    private readonly sql: Sql,
    private readonly onChanged: () => void,
  ) {}

  /** Reads all keys anew; call it at start and when another server says that keys changed. */
  async load(): Promise<void> {
    const turn = ++this.loads
    const rows = await this.sql`
      select k.id, k.project_id, p.name as project, k.name, k.prefix, k.hash, k.scopes, k.created_at, k.last_used_at, k.revoked_at
      from api_keys k join projects p on p.id = k.project_id`
    const projects = await this.sql`select id, name from projects order by id`
    // A load that was overtaken holds older rows: a key made meanwhile would be unknown again.
    if (turn < this.newestLoad) return
    this.newestLoad = turn
    this.projects = new Map(projects.map((row) => [row.id, row.name]))
    this.byHash = new Map(
      rows.map((row) => [
        (row.hash as Buffer).toString('hex'),
        {
          hash: row.hash,
          key: {
            id: row.id,
            projectId: row.project_id,
            project: row.project,
            name: row.name,
            prefix: row.prefix,
            scopes: row.scopes,
            createdAt: row.created_at,
            lastUsedAt: row.last_used_at,
            revokedAt: row.revoked_at,
          },
        },
      ]),
    )
    this.loadedAt = Date.now()
  }

  list(): ApiKey[] {
    return [...this.byHash.values()].map(({ key }) => key).sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
  }

  /**
   * @param header the value of X-API-Key as Node gives it; two such headers are joined by ", " and so are no key
   * @throws Problem missing_api_key, invalid_api_key, revoked_api_key or wrong_scope
   */
  async authenticate(header: string | undefined, scope: KeyScope | null): Promise<ApiKey> {
    if (!header) {
      throw new Problem(
        'missing_api_key',
        'The header X-API-Key is missing. Create a key under Settings > API Key and send it with every request.',
        [],
        { 'www-authenticate': 'ApiKey realm="runwatch", header="X-API-Key"' },
      )
    }
    const key = this.known(header) ?? (await this.newlyKnown(header))
    if (!key) {
      throw new Problem(
        'invalid_api_key',
        'The key in X-API-Key is not known. Compare it with the one under Settings > API Key, without spaces or quotes around it.',
        [],
        { 'www-authenticate': 'ApiKey realm="runwatch", header="X-API-Key"' },
      )
    }
    if (key.revokedAt) {
      throw new Problem(
        'revoked_api_key',
        `The key "${key.name}" was revoked. Use another one from Settings > API Key.`,
      )
    }
    if (scope && !key.scopes.includes(scope)) {
      const needed = scope.toLowerCase()
      throw new Problem(
        'wrong_scope',
        `The key "${key.name}" does not have the scope ${needed}. Create one with it under Settings > API Key.`,
      )
    }
    this.used.set(key.id, Date.now())
    return key
  }

  private known(secret: string): ApiKey | undefined {
    const hash = hashOf(secret)
    const found = this.byHash.get(hash.toString('hex'))
    return found && timingSafeEqual(found.hash, hash) ? found.key : undefined
  }

  /** It may have been made on another server a moment ago. Asked once a second, however many unknown keys come. */
  private async newlyKnown(secret: string): Promise<ApiKey | undefined> {
    if (Date.now() - this.loadedAt <= RELOAD_UNKNOWN_AFTER_MS) return undefined
    this.loadedAt = Date.now()
    await this.load().catch(() => {})
    return this.known(secret)
  }

  /** @returns the key and, this once, its secret */
  async create(input: {
    name: string
    scopes: KeyScope[]
    project: string
    secret?: string
  }): Promise<{ apiKey: ApiKey; secret: string }> {
    const secret = input.secret ?? newSecret()
    const id = randomUUID()
    const [project] = await this.sql`
      insert into projects (name) values (${input.project}) on conflict (name) do update set name = excluded.name returning id`
    await this.sql`
      insert into api_keys (id, project_id, name, prefix, hash, scopes)
      values (${id}, ${project!.id}, ${input.name}, ${secret.slice(0, 7)}, ${hashOf(secret)}, ${input.scopes})`
    await this.load()
    this.onChanged()
    return { apiKey: this.list().find((key) => key.id === id)!, secret }
  }

  async revoke(id: string): Promise<ApiKey | undefined> {
    await this.sql`update api_keys set revoked_at = coalesce(revoked_at, now()) where id = ${id}`
    await this.load()
    this.onChanged()
    return this.list().find((key) => key.id === id)
  }

  /** Makes the key of INIT_API_KEY if there is none with this secret. */
  async ensure(secret: string): Promise<void> {
    if (this.known(secret)) return
    await this.create({ name: 'INIT_API_KEY', scopes: ['INGEST', 'READ'], project: 'default', secret }).catch(
      async (error) => {
        // Another server that starts with the same setting was faster.
        if ((error as { code?: string }).code !== '23505') throw error
        await this.load()
      },
    )
  }

  /** Writes when keys were last used; the ingest path only remembers it. */
  async flushLastUsed(): Promise<void> {
    const used = [...this.used]
    this.used.clear()
    if (used.length === 0) return
    await this.sql`
      update api_keys k set last_used_at = greatest(k.last_used_at, u.at)
      from unnest(${used.map(([id]) => id)}::uuid[], ${used.map(([, at]) => new Date(at).toISOString())}::timestamptz[]) as u (id, at)
      where k.id = u.id`
    for (const { key } of this.byHash.values()) {
      const at = used.find(([id]) => id === key.id)?.[1]
      if (at !== undefined) key.lastUsedAt = new Date(at)
    }
  }
}

/** `rw_` and 40 characters of 62: 238 bits. */
function newSecret(): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
  let secret = 'rw_'
  while (secret.length < 43) {
    // 248 is the largest multiple of 62 in a byte: what lies above would favour the first letters.
    for (const byte of randomBytes(64)) if (byte < 248 && secret.length < 43) secret += alphabet[byte % 62]
  }
  return secret
}
