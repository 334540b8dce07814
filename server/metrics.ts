// What /metrics shows, in the Prometheus text format.
import type { Courier } from './alerts/courier.ts'
import type { Classifier } from './failures/classifier.ts'
import type { Analyser } from './findings/analyser.ts'
import type { IngestLog } from './ingest/log.ts'
import type { WriteQueue } from './ingest/write-queue.ts'
import type { Candidates } from './prompts/candidates.ts'

export interface Measured {
  queue: WriteQueue
  log: IngestLog
  classifier: Classifier
  courier: Courier
  analyser: Analyser
  candidates: Candidates
}

export function metricsText({ queue, log, classifier, courier, analyser, candidates }: Measured): string {
  const { counters, depth } = queue
  const found = classifier.counters
  const told = courier.counters
  const memory = process.memoryUsage()
  const lines: [name: string, type: 'counter' | 'gauge', help: string, value: number][] = [
    ['runwatch_ingested_events_total', 'counter', 'Events committed by this process.', counters.events],
    ['runwatch_flushes_total', 'counter', 'Transactions that wrote events.', counters.flushes],
    ['runwatch_flush_retries_total', 'counter', 'Flushes that were tried again.', counters.retries],
    ['runwatch_flush_halvings_total', 'counter', 'Flushes that were split to find a bad request.', counters.halvings],
    ['runwatch_merged_requests_total', 'counter', 'Requests merged under row locks.', counters.merges],
    ['runwatch_refused_requests_total', 'counter', 'Posts with a valid key that were refused.', log.counters.refused],
    ['runwatch_unauthenticated_requests_total', 'counter', 'Posts without a valid key.', log.counters.unauthenticated],
    ['runwatch_ingest_log_forgotten_total', 'counter', 'Log entries that could not be kept.', log.counters.forgotten],
    ['runwatch_classified_sessions_total', 'counter', 'Sessions classified, each time anew.', found.classified],
    ['runwatch_failures_found_total', 'counter', 'Failures found in them.', found.failures],
    ['runwatch_rules_not_run_total', 'counter', 'Rules that threw instead of looking.', found.rulesNotRun],
    ['runwatch_classification_retries_total', 'counter', 'Batches that were tried again.', found.retries],
    ['runwatch_classification_waiting', 'gauge', 'Sessions that wait to be classified.', classifier.waitingCount],
    ['runwatch_deliveries_sent_total', 'counter', 'Deliveries of alerts that a receiver has taken.', told.delivered],
    ['runwatch_delivery_attempts_failed_total', 'counter', 'Attempts that failed.', told.failedAttempts],
    ['runwatch_deliveries_given_up_total', 'counter', 'Deliveries that were given up.', told.givenUp],
    ['runwatch_delivery_attempts_underway', 'gauge', 'Attempts that are being made.', courier.underwayCount],
    ['runwatch_analysed_sessions_total', 'counter', 'Sessions analysed, each time anew.', analyser.counters.analysed],
    ['runwatch_analysis_waiting', 'gauge', 'Sessions that wait to be analysed.', analyser.waitingCount],
    ['runwatch_candidates_made_total', 'counter', 'Candidate prompts made.', candidates.counters.made],
    [
      'runwatch_llm_calls_failed_total',
      'counter',
      'Calls for a proposal that failed.',
      candidates.counters.failedCalls,
    ],
    ['runwatch_llm_answers_refused_total', 'counter', 'Proposals of a model not shown.', candidates.counters.refused],
    ['runwatch_queue_events', 'gauge', 'Events that wait to be written.', depth.events],
    ['runwatch_queue_bytes', 'gauge', 'Bytes of the requests that wait.', depth.bytes],
    ['process_resident_memory_bytes', 'gauge', 'Resident memory.', memory.rss],
    ['nodejs_heap_size_used_bytes', 'gauge', 'Heap in use.', memory.heapUsed],
    ['process_uptime_seconds', 'gauge', 'Seconds since the start.', process.uptime()],
  ]
  return lines
    .map(([name, type, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${name} ${value}\n`)
    .join('')
}
