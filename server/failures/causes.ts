// Why something failed, from its text and HTTP status, and what to do about each cause: one table. Pure.
import type { Cause } from './failure.ts'

interface CauseRow {
  cause: Cause
  /** in the error's text or name, in any case */
  text: RegExp | null
  /** HTTP statuses and connection codes */
  status: RegExp | null
  advice: string
}

/** The first row that matches counts: what is more special stands before what its words also fit. */
export const CAUSE_TABLE: CauseRow[] = [
  {
    cause: 'CONTEXT_LENGTH',
    text: /context[ _-]?(length|window|size|limit)|(prompt|input|messages) (is|are|was|were)? ?too (long|large)\b|maximum (number of )?(input |prompt )?tokens|max_tokens.{0,40}(exceed|too)|too many (input |prompt )?tokens|(tokens?|input).{0,40}exceeds? .{0,40}(limit|maximum|context)|reduce the (length|size) of (the|your) (messages|prompt|input)/,
    status: null,
    advice:
      'Send the model less: shorten the prompt, the history or what the tools return, or use a model with a longer context.',
  },
  {
    cause: 'CONTENT_FILTER',
    text: /content[ _-]?(filter|policy|management policy)|responsible ai|safety (system|setting|filter|reason|rating)|flagged (as|by|for)|blocked (by|due to|because of) (safety|content|our content|policy|recitation|the safety|prohibited)|prohibited_content|\b(violat\w+) .{0,40}(policy|policies)|finish_?reason.{0,6}safety|moderation/,
    status: null,
    advice:
      'The provider refused the content: look at what was sent, and keep such input away from the model or answer it yourself.',
  },
  {
    cause: 'RATE_LIMIT',
    text: /rate[ _-]?limit|too many requests|\bquota\b|throttl|resource[ _]exhausted|exceeded .{0,40}\b(rpm|tpm|requests per|tokens per|calls per|limit of requests)|requests? per (second|minute|hour|day)|slow ?down|retry[- ]after|receiving too many|\bratelimited\b|api limit|daily limit|usage limit|credit balance|insufficient (credits|funds|balance)/,
    status: /^429$/,
    advice:
      'Send fewer requests at once: add a pause or a batch size in the loop, retry later, or ask the provider for a higher limit.',
  },
  {
    cause: 'AUTHENTICATION',
    text: /unauthori[sz]ed|unauthenticated|authenticat|authori[sz]ation (failed|required|error|denied|data)|forbidden|permission|access (is )?denied|access[ _]token|not (allowed|permitted|authori[sz]ed)|(invalid|incorrect|wrong|expired|missing|revoked|bad)( or \w+)? (api[ _-]?key|credentials?|token|password|signature|grant|login|username)|(api[ _-]?key|credentials?|(access|auth|bearer|refresh|security|api) token|password)s? .{0,30}(invalid|incorrect|wrong|expired|missing|revoked|not valid|not found|rejected|no longer valid|not set)|invalid_(auth|grant|token|client)|not_authed|token_(expired|revoked)|token .{0,20}(expired|revoked)|no credentials|credentials? (could not|are not|is not)|sign ?in|log ?in (again|failed)|scope/,
    status: /^(401|403|407)$/,
    advice:
      'Check the credential of this step: it is missing, wrong, expired or lacks a right. Connect it again or give it the right.',
  },
  {
    cause: 'TIMEOUT',
    text: /time[d]?[ _-]?out|deadline|etimedout|esockettimedout|econnaborted|took too long|not respond(ed)? (in|within)|did not (respond|complete|finish|answer)( \w+)? (in|within)|aborted due to|no response (was )?(received )?(in|within|after)|lock wait/,
    status: /^(408|504|524|ETIMEDOUT|ESOCKETTIMEDOUT|ECONNABORTED|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/,
    advice:
      'It did not answer in time: check whether the service is slow, raise the timeout of the step, or ask it for less at once.',
  },
  {
    cause: 'CONNECTION',
    text: /econnrefused|econnreset|enotfound|eai_again|ehostunreach|enetunreach|epipe|eproto|socket hang up|connect(ion)? .{0,40}(refused|reset|closed|lost|failed|terminated|aborted|error|unexpectedly|ended)|could not connect|cannot connect|can't connect|failed to connect|unable to connect|getaddrinfo|network (error|is unreachable|request failed)|fetch failed|certificate|self[- ]signed|\b(ssl|tls)\b|host ?name .{0,30}(resolve|found)|name resolution|unreachable|too many (connections|clients)|remaining connection slots|server closed|other side closed|server cannot be reached/,
    status:
      /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EPIPE|CERT_.*|DEPTH_ZERO.*|UND_ERR_SOCKET)$/,
    advice:
      'The address could not be reached: check that the service runs and that host, port and certificate in the step are right.',
  },
  {
    cause: 'PROVIDER_ERROR',
    text: /overloaded|internal (server )?error|server (had an|error|is (busy|overloaded|down))|service (is )?(temporarily |currently )?unavailable|bad gateway|gateway error|at capacity|temporarily unavailable|an unexpected error occurred on|something went wrong (on|at) (our|their)|(status|code|error) 5\d\d|server_error|(is|are|was|were) down\b|backend error|try again later|upstream (connect|request|server|error|time|service)|currently loading|maintenance/,
    status: /^5\d\d$/,
    advice:
      'The fault lies with the service that was called: retry with a pause, and look at its status page if it lasts.',
  },
  {
    cause: 'NOT_FOUND',
    text: /not[ _]?found|could not (be found|find)|couldn't find|can ?not find|no such|does(n't| not) exist|do not exist|unknown (model|channel|user|table|column|file|host|database|endpoint|resource|index|key)|no (item|row|record|document|match|result)s? (was |were )?(found|matched)|nosuch|is undefined$|was deleted|no longer exists|enoent|missing (node|file|table|column)|unable to find|\bgone\b/,
    status: /^(404|410|ENOENT)$/,
    advice:
      'What it asked for is not there: check the id, name or address in this step, and whether it was renamed or deleted.',
  },
  {
    cause: 'INVALID_INPUT',
    text: /invalid|bad request|valid(ation|ate)|malformed|unexpected (token|end|character|non-whitespace|value|property|key|field|identifier)|not valid|unprocessable|required|must (be|not|have|contain|match|start)|expect(ed|s)|missing|cannot read propert|is not (a|an|of type|iterable|json|supported|one of)|unsupported|type ?error|syntax ?error|parse|duplicate|violates|constraint|conflict|already (exists|in use|taken)|out of (range|bounds)|too (long|short|big|large|many)|empty|wrong type|parameter|schema|decode|convert|nan\b|rejected|declined|null value|not null|failed to (format|convert)|does not match/,
    status: /^(400|402|405|406|409|411|412|413|414|415|422)$/,
    advice:
      'The step was given something it cannot use: open it, compare what it received with what it needs, and check the step before it.',
  },
]

