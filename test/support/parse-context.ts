// What the parsers are given where a test has nothing to say about it.
import { maskSecrets } from '../../server/ingest/mask.ts'
import type { ParseContext } from '../../server/ingest/parsed.ts'

export const parseContext = (own: Partial<ParseContext> = {}): ParseContext => ({
  projectId: 1,
  receivedAt: Date.now(),
  arrivalUs: Date.now() * 1000,
  price: () => null,
  requestKey: null,
  mask: maskSecrets,
  mergesEqualEvents: false,
  ...own,
})
