// Answers of models that were cut off, and answers of tools that nothing made use of.
import { describe, expect, test } from 'vitest'
import { isUnclosedJson } from '../../server/findings/unclosed-json.ts'
import { found, sentences, step, tool, type Step } from '../support/analysed-run.ts'

describe('JSON that is not closed', () => {
  test.each([
    '{"name": "Bo',
    '{"a": 1',
    '{"a": [1, 2',
    '{"a"',
    '{"a":',
    '{"a": tru',
    '{"a": -',
    '{"a": {"b": [{"c": null}, {"d": "}]"',
    '[{"id": 1}, {"id": 2}',
    '["one", "two',
    '[["a", "b"], ["c"',
    '```json\n{"items": ["x"',
    '  {"a": "with \\" and \\\\"',
    '{"text": "line\nbreak"',
  ])('is cut off: %j', (text) => {
    expect(isUnclosedJson(text)).toBe(true)
  })

  test.each([
    '',
    '{}',
    '{"a": 1}',
    '{"a": "}"}',
    '```json\n{"a": [1]}\n```',
    '{"a": 1}\n{"b":',
    '{"a": 1} and so on {',
    '[1] Smith, J. (2020). On loops. [2] Jones',
    '[link](https://example.com/{id)',
    '["Growth" is the word of the year',
    '[[Draft] of the letter: dear customer',
    '[{{customer}} gets a discount',
    '{ "quoted" words in braces',
    '- [ ] buy milk\n- [x] sleep',
    '{name} is a placeholder',
    '{"a": undefined, "b"',
    'Here it is: {"a": ',
    '[',
    '{',
  ])('is whole, or no JSON: %j', (text) => {
    expect(isUnclosedJson(text)).toBe(false)
  })

  test('of a megabyte is looked through in no time to speak of', () => {
    const before = process.cpuUsage()
    expect(isUnclosedJson('['.repeat(500_000))).toBe(true)
    expect(isUnclosedJson(`{"a": "${'\\"'.repeat(500_000)}`)).toBe(true)
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000)
  })
})

describe('an answer that was cut off', () => {
  const call = (own: Step) => step({ name: 'Writer', model: 'dear', output: 'So it', ...own })

  test.each<[string, Step]>([
    ['the model stopped at its limit of tokens ("length")', { finishReason: 'length' }],
    ['the model stopped at its limit of tokens ("MAX_TOKENS")', { finishReason: 'MAX_TOKENS' }],
    [
      'the model stopped at its limit of tokens ("max_output_tokens")',
      { finishReason: ' max_output_tokens ', output: '' },
    ],
    ['the model wrote exactly the 100 tokens that it was allowed', { maxTokens: 100, completionTokens: 100 }],
    ['the model wrote exactly the 1 token that it was allowed', { maxTokens: 1, completionTokens: 1 }],
    ['the JSON is not closed', { output: '{"a": "b' }],
    ['the JSON is not closed', { output: '{"a": "b', finishReason: ' ' }],
  ])('is told: %s', (why, own) => {
    expect(sentences('CUT_OFF_OUTPUT', [call(own)])).toEqual([`The answer of "Writer" was cut off: ${why}.`])
  })

  test.each<[string, Step]>([
    ['a provider that says it was done', { output: '{"a": "b', finishReason: 'stop' }],
    ['one that stopped to call a tool', { finishReason: 'tool_calls', maxTokens: 5, completionTokens: 5 }],
    ['fewer tokens than were allowed', { maxTokens: 100, completionTokens: 99 }],
    ['tokens that are not known', { maxTokens: 100 }],
    ['no output', { output: null }],
    ['an empty output', { output: '' }],
    ['a call that failed', { finishReason: 'length', hasError: true }],
    ['JSON that was not read to its end', { output: '{"a": "b', outputLength: 9_000 }],
    ['the output of a tool', { type: 'TOOL_CALL', output: '{"a": "b' }],
  ])('is none: %s', (_, own) => {
    expect(found('CUT_OFF_OUTPUT', [call(own)])).toEqual([])
  })

  test('is counted by step, and nothing is said of what it would save', () => {
    const [finding, ...more] = found('CUT_OFF_OUTPUT', [call({ finishReason: 'length' }), call({ output: '["a' })])
    expect(more).toEqual([])
    expect(finding!.sentence).toBe(
      '2 answers of "Writer" were cut off: the model stopped at its limit of tokens ("length").',
    )
    expect(finding!.saving).toEqual({ usd: null, tokens: null, ms: null })
  })
})