/** Providers report these with all kinds of statuses. */
const SAID_BY_TEXT: Cause[] = ['CONTEXT_LENGTH', 'CONTENT_FILTER', 'RATE_LIMIT']

const OTHER_ADVICE = 'Open the step: its error text and what it received say more.'

/**
 * @param httpStatus a status or a connection code, as it came
 * @param name the error's class, e.g. NodeApiError
 */
export function causeOf(text: string, httpStatus: string | null, name: string | null): Cause {
  // An address may hold any word.
  const words = `${text.slice(0, 1_000).replace(/\b[a-z+]{1,20}:\/\/\S+/gi, '')} ${name ?? ''}`.toLowerCase()
  const status = httpStatus ?? /\b(?:status(?: code)?|http|code|error)\W{0,3}([45]\d\d)\b/.exec(words)?.[1] ?? null
  const isSpecial = ({ cause }: CauseRow) => SAID_BY_TEXT.includes(cause)
  const special = CAUSE_TABLE.find((row) => isSpecial(row) && row.text!.test(words))
  if (special) return special.cause
  // A status is a fact, words are a guess.
  const byStatus = status === null ? undefined : CAUSE_TABLE.find((row) => row.status?.test(status))
  if (byStatus && byStatus.cause !== 'INVALID_INPUT' && byStatus.cause !== 'PROVIDER_ERROR') return byStatus.cause
  return (CAUSE_TABLE.find((row) => row.text?.test(words)) ?? byStatus)?.cause ?? 'OTHER'
}

export const adviceFor = (cause: Cause): string =>
  CAUSE_TABLE.find((row) => row.cause === cause)?.advice ?? OTHER_ADVICE
