// Rules that measure: how long a run took, what its models cost, and how often its nodes repeated. Pure.
import type { FailureCategory, Verdict, Found, Run, RunEvent, Severity, Threshold, Thresholds } from './failure.ts'
import type { PastRun } from './thresholds.ts'
import { findLoops } from './loops.ts'
import { isWait, type Loop } from './rounds.ts'
import { countOf, seconds, tokensText, usd } from './words.ts'

/** Of the run's time; a step that took less did not hold it up. */
const FEW_PERCENT = 10

/** By ratio to the threshold. */
export function severityByRatio(measured: number, threshold: number): Severity {
  const ratio = threshold > 0 ? measured / threshold : Infinity
  return ratio >= 4 ? 'CRITICAL' : ratio >= 2 ? 'HIGH' : 'MEDIUM'
}

/** The same comparisons as below, on what is kept of a run. Where its cost is not known, its tokens are compared. */
export function isOverLimit(
  category: FailureCategory,
  run: Omit<PastRun, 'id' | 'firstSeenAt'>,
  limits: Thresholds,
): boolean {
  const { latencyMs, costUsd, tokens, loopRounds, equalRounds } = run
  if (category === 'LATENCY_SPIKE') return latencyMs !== null && latencyMs > limits.latencyMs.value
  if (category === 'COST_ANOMALY')
    return costUsd !== null ? costUsd > limits.costUsd.value : tokens !== null && tokens > limits.tokens.value
  return (loopRounds ?? 0) >= limits.loopRounds.value || (equalRounds ?? 0) >= limits.equalRounds.value
}

/** How long the run was at work: what it spent in wait nodes somebody chose. Null where its duration is not known. */
export function activeMs({ session, events }: Pick<Run, 'session' | 'events'>): number | null {
  if (session.durationMs === null) return null
  const waits = events.filter((event) => isWait(event) && event.occurredAt !== null)
  if (waits.length === 0) return session.durationMs
  const byName = new Map(events.map((event) => [`${event.runIndex}:${event.name}`, event]))
  let waited = 0
  for (const wait of waits) {
    // After a resumption the node's own time begins only then: what led to it tells when the waiting began.
    const [source] = wait.source
    const led = source && byName.get(`${source.run}:${source.node}`)
    const since = led?.occurredAt != null ? led.occurredAt + (led.durationMs ?? 0) : wait.occurredAt!
    waited += wait.occurredAt! + (wait.durationMs ?? 0) - Math.min(since, wait.occurredAt!)
  }
  return Math.max(0, session.durationMs - waited)
}

export function findLatency(run: Run): Verdict {
  const measured = activeMs(run)!
  const threshold = run.thresholds.latencyMs
  const waited = run.session.durationMs! - measured
  const without = waited > 0 ? ` at work, without ${seconds(waited)} in wait nodes` : ''
  const sentence = `The run took ${seconds(measured)}${without}; the limit is ${seconds(threshold.value)}, ${threshold.because}.`
  if (measured <= threshold.value) return { found: [], sentence, measured, threshold, unit: 'MS' }
  const slowest = slowestStep(run)
  const share = slowest && Math.min(100, Math.round((slowest.durationMs! / Math.max(1, run.session.durationMs!)) * 100))
  const found: Found = {
    category: 'LATENCY_SPIKE',
    severity: severityByRatio(measured, threshold.value),
    cause: null,
    subject: null,
    sentence,
    advice: !slowest
      ? 'The times of its steps are not known: send the whole execution to see where it went. If runs may take this long, raise the limit for this agent.'
      : share! < FEW_PERCENT
        ? `No step took long: the longest, "${slowest.name}", took ${seconds(slowest.durationMs!)}. The time went by between the steps: look for queues and waits. If runs may take this long, raise the limit for this agent.`
        : `The longest step was "${slowest.name}" with ${seconds(slowest.durationMs!)}, ${share} % of the run: look there first. If runs may take this long, raise the limit for this agent.`,
    fingerprint: 'LATENCY_SPIKE',
    errorText: null,
    measured,
    threshold,
    unit: 'MS',
    evidence: slowest ? [slowest.key] : [],
  }
  return { found: [found], sentence, measured, threshold, unit: 'MS' }
}

/** What an agent spends is its model's and tools' time: the step itself is wanted, not what holds it. */
function slowestStep({ events }: Run): RunEvent | null {
  const parents = new Set(events.map(({ parentKey }) => parentKey))
  let slowest: RunEvent | null = null
  for (const event of events) {
    if (event.durationMs === null || parents.has(event.key) || isWait(event)) continue
    if (!slowest || event.durationMs > slowest.durationMs!) slowest = event
  }
  return slowest
}

/** What the models of a run are compared by; null where no token count is known. */
export function spendOf({ session }: Pick<Run, 'session'>): { measured: number; unit: 'USD' | 'TOKENS' } | null {
  if (session.llmCalls === 0 || session.tokens === null) return null
  const isPriced = session.costUsd !== null && session.unpricedCalls === 0
  return isPriced ? { measured: session.costUsd!, unit: 'USD' } : { measured: session.tokens, unit: 'TOKENS' }
}

