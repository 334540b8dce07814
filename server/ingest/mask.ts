// Credentials that are recognised in any text are masked before it is stored; the event then says so.

/** What is tested first, so that ordinary text costs one look. */
const SUSPICIOUS =
  /sk-|bearer\s|authorization|AKIA|AIza|gh[pousr]_|github_pat_|glpat-|gsk_|hf_|[sr]k_live_|rw_|xox[abprs]-|signature=|api[-_]?key|cookie|passw|secret|_token|private[-_ ]?key|:\/\/[^\s/]*@/i

/**
 * Each keeps what tells the kind and replaces the rest. Sources: the vendors' published key formats. "20 or more" is
 * written as 20 and then any: `{20,}` remembers every character, and fails at some 8 million of them.
 */
const SECRETS: RegExp[] = [
  // A digit must be in it: words of prose have none.
  /\b(sk-(?:proj-|ant-(?:api\d\d-)?|or-v1-|svcacct-)?)(?=[A-Za-z_-]{0,100}\d)[A-Za-z0-9_-]{20}[A-Za-z0-9_-]*/g,
  /\b(AKIA)[A-Z0-9]{16}\b/g,
  /\b(AIza)[A-Za-z0-9_-]{35}/g,
  /\b(gh[pousr]_|github_pat_)[A-Za-z0-9_]{20}[A-Za-z0-9_]*/g,
  /\b(xox[abprs]-)[A-Za-z0-9-]{10}[A-Za-z0-9-]*/g,
  /\b(glpat-|gsk_|hf_|[sr]k_live_)[A-Za-z0-9_-]{16}[A-Za-z0-9_-]*/g,
  /\b(rw_)[A-Za-z0-9]{40}\b/g,
  /(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)[A-Za-z0-9+/=\s\\]*/g,
  /\b([a-z][a-z0-9+]{1,20}:\/\/[^\s:@/"'<>]{0,100}:)[^\s@/"'<>]{1,200}(?=@)/gi,
  /\b(authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/-]{8}[A-Za-z0-9._~+/-]*=*/gi,
  /\b(authorization["']?\s*[:=]\s*["']?)[A-Za-z0-9._~+/-]{16}[A-Za-z0-9._~+/-]*=*/gi,
  /\b(bearer\s+)(?=[A-Za-z._~+/-]{0,100}\d)[A-Za-z0-9._~+/-]{16}[A-Za-z0-9._~+/-]*=*/gi,
  /\b((?:x-api-key|api-key)["']?\s*:\s*["']?)(?=[^\s"',;\d]{0,100}\d)[^\s"',;]{8}[^\s"',;]*/gi,
  /\b((?:set-)?cookie["']?\s*:\s*["']?[A-Za-z0-9_.-]{1,100}=)[^\s"',;]{8}[^\s"',;]*/gi,
]
/** The link that resumes a waiting run is often put into a mail: its signature is what makes it work. Never stored. */
const RESUME_LINKS = [/((?:webhook|form)-waiting\/[^\s"'<>]{0,500}?[?&]signature=)[^\s"'<>&\\]+/g]

export const MASK = '[masked]'

/** Names of fields whose value is a credential: whoever holds it can act as the workflow or its caller. */
const NAMES =
  '(?:proxy-)?authorization|(?:set-)?cookie|(?:x-)?api[-_]?key|x-n8n-api-key|x-auth-token|openai_api_key|anthropicapikey|resumetoken|resumeurl|resumeformurl|passw(?:or)?d|passphrase|secret|client[-_]?secret|secret[-_]?key|aws_secret_access_key|(?:access|refresh|id|session|bearer|auth)[-_]?token|private[-_]?key'
const SECRET_NAMES = new RegExp(`^(?:${NAMES})$`, 'i')

/** A field of that name in a text that holds JSON. */
const NAMED_IN_TEXT = new RegExp(`("(?:${NAMES})"\\s*:\\s*")(?!\\[masked)[^"\\\\]+`, 'gi')
const ALL = [...SECRETS, NAMED_IN_TEXT, ...RESUME_LINKS]

export interface Masked {
  text: string
  masked: boolean
}

export type Mask = (text: string) => Masked

/** All that is recognised as a credential. */
export const maskSecrets: Mask = (text) => maskBy(ALL, text)
/** Only what is not stored even where a project keeps its texts as they come. */
export const maskLinks: Mask = (text) => maskBy(RESUME_LINKS, text)

function maskBy(patterns: RegExp[], text: string): Masked {
  if (!SUSPICIOUS.test(text)) return { text, masked: false }
  let clean = text
  for (const pattern of patterns) clean = clean.replace(pattern, `$1${MASK}`)
  return { text: clean, masked: clean !== text }
}

export const isSecretName = (name: string, value: unknown) => SECRET_NAMES.test(name) && value !== null && value !== ''

/** The same inside a JSON value. Keys such as __proto__ stay data. */
export function maskJson(value: unknown, mask: Mask, name = ''): { value: unknown; masked: boolean } {
  let masked = false
  const walk = (inner: unknown, key: string): unknown => {
    if (isSecretName(key, inner)) {
      masked = true
      return MASK
    }
    if (typeof inner === 'string') {
      const found = mask(inner)
      masked ||= found.masked
      return found.text
    }
    if (Array.isArray(inner)) return inner.map((one) => walk(one, ''))
    if (typeof inner !== 'object' || inner === null) return inner
    const clean: Record<string, unknown> = Object.create(null)
    for (const [field, one] of Object.entries(inner)) clean[field] = walk(one, field)
    return clean
  }
  return { value: walk(value, name), masked }
}
