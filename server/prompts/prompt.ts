// The model of prompt versions: their states, who may move them where, and what a maker is given and gives. Pure.
import type { Cause, FailureCategory } from '../failures/failure.ts'

export type PromptState = 'SHADOW' | 'ACTIVE' | 'REJECTED' | 'RETIRED'
export type PromptMaker = 'RULES' | 'MODEL' | 'PERSON'
export type DecisionAction = 'CREATED' | 'PROPOSED' | 'EDITED' | 'ACTIVATED' | 'REJECTED' | 'RETIRED' | 'ROLLED_BACK'

/** What a person may do with a version in each state. */
export const ACTIONS: Record<PromptState, readonly ('edit' | 'activate' | 'reject' | 'retire')[]> = {
  SHADOW: ['edit', 'activate', 'reject'],
  ACTIVE: ['retire'],
  // To roll back is to activate it again.
  RETIRED: ['activate'],
  REJECTED: [],
}

/** A workflow puts it before its own instruction with every call: what is longer costs more than it helps. */
export const MAX_PROMPT = 4_000
export const MAX_REASON = 1_000

/** How the failing step and the agent's models stand to each other: what an instruction could change. */
export type Role = 'MODEL' | 'TOOL' | 'AFTER_MODEL' | 'NO_MODEL'

/** A repeated failure, as the makers are given it. */
export interface Evidence {
  agent: string
  category: FailureCategory
  cause: Cause | null
  /** the tool, node or model it is about */
  subject: string | null
  title: string
  role: Role
  /** sessions that carry it within so many days */
  sessions: number
  days: number
  /** the newest that differ, as they came: what somebody else wrote */
  errorTexts: string[]
  /** the instruction that the workflow gives its model, as far as it was seen */
  instructionSeen: string | null
}

/** How often a failure must repeat until a candidate is made. */
export interface CandidateRule {
  isEnabled: boolean
  sessions: number
  days: number
}
export const DEFAULT_CANDIDATE_RULE: CandidateRule = { isEnabled: true, sessions: 5, days: 7 }
