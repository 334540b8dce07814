// What the demo's agents do: their steps, and texts that read like the real thing.
import type { Random } from './random.ts'

export const MODELS = ['gpt-4o', 'gpt-4o-mini', 'claude-sonnet-4-5', 'gemini-2.5-flash'] as const
/** Priced by nobody: its calls show up as unpriced. */
export const UNKNOWN_MODEL = 'house-llm-7b'

const COMPANIES = [
  'Northwind Traders',
  'Blue Heron Coffee',
  'Fjord & Sons',
  'Meridian Labs',
  'Okafor Logistics',
  'Atelier Lune',
]
const PEOPLE = ['Ada Okafor', 'Jonas Lindqvist', 'Mei Tanaka', 'Rosa Álvarez', 'Tomás Novák', 'Priya Raman']

/** How often the model of "Lead enrichment" writes a date as people say it, which the CRM refuses: the cause to be found. */
const LOOSE_DATES = 0.35

export type Vocabulary = ReturnType<typeof vocabulary>

/** The particulars of one run, so that its steps speak of the same thing. */
export function vocabulary(random: Random) {
  return {
    company: random.pick(COMPANIES),
    person: random.pick(PEOPLE),
    order: `#${random.between(10_000, 99_999)}`,
    amount: (random.between(900, 480_000) / 100).toFixed(2),
    days: random.between(2, 21),
    followUp: random.chance(LOOSE_DATES)
      ? random.pick(['next Tuesday', 'in two weeks', 'end of the month'])
      : `2027-0${random.between(1, 9)}-${random.between(10, 28)}`,
  }
}

/** One step of a script. `{..}` in texts is filled from the run's vocabulary. */
export interface Step {
  kind: 'llm' | 'tool' | 'retrieval' | 'span'
  name?: string
  input: string
  output: string
  /** how long it takes, in milliseconds */
  takes: [from: number, to: number]
  /** what it says when it fails */
  errors?: string[]
  /** why it fails with what this run gives it; null where it does not */
  refuses?: (words: Vocabulary) => string | null
}

export interface Script {
  agent: string
  steps: Step[]
}

export const RATE_LIMIT =
  'Rate limit reached for gpt-4o in organization: 30000 tokens per minute. Please try again in 1.9s. (HTTP 429)'
const TIMEOUT = 'The request timed out after 30000 ms'

