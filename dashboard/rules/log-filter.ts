// Owns the filter of the ingest log: URL to filter and back, and filter to the schema's input.
export type Endpoint = 'PLATFORM_A' | 'PLATFORM_B'

export interface LogFilter {
  refusedOnly: boolean
  endpoint: Endpoint | null
  /** Id of a key. */
  apiKey: string | null
}

export const emptyLogFilter: LogFilter = { refusedOnly: false, endpoint: null, apiKey: null }

export const endpoints = [
  { value: 'PLATFORM_A', word: 'platform-a', label: 'Platform A' },
  { value: 'PLATFORM_B', word: 'platform-b', label: 'Platform B' },
] as const

export const endpointOf = (value: Endpoint) => endpoints.find((each) => each.value === value)!

export function logFilterFromQuery(query: URLSearchParams): LogFilter {
  return {
    refusedOnly: query.get('answer') === 'refused',
    endpoint: endpoints.find((each) => each.word === query.get('endpoint'))?.value ?? null,
    apiKey: query.get('key') || null,
  }
}

export function logFilterToQuery({ refusedOnly, endpoint, apiKey }: Partial<LogFilter>): URLSearchParams {
  const query = new URLSearchParams()
  if (refusedOnly) query.set('answer', 'refused')
  if (endpoint) query.set('endpoint', endpointOf(endpoint).word)
  if (apiKey) query.set('key', apiKey)
  return query
}

export const logFilterToInput = ({ refusedOnly, endpoint, apiKey }: LogFilter) => ({
  ...(refusedOnly && { refused: true }),
  ...(endpoint && { platform: endpoint }),
  ...(apiKey && { apiKey }),
})

export const isEmptyLogFilter = (filter: LogFilter) => logFilterToQuery(filter).size === 0
