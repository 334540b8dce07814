// The fields of the schema's roots, and which of them only an admin may ask for.
import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'

export const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))
export const ADMIN_ONLY = new Set([
  'apiKeys',
  'channels',
  'deletions',
  'describeAlertRule',
  ...['invitations', 'people'],
  'repricings',
  'retentionPreview',
  'unauthenticatedPosts',
  ...Object.keys(schema.getMutationType()!.getFields()),
])
/** They name a project, the default one where none is given: a key of another hears that there is none. */
export const OF_A_PROJECT = new Set(['unpricedModels', 'effectiveThresholds', 'thresholdPreview'])
