// What the note of each platform A recording and DESIGN.md sections 2 to 5 make of it, by hand.

export interface ExpectedStory {
  sessions: Record<string, ExpectedRun>
  /** the fields that the receipt warns about */
  warned: string[]
}

interface ExpectedRun {
  session: Record<string, unknown>
  /** in timeline order; what a step does not name is null, false or empty */
  events: Record<string, unknown>[]
}

export const platformAStories: Record<string, ExpectedStory> = {
  'all-text': {
    warned: [],
    sessions: {
      'zap-1002': {
        session: {
          status: 'COMPLETED',
          agent: 'Support triage',
          models: ['gpt-4o-mini'],
          llmCalls: 1,
          promptTokens: 120,
          completionTokens: 340,
          totalTokens: 460,
          costUsd: '0.000132',
          durationMs: 1850.5,
          durationSource: 'SPAN',
          startedAt: '{yesterday}T09:15:30.000Z',
        },
        events: [
          {
            type: 'LLM_CALL',
            model: 'gpt-4o-mini',
            input: 'Hello',
            output: 'Hi',
            promptTokens: 120,
            completionTokens: 340,
            costUsd: '0.000132',
            costSource: 'REPORTED',
            durationMs: 1850.5,
            occurredAt: '{yesterday}T09:15:30.000Z',
          },
        ],
      },
    },
  },
  'blank-values': {
    warned: [],
    sessions: {
      'zap-1003': {
        session: {
          status: 'RUNNING',
          agent: null,
          closedAt: null,
          errorCount: 0,
          errorMessage: null,
          models: [],
          promptTokens: null,
          completionTokens: null,
          costUsd: null,
          durationMs: null,
          durationSource: null,
        },
        events: [{ type: 'LLM_CALL', input: 'x', output: '' }],
      },
    },
  },
  'failed-then-end': {
    warned: [],
    sessions: {
      'zap-1013': {
        session: { status: 'FAILED', errorMessage: 'Timeout after 30 s', errorCount: 1 },
        events: [{ type: 'SPAN', error: 'Timeout after 30 s' }, { type: 'SESSION_END' }],
      },
    },
  },
  'failed-without-text': {
    warned: ['error'],
    sessions: {
      'zap-1006': {
        session: { status: 'FAILED', errorMessage: null, errorCount: 0 },
        events: [{ type: 'SPAN' }],
      },
    },
  },
  failure: {
    warned: [],
    sessions: {
      'zap-1005': {
        session: {
          status: 'FAILED',
          agent: 'Invoice extractor',
          errorCount: 1,
          errorMessage:
            'Request failed with status code 429: Rate limit reached for gpt-4o in organization org-abc123 on tokens per min',
        },
        events: [
          {
            type: 'SPAN',
            error:
              'Request failed with status code 429: Rate limit reached for gpt-4o in organization org-abc123 on tokens per min',
          },
        ],
      },
    },
  },
  'multi-step': {
    warned: [],
    sessions: {
      'zap-1004': {
        session: {
          status: 'COMPLETED',
          agent: 'Research digest',
          models: ['gpt-4o'],
          llmCalls: 2,
          toolCalls: 1,
          promptTokens: 2200,
          completionTokens: 610,
          totalTokens: 2810,
          // 2.50 and 10.00 USD per million tokens
          costUsd: '0.0116',
          unpricedCalls: 0,
          durationMs: 481,
          durationSource: 'STEPS',
        },
        events: [
          {
            type: 'LLM_CALL',
            model: 'gpt-4o',
            input: 'Summarise the article',
            output: 'It covers ...',
            promptTokens: 900,
            completionTokens: 210,
            costUsd: '0.00435',
            costSource: 'PRICED',
          },
          { type: 'TOOL_CALL', name: 'web_search', durationMs: 430 },
          { type: 'RETRIEVAL', name: 'docs', output: '3 chunks', durationMs: 51 },
          {
            type: 'LLM_CALL',
            model: 'gpt-4o',
            input: 'Now write the answer',
            output: 'Done',
            promptTokens: 1300,
            completionTokens: 400,
            costUsd: '0.00725',
            costSource: 'PRICED',
          },
        ],
      },
    },
  },
  'nested-by-unflatten': {
    warned: ['error'],
    sessions: {
      'zap-1010': {
        session: { status: 'RUNNING', errorCount: 1 },
        events: [{ type: 'SPAN', error: 'Bad gateway', attributes: { meta: { zap_id: '42', run: { attempt: '2' } } } }],
      },
    },
  },
  'no-type': {
    warned: ['type'],
    sessions: {
      'zap-1009': {
        session: { status: 'RUNNING', toolCalls: 1, durationMs: 77, durationSource: 'STEPS' },
        events: [{ type: 'TOOL_CALL', name: 'send_email', durationMs: 77 }],
      },
    },
  },
  'out-of-order': {
    warned: [],
    sessions: {
      'zap-1012': {
        session: {
          status: 'COMPLETED',
          durationMs: 2000,
          durationSource: 'SPAN',
          startedAt: '{yesterday}T10:00:01.000Z',
          llmCalls: 2,
        },
        events: [
          { type: 'LLM_CALL', input: 'first', occurredAt: '{yesterday}T10:00:01.000Z' },
          { type: 'LLM_CALL', input: 'second', occurredAt: '{yesterday}T10:00:02.000Z' },
          { type: 'SESSION_END', occurredAt: '{yesterday}T10:00:03.000Z' },
        ],
      },
    },
  },
  'single-success': {
    warned: [],
    sessions: {
      'zap-1001': {
        session: {
          status: 'COMPLETED',
          agent: 'Support triage',
          models: ['gpt-4o'],
          llmCalls: 1,
          promptTokens: 120,
          completionTokens: 3,
          totalTokens: 123,
          costUsd: '0.0024',
          durationMs: 1850,
          durationSource: 'STEPS',
          errorMessage: null,
        },
        events: [
          {
            type: 'LLM_CALL',
            model: 'gpt-4o',
            input: 'Classify this ticket: My invoice is wrong',
            output: 'billing',
            promptTokens: 120,
            completionTokens: 3,
            costUsd: '0.0024',
            costSource: 'REPORTED',
            durationMs: 1850,
          },
        ],
      },
    },
  },
  'tool-error-then-end': {
    warned: [],
    sessions: {
      'zap-1007': {
        session: {
          status: 'COMPLETED',
          errorCount: 1,
          errorMessage: 'connect ECONNREFUSED 10.0.0.5:443',
          durationMs: 12,
          durationSource: 'STEPS',
        },
        events: [
          { type: 'TOOL_CALL', name: 'crm.lookup', error: 'connect ECONNREFUSED 10.0.0.5:443', durationMs: 12 },
          { type: 'SESSION_END' },
        ],
      },
    },
  },
  'two-sessions-interleaved': {
    warned: [],
    sessions: {
      'zap-1008a': {
        session: { status: 'COMPLETED', llmCalls: 1, toolCalls: 0 },
        events: [{ type: 'LLM_CALL', input: 'a1' }, { type: 'SESSION_END' }],
      },
      'zap-1008b': {
        session: { status: 'COMPLETED', llmCalls: 1, toolCalls: 1 },
        events: [
          { type: 'LLM_CALL', input: 'b1' },
          { type: 'TOOL_CALL', name: 'mail' },
        ],
      },
    },
  },
  'unknown-fields': {
    warned: [],
    sessions: {
      'zap-1011': {
        session: { status: 'RUNNING' },
        events: [
          {
            type: 'SPAN',
            input: 'x',
            attributes: { zap_meta_human_now: '11/20/26 10:15AM', customer: { plan: 'pro', seats: 12 } },
          },
        ],
      },
    },
  },
}
