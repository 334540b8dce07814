// `npm run schema`: writes schema.graphql from the code. A test compares the two.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { schema } from './schema.ts'

export const printedSchema = () => `${printSchema(lexicographicSortSchema(schema))}\n`

const file = fileURLToPath(new URL('../../schema.graphql', import.meta.url))
if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(file, printedSchema())
