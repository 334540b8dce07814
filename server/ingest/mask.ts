// Credentials that are recognised in any text are masked before it is stored; the event then says so.

/** What is tested first, so that ordinary text costs one look. */
const SUSPICIOUS = /sk-|bearer\s|authorization|AKIA|AIza|gh[pousr]_|github_pat_|xox[abprs]-|signature=|api-key|cookie:/i

/** Each keeps what tells the kind and replaces the rest. Sources: the vendors' published key formats. */
const SECRETS: RegExp[] = [
  // A digit must be in it: words of prose have none.
  /\b(sk-(?:proj-|ant-(?:api\d\d-)?|or-v1-|svcacct-)?)(?=[A-Za-z_-]{0,100}\d)[A-Za-z0-9_-]{20,}/g,
  /\b(AKIA)[A-Z0-9]{16}\b/g,
  /\b(AIza)[A-Za-z0-9_-]{35}/g,
  /\b(gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}/g,
  /\b(xox[abprs]-)[A-Za-z0-9-]{10,}/g,
  /\b(authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic)\s+)?)[A-Za-z0-9._~+/-]{16,}=*/gi,
  /\b(bearer\s+)(?=[A-Za-z._~+/-]{0,100}\d)[A-Za-z0-9._~+/-]{16,}=*/gi,
  /\b((?:x-api-key|api-key)["']?\s*:\s*["']?)(?=[^\s"',;\d]{0,100}\d)[^\s"',;]{8,}/gi,
  /\b((?:set-)?cookie["']?\s*:\s*["']?[A-Za-z0-9_.-]{1,100}=)[^\s"',;]{8,}/gi,
  // The link that resumes a waiting run is often put into a mail: its signature is what makes it work.
  /((?:webhook|form)-waiting\/[^\s"'<>]{0,500}?[?&]signature=)[^\s"'<>&\\]+/g,
]
export const MASK = '[masked]'

export interface Masked {
  text: string
  masked: boolean
}

export function maskSecrets(text: string): Masked {
  if (!SUSPICIOUS.test(text)) return { text, masked: false }
  let clean = text
  for (const pattern of SECRETS) clean = clean.replace(pattern, `$1${MASK}`)
  return { text: clean, masked: clean !== text }
}

/** Names of fields whose value is a credential: whoever holds it can act as the workflow or its caller. */
const SECRET_NAMES =
  /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-key|apikey|api_key|x-auth-token|x-n8n-api-key|resumetoken|resumeurl|resumeformurl|openai_api_key|anthropicapikey)$/i

export const isSecretName = (name: string, value: unknown) => SECRET_NAMES.test(name) && value !== null && value !== ''

/** The same inside a JSON value. Keys such as __proto__ stay data. */
export function maskJson(value: unknown, name = ''): { value: unknown; masked: boolean } {
  let masked = false
  const walk = (inner: unknown, key: string): unknown => {
    if (isSecretName(key, inner)) {
      masked = true
      return MASK
    }
    if (typeof inner === 'string') {
      const found = maskSecrets(inner)
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