export function findCost(run: Run): Verdict {
  const { session, events } = run
  const { measured, unit } = spendOf(run)!
  const threshold = unit === 'USD' ? run.thresholds.costUsd : run.thresholds.tokens
  const text = (value: number) => (unit === 'USD' ? usd(value) : tokensText(value))
  const estimated = session.tokensEstimated ? ' by the estimate of the platform' : ''
  const calls = countOf(session.llmCalls, 'model call')
  const sentence =
    unit === 'USD'
      ? `${calls} cost ${text(measured)}${estimated}; the limit is ${text(threshold.value)}, ${threshold.because}.`
      : `${calls} took ${text(measured)}${estimated}, compared as tokens because a price is not known; the limit is ${text(threshold.value)}, ${threshold.because}.`
  if (measured <= threshold.value) return { found: [], sentence, measured, threshold, unit }
  const dearest = events.filter(({ type }) => type === 'LLM_CALL').map(({ key }) => key)
  const found: Found = {
    category: 'COST_ANOMALY',
    severity: severityByRatio(measured, threshold.value),
    cause: null,
    subject: null,
    sentence,
    advice:
      session.llmCalls > 3
        ? 'See whether all of these calls were needed: a loop, a history that grows with each call or a large input are what mostly makes a run dear.'
        : 'Look at what went into the prompt: a large document or a long history is what mostly makes a call dear.',
    fingerprint: 'COST_ANOMALY',
    errorText: null,
    measured,
    threshold,
    unit,
    evidence: dearest,
  }
  return { found: [found], sentence, measured, threshold, unit }
}

export function findLoop(run: Run): Verdict {
  const loops = findLoops(run.events)
  const [most] = loops
  if (!most) {
    const sentence = 'No pattern of nodes repeats, batches left out.'
    return { found: [], sentence, measured: null, threshold: null, unit: null }
  }
  const { loopRounds, equalRounds } = run.thresholds
  const found: Found[] = []
  for (const loop of loops) {
    const isLong = roundsPerItem(loop) >= loopRounds.value
    const isStuck = equalRoundsPerItem(loop) >= equalRounds.value
    if (isLong || isStuck) found.push(foundLoop(loop, isLong ? loopRounds : equalRounds, isLong))
  }
  const sentence =
    `${patternText(most.nodes)} ran ${countOf(most.rounds, 'round')}${forItems(most)}. For an endless loop are taken ` +
    `${loopRounds.value} or more (${loopRounds.because}), or ${equalRounds.value} in a row that change nothing (${equalRounds.because}).`
  return { found, sentence, measured: roundsPerItem(most), threshold: loopRounds, unit: 'ROUNDS' }
}

export const roundsPerItem = (loop: Loop) => Math.ceil(loop.rounds / loop.items)
/** Where a node waits, equal answers are what a poll gets until the last. */
export const equalRoundsPerItem = (loop: Loop) => (loop.isPaced ? 0 : Math.ceil(loop.equalRounds / loop.items))

const MAX_NAMED = 8
const shortName = (name: string) => (name.length > 80 ? `${name.slice(0, 79).toWellFormed()}…` : name)
function patternText(nodes: string[]): string {
  const named = nodes.slice(0, MAX_NAMED).map((name) => `"${shortName(name)}"`)
  return (nodes.length > MAX_NAMED ? [...named, '…'] : named).join(' → ')
}
const forItems = ({ items }: Loop) => (items > 1 ? ` for ${items} items` : '')

function foundLoop(loop: Loop, threshold: Threshold, isLong: boolean): Found {
  const { nodes, rounds, equalRounds, isCertain, isPaced } = loop
  const changed = equalRounds > 1 ? `, ${equalRounds} of them in a row with equal results` : ''
  const limit = `${threshold.value}${isLong ? '' : ' rounds that change nothing'}${loop.items > 1 ? ' for each' : ''}`
  const doubt = isCertain ? '' : ' Whether the nodes work off a batch cannot be told from what was sent.'
  const pace = isPaced ? ' It waits between its rounds: it may be asking for something that is not ready.' : ''
  const least = nodes.indexOf(nodes.toSorted()[0]!)
  return {
    category: 'INFINITE_LOOP',
    severity: isCertain && !isPaced ? 'HIGH' : 'MEDIUM',
    cause: null,
    subject: nodes[0] ?? null,
    sentence: `${patternText(nodes)} ran ${countOf(rounds, 'round')}${forItems(loop)}${changed}; the limit is ${limit}, ${threshold.because}.${doubt}${pace}`,
    advice: isCertain
      ? 'Give the loop a way out: count the rounds and stop at a number, and check the condition that should end it. If so many rounds are right, raise the limit for this agent.'
      : 'Send the execution with its workflow, so that batches can be told from loops. If it is a loop, count its rounds and stop at a number.',
    fingerprint: ['INFINITE_LOOP', ...nodes.slice(least), ...nodes.slice(0, least)].join('\n'),
    errorText: null,
    measured: isLong ? roundsPerItem(loop) : equalRoundsPerItem(loop),
    threshold,
    unit: 'ROUNDS',
    evidence: loop.evidence,
  }
}
