// The values of an enum as the schema has them.
import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLEnumType } from 'graphql'

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))
export const schemaEnum = (name: string) =>
  (schema.getType(name) as GraphQLEnumType).getValues().map(({ name: value }) => value)
