// Which texts are masked, and which only look like it.
import { expect, test } from 'vitest'
import { maskSecrets } from '../../server/ingest/mask.ts'

test.each([
  ['sk-proj-abcdefghijklmnop0123456789', 'sk-proj-[masked]'],
  ['key=sk-ant-api03-abcdefghijklmnop0123456789-x', 'key=sk-ant-api03-[masked]'],
  ['Authorization: Bearer abcdefghijklmnopqrstuvwx', 'Authorization: Bearer [masked]'],
  ['{"authorization":"Basic dXNlcjpwYXNzd29yZA=="}', '{"authorization":"[masked]"}'],
  ['use Bearer eyJhbGciOiJIUzI1NiJ9.abc.def now', 'use Bearer [masked] now'],
  ['X-API-Key: rw_0123456789abcdef', 'X-API-Key: [masked]'],
  ['Cookie: session=0123456789abcdef; theme=dark', 'Cookie: session=[masked]; theme=dark'],
  ['AKIAIOSFODNN7EXAMPLE', 'AKIA[masked]'],
  ['Authorization: Token abcdef0123456789abcdef', 'Authorization: Token [masked]'],
  ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: Basic [masked]'],
  ['gsk_abcdefghij0123456789', 'gsk_[masked]'],
  ['sk_live_abcdefghij0123456789', 'sk_live_[masked]'],
  [`rw_${'a1'.repeat(20)}`, 'rw_[masked]'],
  ['postgres://user:pa55@db.example.com/x', 'postgres://user:[masked]@db.example.com/x'],
  ['-----BEGIN PRIVATE KEY-----\nMIIE0+/=\n-----END', '-----BEGIN PRIVATE KEY-----[masked]-----END'],
  ['{"apiKey": "abc", "password":"p", "n": 1}', '{"apiKey": "[masked]", "password":"[masked]", "n": 1}'],
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
  'the password is wrong, a secret to nobody',
  'https://example.com/a:b?c=d@e',
  '{"prompt_tokens": 12, "secretary": "Ann"}',
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
