// How well fingerprints keep equal errors together and different ones apart: a corpus by hand, and every recording.
import { describe, expect, test } from 'vitest'
import { causeOf } from '../../server/failures/causes.ts'
import { fingerprintOfError } from '../../server/failures/fingerprint.ts'
import { parsePlatformB } from '../../server/ingest/platform-b.ts'
import { platformBRecordings } from '../fixtures/recordings.ts'
import { parseContext } from '../support/parse-context.ts'
import type { CorpusError } from './error-corpus-variants.ts'
import { HELD_OUT_ERRORS } from './error-corpus-held-out.ts'
import { ERRORS } from './error-corpus.ts'

/** One text of an error, as a failed run has it. */
interface Sample {
  error: string
  subject: string | null
  text: string
  fingerprint: string
}

/** The category is the same for all, so that it tells nothing apart. */
function sampleOf(
  error: string,
  subject: string | null,
  text: string,
  httpStatus: string | null,
  name: string | null,
): Sample {
  const cause = causeOf(text, httpStatus, name)
  const fingerprint = fingerprintOfError({ category: 'TOOL_FAILURE', cause, subject, text, httpStatus })
  return { error, subject, text, fingerprint }
}

const samplesOf = (errors: CorpusError[]) =>
  errors.flatMap((one) => one.texts.map((text) => sampleOf(one.name, one.subject, text, one.httpStatus, null)))

/** Every error of a node in the recordings. Nothing says that two texts are the same error, unless they are equal. */
function recordedSamples(): Sample[] {
  const context = parseContext({ receivedAt: Date.parse('2026-11-21T12:00:00Z'), arrivalUs: 0 })
  const found = new Map<string, Sample>()
  for (const { value } of platformBRecordings)
    for (const session of parsePlatformB({ execution: value }, context).sessions)
      for (const { name: node, error } of session.events) {
        if (error === null) continue
        const label = `recorded at ${node}: ${error.message}`
        found.set(label, sampleOf(label, node, error.message, error.httpStatus, error.name))
      }
  return [...found.values()]
}

function groupBy(samples: Sample[], key: 'error' | 'fingerprint'): Map<string, Sample[]> {
  const groups = new Map<string, Sample[]>()
  for (const one of samples) groups.set(one[key], [...(groups.get(one[key]) ?? []), one])
  return groups
}
const distinct = (samples: Sample[], key: 'error' | 'fingerprint') => [...groupBy(samples, key).keys()]

const short = (text: string) => JSON.stringify(text.length > 150 ? `${text.slice(0, 150)}…` : text)

/** A share of pairs; one of no pairs is 1. */
interface Share {
  right: number
  pairs: number
}
const valueOf = ({ right, pairs }: Share) => (pairs === 0 ? 1 : right / pairs)
const shareText = (share: Share) => `${valueOf(share).toFixed(4)} (${share.right} of ${share.pairs} pairs)`

function measure(title: string, samples: Sample[]) {
  const together: Share = { right: 0, pairs: 0 }
  const apart: Share = { right: 0, pairs: 0 }
  const apartAtNode: Share = { right: 0, pairs: 0 }
  samples.forEach((one, i) => {
    for (const other of samples.slice(i + 1)) {
      const isSame = one.error === other.error
      const isGrouped = one.fingerprint === other.fingerprint
      const shares = isSame ? [together] : one.subject === other.subject ? [apart, apartAtNode] : [apart]
      for (const share of shares) {
        share.pairs += 1
        share.right += Number(isSame === isGrouped)
      }
    }
  })
  const errors = [...groupBy(samples, 'error')]
  const split = errors.filter(([, texts]) => distinct(texts, 'fingerprint').length > 1)
  const groups = [...groupBy(samples, 'fingerprint').values()]
  const mixed = groups.filter((texts) => distinct(texts, 'error').length > 1)
  console.log(
    [
      `${title}: ${errors.length} errors, ${samples.length} texts, ${groups.length} groups`,
      `  the same error together:            ${shareText(together)}`,
      `  different errors apart:             ${shareText(apart)}`,
      `  different errors of one node apart: ${shareText(apartAtNode)}`,
      `  errors wholly in one group: ${errors.length - split.length}; groups with several errors: ${mixed.length}`,
      ...split.flatMap(([error, texts]) => {
        const parts = [...groupBy(texts, 'fingerprint').values()]
        return [
          `  split into ${parts.length}: ${error}`,
          ...parts.map((part) => `    ${part.length} × ${short(part[0]!.text)}`),
        ]
      }),
      ...mixed.map((texts) => `  mixed: ${distinct(texts, 'error').join(' + ')}`),
    ].join('\n'),
  )
  return { together: valueOf(together), apart: valueOf(apart), apartAtNode: valueOf(apartAtNode) }
}

test('the corpus and all recordings: equal errors fall together, different ones apart', () => {
  const recorded = recordedSamples()
  expect(recorded.length).toBeGreaterThan(10)
  const shares = measure('Corpus and recordings', [...samplesOf(ERRORS), ...recorded])
  expect.soft(shares.together).toBeGreaterThanOrEqual(0.98)
  expect.soft(shares.apart).toBeGreaterThanOrEqual(0.98)
  // Pairs of two nodes are apart for free: this is what the text has to do.
  expect.soft(shares.apartAtNode).toBeGreaterThanOrEqual(0.98)
})

test('the held-out corpus, against which nothing was tuned', () => {
  const shares = measure('Held out', samplesOf(HELD_OUT_ERRORS))
  expect.soft(shares.together).toBeGreaterThanOrEqual(0.95)
  expect.soft(shares.apart).toBeGreaterThanOrEqual(0.95)
})

describe.each([
  ['the corpus', ERRORS, 45],
  ['the held-out corpus', HELD_OUT_ERRORS, 20],
])('%s', (_title, errors, least) => {
  test('has enough errors, each with its own name and several texts', () => {
    expect(errors.length).toBeGreaterThanOrEqual(least)
    expect(new Set(errors.map((one) => one.name)).size).toBe(errors.length)
    expect(errors.filter((one) => one.texts.length < 5 || one.texts.length > 8)).toEqual([])
  })

  test('says every text once, and the same thing of no two errors', () => {
    const said = errors.flatMap((one) => one.texts.map((text) => JSON.stringify([one.subject, one.httpStatus, text])))
    expect(said.filter((one, i) => said.indexOf(one) !== i)).toEqual([])
  })
})
