// Owns every URL of the dashboard: how it is built and how it is read.
import { filterToQuery, type ListFilter } from './rules/session-filter.ts'
import { logFilterToQuery, type LogFilter } from './rules/log-filter.ts'
import type { AgentRange } from './rules/agent-range.ts'
import type { DeliveryFilter } from './rules/delivery-filter.ts'

const settingsSections = ['people', 'thresholds', 'prices', 'candidates', 'preferences', 'account'] as const
export type SettingsSection = '' | (typeof settingsSections)[number]

/** Pages whose address is their name alone. */
const plainPages = [
  'agents',
  'failures',
  'ingest-log',
  'connect',
  'sign-in',
  'set-up',
  'invitation',
  'new-password',
] as const

export type Route =
  | { page: 'sessions' }
  | { page: 'session'; id: string }
  | { page: 'agents' }
  | { page: 'agent'; name: string }
  | { page: 'failures' }
  /** Without an agent the list of them. */
  | { page: 'prompts'; agent: string }
  | { page: 'ingest-log' }
  | { page: 'alerts'; section: '' | 'deliveries' }
  | { page: 'connect' }
  | { page: 'settings'; section: SettingsSection }
  | { page: 'sign-in' }
  | { page: 'set-up' }
  /** One-time links: to join, and to set a new password. */
  | { page: 'invitation' | 'new-password' }
  | { page: 'unknown' }

const withQuery = (path: string, query: URLSearchParams) => (query.size > 0 ? `${path}?${query}` : path)

export const paths = {
  sessions: (filter: Partial<ListFilter> = {}) => withQuery('/sessions', filterToQuery(filter)),
  session: (id: string, view: { step?: string | null; axis?: string; idle?: string } = {}) => {
    const query = new URLSearchParams()
    if (view.step) query.set('step', view.step)
    if (view.axis === 'whole') query.set('axis', 'whole')
    if (view.idle === 'short') query.set('idle', 'short')
    return withQuery(`/sessions/${encodeURIComponent(id)}`, query)
  },
  agents: (range?: AgentRange, sort?: string | null) =>
    withQuery('/agents', new URLSearchParams({ ...(range && range !== '7d' && { range }), ...(sort && { sort }) })),
  /** @param project where several have an agent of this name */
  agent: (name: string, range?: AgentRange, project?: string | null, view?: string | null) => {
    const query = new URLSearchParams(range && range !== '7d' ? { range: range === 'all' ? '30d' : range } : {})
    if (project) query.set('project', project)
    if (view) query.set('view', view)
    return withQuery(`/agents/${encodeURIComponent(name)}`, query)
  },
  ingestLog: (filter: Partial<LogFilter> = {}, request?: string | null) => {
    const query = logFilterToQuery(filter)
    if (request) query.set('request', request)
    return withQuery('/ingest-log', query)
  },
  /** With `pattern=` and its id one is open. */
  failures: (query = new URLSearchParams()) => withQuery('/failures', query),
  /** With `write=` the form for a version by hand is open. */
  prompts: (query = new URLSearchParams()) => withQuery('/prompts', query),
  /** @param project where there are several */
  promptsOf: (agent: string, view: { project?: string | null; version?: number | null; write?: boolean } = {}) => {
    const query = new URLSearchParams()
    if (view.project) query.set('project', view.project)
    if (view.version) query.set('version', String(view.version))
    if (view.write) query.set('write', '')
    return withQuery(`/prompts/${encodeURIComponent(agent)}`, query)
  },
  /** With `rule=` or `channel=` and an id, or `new`, its form is open. */
  alerts: (query = new URLSearchParams()) => withQuery('/alerts', query),
  /** @param delivery the one that is open beside the log */
  deliveries: (filter: DeliveryFilter = {}, delivery?: string | null) => {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, value ?? '')
    if (delivery) query.set('delivery', delivery)
    return withQuery('/alerts/deliveries', query)
  },
  /** @param recipe whose tab is open */
  connect: (recipe?: 'zapier' | 'n8n' | 'curl') => `/connect${recipe ? `?with=${recipe}` : ''}`,
  settings: (section: SettingsSection = '') => `/settings${section && '/'}${section}`,
  thresholds: (query = new URLSearchParams()) => withQuery('/settings/thresholds', query),
  candidateRules: (query = new URLSearchParams()) => withQuery('/settings/candidates', query),
  signIn: (returnTo?: string) =>
    withQuery('/sign-in', new URLSearchParams(returnTo && returnTo !== '/' ? { return: returnTo } : {})),
  setUp: () => '/set-up',
}

/** The prompts of an agent, open at one version. */
export const promptPath = (agent: string, version?: number) =>
  `/prompts/${encodeURIComponent(agent)}${version === undefined ? '' : `?version=${version}`}`

export function readRoute(pathname: string): Route {
  const [, first = '', second, ...rest] = pathname.replace(/\/+$/, '').split('/')
  if (rest.length > 0) return { page: 'unknown' }
  if (first === 'sessions' && second) return { page: 'session', id: decode(second) }
  if (first === 'agents' && second) return { page: 'agent', name: decode(second) }
  if (first === 'prompts') return { page: first, agent: decode(second ?? '') }
  if ((first === 'settings' || first === 'alerts') && !second) return { page: first, section: '' }
  if (first === 'alerts' && second === 'deliveries') return { page: first, section: second }
  const section = first === 'settings' && settingsSections.find((each) => each === second)
  if (section) return { page: first, section }
  if (second) return { page: 'unknown' }
  if (first === '' || first === 'sessions') return { page: 'sessions' }
  const page = plainPages.find((each) => each === first)
  return { page: page ?? 'unknown' }
}

/** Only a path of this dashboard: a link must not lead a person who signs in to another site. */
export function safeReturn(returnTo: string | null): string {
  return returnTo && /^\/(?![/\\])/.test(returnTo) && !returnTo.startsWith('/sign-in') ? returnTo : '/'
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
