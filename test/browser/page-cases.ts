// Every page of the dashboard: where it is, what stands on it, and what it says to whom.
export interface PageCase {
  /** `SESSION` stands for a session that is there. */
  path: string
  heading: string | RegExp
  /** Seen once all is read. */
  ready: string | RegExp
  /** Said where there is nothing yet. */
  empty?: string | RegExp
  /** Said to a viewer. */
  viewer?: RegExp
  /** What a viewer has no button for. */
  adminOnly?: RegExp
  /** It reads nothing, so nothing of it can be late or fail. */
  readsNothing?: true
  /** Examined cut off and refused; as it usually is, every page is in another test. */
  axe?: true
}

export const PAGES: Record<string, PageCase> = {
  sessions: { path: '/', heading: 'Sessions', ready: 'Ready agent', empty: 'No sessions yet', axe: true },
  session: { path: 'SESSION', heading: /ready/, ready: 'step one', empty: 'This session is not stored' },
  agents: { path: '/agents', heading: 'Agents', ready: 'Ready agent', axe: true },
  agent: { path: '/agents/Ready%20agent', heading: 'Ready agent', ready: 'gone' },
  failures: { path: '/failures', heading: 'Failures', ready: /of \d+ run/, empty: 'Nothing has failed yet' },
  prompts: {
    path: '/prompts',
    heading: 'Prompts',
    ready: 'Prompted',
    empty: 'No prompt has been proposed yet',
    viewer: /Only admins decide about prompts/,
    adminOnly: /Write a version/,
  },
  'prompts of an agent': {
    path: '/prompts/Prompted',
    heading: 'Prompted',
    ready: 'Version 1',
    viewer: /Only admins decide about prompts/,
    adminOnly: /Write|Activate|Retire/,
  },
  alerts: {
    path: '/alerts',
    heading: 'Alerts',
    ready: 'High and critical failures',
    viewer: /Only admins change rules/,
    adminOnly: /New (rule|channel)|^Edit/,
  },
  deliveries: {
    path: '/alerts/deliveries',
    heading: 'Alerts',
    ready: 'Nobody has been told of anything',
    empty: 'Nobody has been told of anything',
  },
  connect: { path: '/connect', heading: 'Connect', ready: /Received/, axe: true },
  'ingest log': { path: '/ingest-log', heading: 'Ingest log', ready: 'Accepted', empty: 'Nothing was posted lately' },
  'keys and data': {
    path: '/settings',
    heading: 'Settings',
    ready: 'Mask credentials',
    viewer: /only admins see and create them/,
    adminOnly: /Create key|^Revoke|^Save/,
  },
  people: {
    path: '/settings/people',
    heading: 'Settings',
    ready: 'People',
    viewer: /[Oo]nly admins/,
    adminOnly: /invitation|Remove/,
    axe: true,
  },
  thresholds: {
    path: '/settings/thresholds',
    heading: 'Settings',
    ready: 'Limits of',
    viewer: /Only admins fix limits/,
    adminOnly: /^Save/,
  },
  prices: {
    path: '/settings/prices',
    heading: 'Settings',
    ready: 'Own prices',
    viewer: /Only admins set prices/,
    adminOnly: /^(Save|Add|Apply|Remove)/,
  },
  candidates: {
    path: '/settings/candidates',
    heading: 'Settings',
    ready: 'Make a candidate',
    viewer: /Only admins set this/,
    adminOnly: /^Save/,
  },
  preferences: {
    path: '/settings/preferences',
    heading: 'Settings',
    ready: /Now it is/,
    axe: true,
    readsNothing: true,
  },
  account: { path: '/settings/account', heading: 'Settings', ready: /\(this one\)/, axe: true },
  unknown: {
    path: '/nowhere',
    heading: 'There is no such page',
    ready: 'All sessions',
    readsNothing: true,
    axe: true,
  },
  'unknown below a page': {
    path: '/settings/nowhere',
    heading: 'There is no such page',
    ready: 'All sessions',
    readsNothing: true,
  },
}
