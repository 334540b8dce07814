// Serves the built dashboard from memory, so that a new build under a running server breaks nothing.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { Problem } from './errors.ts'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
}
const COMPRESSIBLE = new Set(['.html', '.js', '.css', '.svg', '.json', '.txt'])

interface File {
  type: string
  isHashed: boolean
  etag: string
  plain: Buffer
  br: Buffer | null
  gzip: Buffer | null
}

export interface DashboardFiles {
  files: Map<string, File>
  /** changes with every build */
  build: string
}

export async function loadDashboard(folder: string): Promise<DashboardFiles> {
  const files = new Map<string, File>()
  const hash = createHash('sha256')
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const url = `/${relative(folder, path).replaceAll('\\', '/')}`
    const plain = await readFile(path)
    const isCompressible = COMPRESSIBLE.has(extname(url))
    hash.update(url).update(plain)
    files.set(url, {
      type: TYPES[extname(url)] ?? 'application/octet-stream',
      isHashed: url.startsWith('/assets/'),
      etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
      plain,
      br: isCompressible ? brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }) : null,
      gzip: isCompressible ? gzipSync(plain) : null,
    })
  }
  return { files, build: hash.digest('hex').slice(0, 12) }
}

/** Their last part is an agent's name, in which a point may stand: it is no file. */
const NAMED_PAGE = /^\/(agents|prompts)\/[^/]+$/

export function dashboardRoutes(app: FastifyInstance, { files }: DashboardFiles): void {
  app.get('/*', (request, reply) => {
    const path = request.url.split('?')[0]!
    const wantsPage =
      (request.headers.accept ?? '').includes('text/html') ||
      request.headers.accept === '*/*' ||
      !request.headers.accept
    const isPagePath =
      !path.startsWith('/api/') && !path.startsWith('/assets/') && (extname(path) === '' || NAMED_PAGE.test(path))
    const file = files.get(path) ?? (isPagePath && wantsPage ? files.get('/index.html') : undefined)
    if (!file) throw noRoute(request)
    void reply
      .header('content-type', file.type)
      .header('cache-control', file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      .header('etag', file.etag)
      .header('vary', 'accept-encoding')
    if (request.headers['if-none-match'] === file.etag) return reply.code(304).send()
    const accepted = request.headers['accept-encoding'] ?? ''
    const encoding = file.br && /\bbr\b/.test(accepted) ? 'br' : file.gzip && /\bgzip\b/.test(accepted) ? 'gzip' : null
    if (encoding) void reply.header('content-encoding', encoding)
    return reply.send(encoding ? file[encoding] : file.plain)
  })
}

const METHODS: [path: RegExp, methods: string][] = [
  [/^\/api\/ingest\/platform-[ab]\/?$/, 'POST'],
  [/^\/api\/prompts\/active\/?$/, 'GET'],
  [/^\/graphql\/?$/, 'GET, POST'],
  [/^\/api\/auth\/(sign-in|sign-out(-elsewhere|-everywhere)?|set-up|link|use-link|password)$/, 'POST'],
  [
    /^\/(api\/auth\/state|healthz|readyz|metrics)$|^\/(sessions|agents|failures|prompts|alerts|ingest-log|connect|settings|invitation|new-password)(\/|$)/,
    'GET',
  ],
]

/** What is said to a request that no route takes: another method, or nothing there. */
export function noRoute({ method, url }: { method: string; url: string }): Problem {
  const path = url.split('?')[0]!
  const named = path.slice(0, 80)
  const allow = METHODS.find(([pattern]) => pattern.test(path))?.[1]
  if (allow && !allow.split(', ').includes(method)) {
    return new Problem(
      'method_not_allowed',
      `${method} is not possible at ${named}; use ${allow.replace(', ', ' or ')}.`,
      [],
      { allow },
    )
  }
  const where = 'Events go to POST /api/ingest/platform-a or POST /api/ingest/platform-b'
  return new Problem('not_found', `There is nothing at ${named}. ${where}.`)
}
