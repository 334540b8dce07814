// How the fuzz test makes its bodies: recorded JSON as a tree that may hold what no JSON.parse would give back, changes
// of its structure, and changes of its bytes.
import type { Random } from '../../server/demo/random.ts'

/** Of one body; before its bytes are changed it has at most half of that. */
export const MAX_BYTES = 256 * 1024

/** An object whose names may come twice. */
export class Members {
  constructor(readonly list: [name: string, value: Tree][]) {}
}

/** Written as it is: numbers that JavaScript does not have. */
export class Raw {
  constructor(readonly text: string) {}
}

export type Tree = string | number | boolean | null | Tree[] | Members | Raw

export function treeOf(value: unknown): Tree {
  if (Array.isArray(value)) return value.map(treeOf)
  if (typeof value !== 'object' || value === null) return value as Tree
  return new Members(Object.entries(value).map(([name, inner]) => [name, treeOf(inner)]))
}

export function write(tree: Tree): string {
  if (tree instanceof Raw) return tree.text
  if (Array.isArray(tree)) return `[${tree.map(write).join(',')}]`
  if (tree instanceof Members)
    return `{${tree.list.map(([name, value]) => `${JSON.stringify(name)}:${write(value)}`).join(',')}}`
  return JSON.stringify(tree)
}

const FACES = '😀'.repeat(60)
const TEXTS = [
  ...[
    '',
    ' ',
    '\t\n',
    'null',
    'NULL',
    'undefined',
    'true',
    'NaN',
    'Infinity',
    '-Infinity',
    '0x10',
    '1,200',
    '１２',
    '+5',
  ],
  ...[
    '-0',
    '-1',
    '1.5',
    '.5',
    '5.',
    '1e3',
    '1e308',
    '1e400',
    '-1e-400',
    '1e-400',
    '5e-324',
    '9'.repeat(400),
    `0.${'1'.repeat(90)}`,
  ],
  ...['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '+294277-01-01T00:00:00Z', '-000001-01-01T00:00:00Z'],
  ...[
    '9999-12-31T23:59:59Z',
    '2200-12-31T23:59:59.999999999+14:00',
    '1970-01-01T00:00:00+14:00',
    '2026-02-30T00:00:00Z',
  ],
  ...['2026-11-21T10:15:30', '2026-11-21', '20261121T101530Z', 'yesterday', '1795219257', '8640000000000001'],
  ...['\0', 'a\0b', '\ud800', 'x\udc00', '\udc00\ud800', '\ufeff', '\u2028\u0085', '\u202ex', 'e\u0301'.repeat(99)],
  ...[
    '{}',
    '[]',
    '{"',
    '{,}',
    '\\',
    '\\"',
    '"',
    "'",
    '%',
    '$1',
    '$&',
    '{NULL}',
    "'; drop table sessions; --",
    '../../etc',
  ],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '__UNKNOWN__', 'length', 'then'],
  ...[
    `x${FACES}`,
    FACES,
    'x'.repeat(128),
    'x'.repeat(129),
    `${'x'.repeat(499)}😀`,
    'y'.repeat(20_000),
    '\\'.repeat(3_000),
  ],
  ...[
    'llm.call',
    'Session.End',
    'success',
    'ERROR',
    'error',
    'crashed',
    'waiting',
    'gpt-4o',
    'https://example.com/x?y=1',
  ],
  ...['Bearer abcdef0123456789abcdef', 'cookie: a=0123456789', '{"id":"as text","workflowId":"w"}', '[{"id":1}]'],
]
const NUMBERS = [
  ...[
    '0',
    '-0',
    '-1',
    '-5',
    '1.5',
    '0.1',
    '1e3',
    '1E+2',
    '1e308',
    '-1e308',
    '1e309',
    '-1e400',
    '1e-400',
    '5e-324',
    '1e21',
  ],
  ...[
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
    '18446744073709551616',
    '2147483648',
    '-9007199254740991',
  ],
  ...[
    '1795219257',
    '1795219257000',
    '99999999999',
    '100000000000',
    '253402300800000',
    '7289654400000',
    '8640000000000001',
  ],
  ...['9'.repeat(400), `-${'9'.repeat(400)}`, `0.${'3'.repeat(400)}`, `1${'0'.repeat(99)}e-99`],
]
const A_NAMES = (
  'session_id type agent_name model tool_name input prompt output completion prompt_tokens completion_tokens cost ' +
  'duration_ms error status timestamp event_id'
).split(' ')
const B_NAMES = (
  'execution id workflowId workflowName status startedAt stoppedAt mode data resultData runData error message name ' +
  'description messages cause httpCode lastNodeExecuted retryOf url workflow workflowData nodes type parameters main ' +
  'startTime executionTime executionIndex executionStatus source previousNode previousNodeRun inputOverride json binary ' +
  'ai_languageModel ai_tool metadata tokenUsage tokenUsageEstimate promptTokens completionTokens usage choices ' +
  'redactedError execution.id execution.status subExecution response generations options'
).split(' ')
const NAMES = [...A_NAMES, ...B_NAMES, ...TEXTS]

