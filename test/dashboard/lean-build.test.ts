// What a build takes out of the documents changes nothing that the server reads.
import { readdirSync, readFileSync } from 'node:fs'
import { parse, print } from 'graphql'
import { expect, test } from 'vitest'
import { shortDocument } from '../../dashboard/lean-build.ts'

const folder = new URL('../../dashboard/', import.meta.url)
const documents = readdirSync(folder)
  .filter((name) => /^queries.*\.ts$/.test(name))
  .flatMap((name) => [...readFileSync(new URL(name, folder), 'utf8').matchAll(/`([^`]*)`/g)].map((found) => found[1]!))

test('a document says the same when it is short, and nothing else in these files is in backticks', () => {
  expect(documents.length).toBeGreaterThan(50)
  for (const document of documents) {
    const short = shortDocument(document)
    expect(short).not.toMatch(/\n| {2}/)
    expect(print(parse(short))).toBe(print(parse(document)))
  }
})
