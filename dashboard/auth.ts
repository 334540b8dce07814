// Owns the requests about signing in: state, sign-in, sign-out and set-up; and how all such requests are sent.
export interface Person {
  email: string
  role: 'ADMIN' | 'VIEWER'
}
export interface AuthState {
  signedIn: boolean
  setUpNeeded: boolean
  person: Person | null
}

/** A refusal as the server words it. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    detail: string,
    readonly fields: Record<string, string> = {},
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(detail)
  }
}

export const readAuthState = () => request<AuthState>('GET', '/api/auth/state')
export const signIn = (email: string, password: string) =>
  request<{ person: Person }>('POST', '/api/auth/sign-in', { email, password })
export const signOut = () => request<void>('POST', '/api/auth/sign-out', {})
export const setUp = (token: string, email: string, password: string) =>
  request<{ person: Person }>('POST', '/api/auth/set-up', { token, email, password })

/** @throws Refusal */
export async function request<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    })
  } catch {
    throw new Refusal(0, 'The server cannot be reached. Check the connection and try again.')
  }
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T
  throw await refusalOf(response)
}

async function refusalOf(response: Response): Promise<Refusal> {
  const problem = (await response.json().catch(() => null)) as {
    detail?: string
    errors?: { field?: string; detail?: string }[]
  } | null
  const fields: Record<string, string> = {}
  for (const { field, detail } of problem?.errors ?? []) if (field && detail) fields[field] ??= detail
  const retryAfter = Number(response.headers.get('retry-after'))
  return new Refusal(
    response.status,
    problem?.detail ?? `The server answered ${response.status}. Try again in a moment.`,
    fields,
    retryAfter > 0 ? retryAfter : null,
  )
}