describe('the answer of a tool', () => {
  const ORDERS = JSON.stringify([
    { id: 91342, customer: 'Weber', item: 'Garden chair', colour: 'green' },
    { id: 91877, customer: 'Keller', item: 'Parasol stand', colour: 'anthracite' },
  ])
  const asked = (own: Step = {}) =>
    tool('search_orders', { input: '{"status":"open"}', output: ORDERS, durationMs: 700, ...own })
  const says = (output: string | null, own: Step = {}) =>
    step({ name: 'Agent', model: 'dear', input: 'Which orders are open?', output, ...own })
  const POLITE = says('We are happy to help, please call us.')

  test('of which nothing is shown afterwards is told', () => {
    const calls = [asked(), POLITE]
    expect(found('UNUSED_TOOL_ANSWER', calls)).toEqual([
      {
        kind: 'UNUSED_TOOL_ANSWER',
        subject: 'search_orders',
        sentence: '"search_orders" was called, and no later step shows anything of its answer.',
        advice: 'Leave the call out, or say in the instruction what its answer is for.',
        saving: { usd: null, tokens: null, ms: 700 },
        evidence: [calls[0]!.key],
      },
    ])
  })

  test('is told of those calls alone that brought nothing', () => {
    const hotel = {
      output: JSON.stringify({ hotel: 'Bellevue', street: 'Marktgasse', stars: 4, rooms: 221, phone: 44123 }),
    }
    const events = [
      asked(),
      says('Weber waits for a chair.'),
      asked(hotel),
      asked({ ...hotel, durationMs: null }),
      POLITE,
    ]
    const [finding] = found('UNUSED_TOOL_ANSWER', events)
    expect(finding!.sentence).toBe('No later step shows anything of what 2 of 3 calls of "search_orders" brought.')
    expect(finding!.saving.ms).toBeNull()
  })

  test.each<[string, string | null, Step]>([
    ['a name', 'Weber ordered something.', {}],
    ['a word in another form', 'Several greenish things', {}],
    ['a word in capitals', 'PARASOLS', {}],
    ['a number', 'Order no. 91,877 is open.', {}],
    ['the whole of it in the prompt', 'Done', { input: `Tool: ${JSON.stringify(ORDERS)}` }],
    ['escaped letters in the prompt', 'Done', { input: '\\u0057eber' }],
  ])('is used by %s', (_, output, own) => {
    expect(found('UNUSED_TOOL_ANSWER', [asked(), says(output, own)])).toEqual([])
  })

  test.each<[string, Step[]]>([
    ['no model answered after it', []],
    ['what it was asked is all that it says', [{ input: ORDERS }]],
    ['a model whose prompt is not known', [{}, { input: null, output: 'Hello' }]],
    ['a model that said nothing', [{}, { input: 'x', output: null }]],
    ['a prompt that was not read whole', [{}, { input: 'x', inputLength: 20_000, output: 'Hello' }]],
    ['an answer that was not read whole', [{}, { input: 'x', output: 'Hello', outputLength: 20_000 }]],
    ['a short answer', [{ output: 'ok' }]],
    ['few words, which may be said in others', [{ output: '{"city":"Berlin","sky":"overcast","tempC":11.5}' }]],
    ['a call that failed', [{ hasError: true }]],
    ['its own output was not read whole', [{ outputLength: 20_000 }]],
    ['a tool that does something', [{ name: 'mark_as_read' }]],
    ['a list that is added to', [{ name: 'addToList' }]],
    ['a tool whose name says nothing to us', [{ name: 'bestellungen_suchen' }]],
    ['a tool without a name', [{ name: null }]],
  ])('is left alone where it cannot be told: %s', (name, [own = {}, later]) => {
    const model = later ? [says(null, later)] : name.startsWith('no model') ? [] : [POLITE]
    expect(found('UNUSED_TOOL_ANSWER', [asked(own), ...model])).toEqual([])
  })

  test('in other alphabets is found in what the model says', () => {
    const answers: [string, string][] = [
      [
        '天気予報：東京は明日雨が降ります。気温は二十度、風は北から弱く、湿度は高いでしょう。傘を持って行ってください。',
        '明日の東京は雨です。',
      ],
      ['حالة الطقس في القاهرة اليوم مشمسة ودرجة الحرارة مرتفعة والرياح خفيفة من الشمال', 'الجو مشمس في القاهرة'],
      [
        'Погода в Москве: завтра ожидается сильный снег, температура ниже нуля, ветер северный',
        'Завтра снежно, температурой ниже',
      ],
      [
        '서울의 내일 날씨는 맑고 기온은 높으며 바람은 약하게 불고 습도는 낮을 것으로 예상됩니다 우산은 필요하지 않습니다',
        '내일 서울은 맑습니다',
      ],
    ]
    for (const [output, reply] of answers) {
      expect(found('UNUSED_TOOL_ANSWER', [asked({ output }), says(reply)]), reply).toEqual([])
    }
  })

  test('of numbers alone is found where one of them is said', () => {
    const output = JSON.stringify([10_234.5, 20_991, 30_117, 44_812, 57_003, 61_270, 7_781])
    expect(found('UNUSED_TOOL_ANSWER', [asked({ output }), says('The best month brought 61,270 francs.')])).toEqual([])
    expect(found('UNUSED_TOOL_ANSWER', [asked({ output }), POLITE])).toHaveLength(1)
  })

  test('is found in an agent that began before the tool and ended after it', () => {
    const agent = says('Weber and Keller wait.', { occurredAt: 1_000, durationMs: 5_000 })
    const during = asked({ occurredAt: 2_000 })
    expect(found('UNUSED_TOOL_ANSWER', [agent, during, POLITE])).toEqual([])
    expect(found('UNUSED_TOOL_ANSWER', [{ ...agent, durationMs: 500 }, during, POLITE])).toHaveLength(1)
    const parent = { ...agent, occurredAt: null, durationMs: null }
    expect(found('UNUSED_TOOL_ANSWER', [parent, { ...during, parentKey: parent.key }, POLITE])).toEqual([])
  })

  test('is not judged while the run goes on, nor in one too long to be read', () => {
    const running = { session: { status: 'RUNNING' as const } }
    expect(found('UNUSED_TOOL_ANSWER', [asked(), POLITE], running)).toEqual([])
    const long = Array.from({ length: 200 }, () => tool('book'))
    expect(found('UNUSED_TOOL_ANSWER', [asked(), POLITE, ...long])).toEqual([])
  })
})
