// Which texts are masked, and which only look like it.
import { expect, test } from 'vitest'
import { maskSecrets } from '../../server/ingest/mask.ts'

test.each([
  ['sk-proj-abcdefghijklmnop0123456789', 'sk-proj-[masked]'],
  ['key=sk-ant-api03-abcdefghijklmnop0123456789-x', 'key=sk-ant-api03-[masked]'],
  ['Authorization: Bearer abcdefghijklmnopqrstuvwx', 'Authorization: Bearer [masked]'],
  ['{"authorization":"Basic dXNlcjpwYXNzd29yZA=="}', '{"authorization":"Basic [masked]"}'],
  ['use Bearer eyJhbGciOiJIUzI1NiJ9.abc.def now', 'use Bearer [masked] now'],
  ['X-API-Key: rw_0123456789abcdef', 'X-API-Key: [masked]'],
  ['Cookie: session=0123456789abcdef; theme=dark', 'Cookie: session=[masked]; theme=dark'],
  ['AKIAIOSFODNN7EXAMPLE', 'AKIA[masked]'],
  ['http://n8n/webhook-waiting/47?signature=abc123 please', 'http://n8n/webhook-waiting/47?signature=[masked] please'],
])('%s is stored as %s', (text, stored) => {
  expect(maskSecrets(text)).toEqual({ text: stored, masked: true })
})

test.each([
  'List the basic responsibilities of a support agent',
  'basic internationalization, then bearer responsibilities',
  'cookie: chocolate chip, 200 g',
  'install sk-learn-compatible-preprocessing-tools',
  'the api-key: documentation',
  'signature=missing',
  'authorization: denied',
])('%s is no secret', (text) => {
  expect(maskSecrets(text)).toEqual({ text, masked: false })
})

test.each([['sk-'], ['bearer '], ['authorization: '], ['cookie: '], ['api-key: '], ['form-waiting/']])(
  'a megabyte of %s is looked through in a moment',
  { timeout: 5_000 },
  (piece) => {
    const text = `signature=${piece.repeat(Math.ceil(1_000_000 / piece.length))}`
    expect(maskSecrets(text).text.length).toBeGreaterThan(0)
  },
)