export class Mutator {
  constructor(private readonly random: Random) {}

  /** Some changes of the structure, each at a random place: anywhere, which is mostly deep inside, or near the root. */
  structure(tree: Tree): Tree {
    let changed = tree
    for (let left = this.random.between(1, 4); left > 0; left--) {
      const last = countOf(changed) - 1
      const place = this.random.between(0, this.random.chance(0.8) ? last : Math.min(last, 4))
      const next = this.changedAt(changed, place)
      if (Buffer.byteLength(write(next)) < MAX_BYTES / 2 - 4_096) changed = next
    }
    return changed
  }

  /** Bytes that may be no JSON any more. */
  bytes(body: Buffer): Buffer {
    const at = this.random.between(0, body.length)
    const [before, after] = [body.subarray(0, at), body.subarray(at)]
    const deep = this.random.between(1, 130)
    return this.random.pick([
      () => before,
      () => after,
      () => Buffer.concat([Buffer.from('\ufeff'), body]),
      () => Buffer.concat([before, Buffer.from('\ufeff'), after]),
      () => Buffer.concat([before, Buffer.from([this.random.between(0x80, 0xff)]), after]),
      () => Buffer.concat([before, Buffer.from('edb080c0aff4908080', 'hex'), after]),
      () => Buffer.concat([before, Buffer.from([this.random.between(0, 0x1f)]), after]),
      () => Buffer.concat([body, body]),
      () => Buffer.concat([body, Buffer.from(this.random.pick([' \n', ',', ']', '\0', '//x', 'null']))]),
      () => Buffer.from(`${'['.repeat(deep)}${body}${']'.repeat(deep)}`),
      () => Buffer.from(`${'{"execution":'.repeat(deep)}${body}${'}'.repeat(deep)}`),
      () => Buffer.from(body.toString(), 'utf16le'),
      () => Buffer.from(body.toString('latin1').replaceAll('"', "'")),
      () => this.flipped(body),
    ])()
  }

  private flipped(body: Buffer): Buffer {
    const copy = Buffer.from(body)
    for (let left = this.random.between(1, 8); left > 0 && copy.length > 0; left--)
      copy[this.random.between(0, copy.length - 1)]! ^= 1 << this.random.between(0, 7)
    return copy
  }

  /** Changes the value at this place, counted from the root. */
  private changedAt(tree: Tree, place: number): Tree {
    if (place === 0) return isInner(tree) && this.random.chance(0.85) ? this.rearranged(tree) : this.replaced(tree)
    let left = place - 1
    const children = childrenOf(tree)
    const at = children.findIndex((child) => (left -= countOf(child)) < 0)
    const child = this.changedAt(children[at]!, left + countOf(children[at]!))
    if (Array.isArray(tree)) return tree.with(at, child)
    const { list } = tree as Members
    return new Members(list.with(at, [list[at]![0], child]))
  }