export const PLATFORM_A_SCRIPTS: Script[] = [
  {
    agent: 'Support triage',
    steps: [
      {
        kind: 'llm',
        input:
          'Classify this ticket by topic and urgency:\n\n"Hello, order {order} should have been here {days} days ago. I need it for Friday. {person}"',
        output: '{"topic": "delivery", "urgency": "high", "sentiment": "annoyed"}',
        takes: [600, 2200],
        errors: [RATE_LIMIT],
      },
      {
        kind: 'retrieval',
        name: 'help-centre',
        input: 'late delivery compensation policy',
        output: '1. Orders more than 5 days late: refund of the shipping fee.\n2. Express orders: a 10 % voucher.',
        takes: [80, 400],
      },
      {
        kind: 'tool',
        name: 'orders.lookup',
        input: '{"order": "{order}"}',
        output: '{"status": "in_transit", "carrier": "DHL", "days_late": {days}}',
        takes: [150, 900],
        errors: ['HTTP 502 Bad Gateway from orders.internal', TIMEOUT],
      },
      {
        kind: 'llm',
        input:
          'Write a friendly reply to {person}. Facts: order {order} is in transit, {days} days late; the shipping fee is refunded.',
        output:
          'Hi {person},\n\nI am sorry that your order {order} is late. It is on its way with DHL, and I have refunded the shipping fee. If it is not there by Thursday, just answer this mail and I will send it again by express.\n\nBest wishes,\nThe support team',
        takes: [1200, 4200],
        errors: [RATE_LIMIT],
      },
    ],
  },
  {
    agent: 'Refund copilot',
    steps: [
      {
        kind: 'span',
        input: 'Refund request of {person} for order {order}: {amount} EUR',
        output: 'accepted for review',
        takes: [20, 120],
      },
      {
        kind: 'tool',
        name: 'payments.find_charge',
        input: '{"order": "{order}"}',
        output: '{"charge": "ch_3Q8x", "amount": "{amount}", "currency": "EUR", "refundable": true}',
        takes: [200, 1100],
        errors: ['No such charge: ch_3Q8x (resource_missing)', 'HTTP 401 Unauthorized: the API key expired'],
      },
      {
        kind: 'llm',
        input:
          'May this be refunded under our policy? Order {order}, {days} days after delivery, {amount} EUR, reason: "arrived damaged".',
        output:
          'Yes. The goods arrived damaged and the request came within 30 days, so the policy allows a full refund of {amount} EUR.',
        takes: [800, 2600],
      },
      {
        kind: 'tool',
        name: 'payments.refund',
        input: '{"charge": "ch_3Q8x", "amount": "{amount}"}',
        output: '{"refund": "re_1Pf2", "status": "succeeded"}',
        takes: [300, 1500],
        errors: ['The refund was declined: insufficient balance', TIMEOUT],
      },
    ],
  },
  {
    agent: 'Research digest',
    steps: [
      {
        kind: 'tool',
        name: 'web.search',
        input: '{company} quarterly results',
        output: '["{company} grows by 14 %", "{company} opens a second plant", "Analysts on {company}: cautious"]',
        takes: [400, 1800],
        errors: ['HTTP 429 Too Many Requests (search quota of the day used up)'],
      },
      {
        kind: 'retrieval',
        name: 'notes',
        input: '{company}',
        output: 'Three notes of the last {days} days mention {company}.',
        takes: [60, 350],
      },
      {
        kind: 'llm',
        input:
          'Summarize in five bullet points what happened at {company} and why it matters to us.\n\n{company} grows by 14 %\n{company} opens a second plant\nAnalysts on {company}: cautious',
        output:
          '- Revenue rose by 14 %, mostly abroad.\n- A second plant opens in spring.\n- Margins are flat; energy costs eat the gains.\n- The CFO leaves in June.\n- For us: renew the contract before the price list changes.',
        takes: [2500, 7000],
        errors: [
          RATE_LIMIT,
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 141377 tokens.",
        ],
      },
    ],
  },
  {
    agent: 'Lead enrichment',
    steps: [
      {
        kind: 'tool',
        name: 'crm.search',
        input: '{"company": "{company}"}',
        output: '{"id": 4711, "owner": "{person}", "stage": "qualified"}',
        takes: [150, 700],
        errors: ['getaddrinfo ENOTFOUND crm.internal'],
      },
      {
        kind: 'llm',
        input:
          'Score this lead from 0 to 100, say why, and when to follow up: {company}, contact {person}, last order {days} days ago.',
        output: '{"score": 72, "follow_up": "{followUp}", "why": "Recent order, known contact, growing company."}',
        takes: [500, 1900],
      },
      {
        kind: 'tool',
        name: 'crm.update',
        input: '{"id": 4711, "score": 72, "follow_up": "{followUp}"}',
        output: '{"ok": true}',
        takes: [120, 500],
        errors: ['HTTP 409 Conflict: the record was changed by {person}'],
        refuses: ({ followUp }) =>
          /^\d/.test(followUp)
            ? null
            : 'HTTP 422 Unprocessable Entity: follow_up must be a date in the format YYYY-MM-DD, got "{followUp}"',
      },
    ],
  },
]

/** Fills the particulars of a run into a text. */
export function filled(text: string, words: Vocabulary): string {
  return text.replace(/\{(company|person|order|amount|days|followUp)\}/g, (_, name: keyof Vocabulary) =>
    String(words[name]),
  )
}
