// The enums of failures; their values are the words of the database.
import { builder } from './builder.ts'

export const FailureCategory = builder.enumType('FailureCategory', {
  description: 'What kind of failure a rule found.',
  values: {
    TOOL_FAILURE: { description: 'A tool or node failed.' },
    MODEL_FAILURE: { description: 'A call of a language model failed.' },
    RETRIEVAL_FAILURE: { description: 'A look-up in a store of documents failed.' },
    RUN_FAILURE: { description: 'The run failed, and no step is to blame.' },
    INFINITE_LOOP: { description: 'Steps repeated in the same pattern far more often than is usual.' },
    LATENCY_SPIKE: { description: 'The run took longer than is usual for its agent.' },
    COST_ANOMALY: { description: 'The models of the run cost more than is usual for its agent.' },
  } as const,
})

export const Severity = builder.enumType('Severity', {
  description: 'How bad a failure is.',
  values: {
    LOW: { description: 'Good to know.' },
    MEDIUM: { description: 'Look at it when there is time.' },
    HIGH: { description: 'Look at it today.' },
    CRITICAL: { description: 'Look at it now.' },
  } as const,
})

export const FailureCause = builder.enumType('FailureCause', {
  description: 'Why a step failed, read from its error text and HTTP status.',
  values: {
    TIMEOUT: { description: 'No answer in time.' },
    RATE_LIMIT: { description: 'Too many requests, or a quota is used up.' },
    AUTHENTICATION: { description: 'A credential is missing, wrong or lacks a right.' },
    NOT_FOUND: { description: 'What was asked for is not there.' },
    INVALID_INPUT: { description: 'The step was given something it cannot use.' },
    CONNECTION: { description: 'The address could not be reached.' },
    CONTEXT_LENGTH: { description: 'More text than the model takes.' },
    CONTENT_FILTER: { description: 'The provider refused the content.' },
    PROVIDER_ERROR: { description: 'A fault of the service that was called.' },
    OTHER: { description: 'None of these.' },
  } as const,
})

export const MeasureUnit = builder.enumType('MeasureUnit', {
  description: 'The unit of a measured value and its threshold.',
  values: {
    MS: { description: 'Milliseconds.' },
    USD: { description: 'US dollars.' },
    TOKENS: { description: 'Tokens.' },
    ROUNDS: { description: 'Rounds of a loop.' },
  } as const,
})

export const ThresholdSource = builder.enumType('ThresholdSource', {
  description: 'Where a threshold comes from.',
  values: {
    FIXED_FOR_AGENT: { description: 'A person fixed it for this agent.' },
    FIXED_FOR_PROJECT: { description: 'A person fixed it for the project.' },
    ADAPTIVE: { description: "Worked out from the agent's last runs." },
    DEFAULT: { description: 'Too few runs of the agent are known yet.' },
  } as const,
})

export const RuleOutcome = builder.enumType('RuleOutcome', {
  description: 'What a rule says of a session.',
  values: {
    FOUND: { description: 'It found a failure.' },
    NOT_FOUND: { description: 'It looked and found none.' },
    CANNOT_TELL: { description: 'What it needs to know did not come.' },
    COULD_NOT_RUN: { description: 'A fault of its own kept it from looking.' },
  } as const,
})

export const PatternState = builder.enumType('PatternState', {
  description: 'What became of a pattern.',
  values: {
    OPEN: { description: 'Nobody has resolved it.' },
    RESOLVED: { description: 'Resolved, and not seen since.' },
    REOPENED: { description: 'Resolved, and seen again since.' },
  } as const,
})