  private rearranged(tree: Tree[] | Members): Tree {
    const at = this.random.between(0, childrenOf(tree).length - 1)
    if (Array.isArray(tree)) {
      return this.random.pick([
        () => tree.toSpliced(at, 1),
        () => tree.toSpliced(at, 0, ...Array<Tree>(this.random.between(1, 30)).fill(tree[at]!)),
        () => tree.toSpliced(at, 0, this.nasty()),
        () => tree.toReversed(),
      ])()
    }
    const [name, value] = tree.list[at]!
    const list = this.random.pick<() => [string, Tree][]>([
      () => tree.list.toSpliced(at, 1),
      () => tree.list.with(at, [this.random.pick(NAMES), value]),
      () => [...tree.list, [name, this.nasty()]],
      () => [[name, this.nasty()], ...tree.list],
      () => [...tree.list, [this.random.pick(NAMES), this.nasty()]],
      () => [...tree.list, [this.random.pick(NAMES), value]],
      () => [...tree.list, ['__proto__', new Members([['session_id', 'polluted']])]],
      () => tree.list.with(at, [name, this.random.pick(tree.list)[1]]),
    ])()
    return new Members(list)
  }

  private replaced(tree: Tree): Tree {
    return this.random.pick<() => Tree>([
      () => this.nasty(),
      () => this.nasty(),
      () => this.random.pick(TEXTS),
      () => new Raw(this.random.pick(NUMBERS)),
      () => [tree],
      () => new Members([[this.random.pick(NAMES), tree]]),
      () => write(tree),
      () => (typeof tree === 'string' ? tree + this.random.pick(TEXTS) : this.deep(tree)),
    ])()
  }

  private nasty(): Tree {
    return this.random.pick<() => Tree>([
      () => this.random.pick(TEXTS),
      () => this.random.pick(TEXTS),
      () => new Raw(this.random.pick(NUMBERS)),
      () => new Raw(this.random.pick(NUMBERS)),
      () => this.random.pick([true, false, null]),
      () => this.random.pick<Tree>([[], new Members([]), [[]], [null], new Members([['', '']])]),
      () => new Members([[this.random.pick(NAMES), this.random.pick(TEXTS)]]),
      () => Array<Tree>(this.random.between(1, 20)).fill(this.random.pick(TEXTS)),
      () => new Members(Array.from({ length: 300 }, (_, i) => [`${this.random.pick(TEXTS).slice(0, 20)}${i}`, i])),
      () => this.deep(this.random.pick(TEXTS)),
    ])()
  }

  private deep(tree: Tree): Tree {
    let nested = tree
    for (let left = this.random.between(1, 97); left > 0; left--)
      nested = this.random.chance(0.5) ? [nested] : new Members([['a', nested]])
    return nested
  }
}

/** The same with ids that are taken: of duplicate names the last wins. */
export function withGoodIds(tree: Tree, id: string): Tree {
  if (Array.isArray(tree)) return tree.map((item) => withGoodIds(item, id))
  if (!(tree instanceof Members)) return tree
  const wrapped = tree.list.findLast(([name]) => name === 'execution')?.[1]
  if (!wrapped) return new Members([...tree.list, ['session_id', id]])
  if (!(wrapped instanceof Members)) return tree
  return new Members([...tree.list, ['execution', new Members([...wrapped.list, ['id', id]])]])
}

const childrenOf = (tree: Tree): Tree[] =>
  Array.isArray(tree) ? tree : tree instanceof Members ? tree.list.map(([, value]) => value) : []
const isInner = (tree: Tree): tree is Tree[] | Members => childrenOf(tree).length > 0
const countOf = (tree: Tree): number => childrenOf(tree).reduce<number>((sum, child) => sum + countOf(child), 1)
