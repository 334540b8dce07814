// Looks for everything that could be better in one run. Pure: the same run in the same surroundings has the same findings.
import { countOf } from '../failures/words.ts'
import { FINDING_KINDS, sumOfAll, type Analysed, type Finding, type FindingKind, type Saving } from './finding.ts'
import { findCutOffOutputs, findUnusedToolAnswers } from './rules-of-answers.ts'
import { findGrowingContext, findRepeatedPrompts, findRetries, findUnpricedModels } from './rules-of-steps.ts'
import { findDearerModels, findFixedBeginnings, findUnusualCost, findUnusualDuration } from './rules-of-usual.ts'

/** What is looked for, in the words of the README. */
export const FINDING_RULES: { kind: FindingKind; looksFor: string; find(run: Analysed): Finding[] }[] = [
  {
    kind: 'REPEATED_PROMPT',
    looksFor: 'a prompt that was answered in this run and is sent again',
    find: findRepeatedPrompts,
  },
  {
    kind: 'RETRIES',
    looksFor: 'a step that failed and was tried again with the same input, and a run that repeats another',
    find: findRetries,
  },
  {
    kind: 'DEARER_MODEL',
    looksFor:
      'a model that costs at least 30 % more than one that other agents use for the same kind of work with the same success',
    find: findDearerModels,
  },
  {
    kind: 'FIXED_BEGINNING',
    looksFor: 'a beginning of 1,024 tokens or more that the last runs sent too, within an hour',
    find: findFixedBeginnings,
  },
  {
    kind: 'GROWING_CONTEXT',
    looksFor: 'a step whose prompt grows with each of 4 calls or more, to twice its size',
    find: findGrowingContext,
  },
  {
    kind: 'UNUSED_TOOL_ANSWER',
    looksFor: 'a tool that was asked for something of which no later step shows anything',
    find: findUnusedToolAnswers,
  },
  {
    kind: 'CUT_OFF_OUTPUT',
    looksFor: 'an answer that ended at the limit of tokens, or inside its JSON',
    find: findCutOffOutputs,
  },
  {
    kind: 'UNUSUAL_COST',
    looksFor: "a cost of 3 times the median of the agent's last 200 runs, and beyond the usual spread",
    find: findUnusualCost,
  },
  { kind: 'UNUSUAL_DURATION', looksFor: 'the same of the duration', find: findUnusualDuration },
  {
    kind: 'UNPRICED_MODEL',
    looksFor: 'calls with tokens of a model that has no known price',
    find: findUnpricedModels,
  },
]

const MAX_FINDINGS = 50

export interface Analysis {
  /** what saves most first */
  findings: Finding[]
  /** kinds that could not be looked for */
  notRun: { kind: FindingKind; error: unknown }[]
}

export function analyse(run: Analysed): Analysis {
  const findings: Finding[] = []
  const notRun: Analysis['notRun'] = []
  for (const { kind, find } of FINDING_RULES) {
    try {
      findings.push(...find(run))
    } catch (error) {
      notRun.push({ kind, error })
    }
  }
  return { findings: merged(findings).sort(bySaving).slice(0, MAX_FINDINGS), notRun }
}

/** One of each kind and subject; two steps may have the same name. */
function merged(findings: Finding[]): Finding[] {
  const all = new Map<string, Finding[]>()
  for (const finding of findings) {
    const key = `${finding.kind} ${finding.subject === null ? '' : `of ${finding.subject}`}`
    const same = all.get(key)
    if (same) same.push(finding)
    else all.set(key, [finding])
  }
  return [...all.values()].map((same) => {
    if (same.length === 1) return same[0]!
    const sum = (unit: keyof Saving) => sumOfAll(same.map(({ saving }) => saving[unit]))
    return {
      ...same[0]!,
      sentence: `${same[0]!.sentence} The same was seen ${countOf(same.length - 1, 'time')} more in this run.`,
      saving: { usd: sum('usd'), tokens: sum('tokens'), ms: sum('ms') },
      evidence: [...new Set(same.flatMap(({ evidence }) => evidence))],
    }
  })
}

/** Money, then tokens, then time; what is not known comes last. */
const bySaving = (a: Finding, b: Finding) =>
  more(a.saving.usd, b.saving.usd) ||
  more(a.saving.tokens, b.saving.tokens) ||
  more(a.saving.ms, b.saving.ms) ||
  FINDING_KINDS.indexOf(a.kind) - FINDING_KINDS.indexOf(b.kind) ||
  ((a.subject ?? '') < (b.subject ?? '') ? -1 : 1)

const more = (a: number | null, b: number | null) => (b ?? -1) - (a ?? -1)
