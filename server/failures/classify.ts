// Runs every rule over a closed session: what was found, the primary first, and what each rule says. Pure.
import { fingerprintId } from '../sessions/identity.ts'
import {
  CATEGORIES,
  rankOfSeverity,
  type FailureCategory,
  type Verdict,
  type Found,
  type Rule,
  type Run,
} from './failure.ts'
import { findLoops } from './loops.ts'
import { RULES } from './rules.ts'
import { countOf } from './words.ts'
import { activeMs, equalRoundsPerItem, roundsPerItem } from './rules-of-measures.ts'

export interface Classification {
  /** the primary one first */
  failures: (Found & { key: string })[]
  /** categories of the rules that threw */
  notRun: { category: FailureCategory; error: unknown }[]
  /** what later runs of the agent are compared with; null where it is not known */
  activeMs: number | null
  loopRounds: number | null
  equalRounds: number | null
}

/** Highest severity first, then the order of the table, then what happened in more places. */
const byWeight = (a: Found, b: Found) =>
  rankOfSeverity(b.severity) - rankOfSeverity(a.severity) ||
  CATEGORIES.indexOf(a.category) - CATEGORIES.indexOf(b.category) ||
  b.evidence.length - a.evidence.length ||
  (a.fingerprint < b.fingerprint ? -1 : 1)

/** A rule that throws spoils nothing but itself. */
export function classify(run: Run, rules: Rule[] = RULES): Classification {
  const found: Found[] = []
  const notRun: Classification['notRun'] = []
  for (const rule of rules) {
    if (rule.platform !== run.session.platform) continue
    try {
      if (rule.cannotTell(run) === null) found.push(...rule.find(run).found)
    } catch (error) {
      notRun.push({ category: rule.category, error })
    }
  }
  const failures = heaviest(found)
  return { failures, notRun, ...measure(run) }
}

const MAX_FAILURES = 50

/** Each once, and not more than a person could look at. */
function heaviest(found: Found[]): Classification['failures'] {
  const byKey = new Map<string, Classification['failures'][number]>()
  for (const one of found.sort(byWeight)) {
    const key = fingerprintId(one.category, one.fingerprint)
    const known = byKey.get(key)
    // Two runs of one agent may be caught in the same loop.
    if (known) known.evidence = [...new Set([...known.evidence, ...one.evidence])]
    else byKey.set(key, { ...one, key })
  }
  const all = [...byKey.values()]
  const kept = all.slice(0, MAX_FAILURES)
  if (all.length > kept.length)
    kept.at(-1)!.sentence += ` ${countOf(all.length - kept.length, 'more failure')} of this run are not listed.`
  return kept
}

function measure(run: Run): Pick<Classification, 'activeMs' | 'loopRounds' | 'equalRounds'> {
  if (run.session.platform !== 'PLATFORM_B') return { activeMs: null, loopRounds: null, equalRounds: null }
  try {
    const loops = run.events.length === 0 ? null : findLoops(run.events)
    return {
      activeMs: activeMs(run),
      loopRounds: loops && loops.reduce((most, loop) => Math.max(most, roundsPerItem(loop)), 0),
      equalRounds: loops && loops.reduce((most, loop) => Math.max(most, equalRoundsPerItem(loop)), 0),
    }
  } catch {
    // The rule that measures the same has said that it could not run.
    return { activeMs: run.session.durationMs, loopRounds: null, equalRounds: null }
  }
}

export interface Explanation {
  category: FailureCategory
  looksFor: string
  /** what it says of this run: what it found, why it found nothing, or why it cannot tell */
  sentence: string
  outcome: 'FOUND' | 'NOT_FOUND' | 'CANNOT_TELL' | 'COULD_NOT_RUN'
  measured: Verdict['measured']
  threshold: Verdict['threshold']
  unit: Verdict['unit']
}

/** What each rule of the session's platform makes of it, in the order of the table. */
export function explain(run: Run, rules: Rule[] = RULES): Explanation[] {
  return rules
    .filter((rule) => rule.platform === run.session.platform)
    .map((rule) => {
      const { category, looksFor } = rule
      const nothing = { category, looksFor, measured: null, threshold: null, unit: null }
      try {
        const reason = rule.cannotTell(run)
        if (reason !== null) return { ...nothing, sentence: reason, outcome: 'CANNOT_TELL' as const }
        const { found, sentence, measured, threshold, unit } = rule.find(run)
        if (found.length === 0)
          return { category, looksFor, sentence, outcome: 'NOT_FOUND' as const, measured, threshold, unit }
        const all = found.map((one) => one.sentence).join(' ')
        return { category, looksFor, sentence: all, outcome: 'FOUND' as const, measured, threshold, unit }
      } catch {
        return { ...nothing, sentence: 'This rule could not run on this session.', outcome: 'COULD_NOT_RUN' as const }
      }
    })
}
