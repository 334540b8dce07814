// Owns the GraphQL documents about when candidate prompts are made, and what the model that proposes them has spent.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'

const candidateRuleFragment = graphql(`
  fragment CandidateRuleRow on CandidateRule @_unmask {
    project
    agent
    isEnabled
    sessions
    days
    isDefault
    updatedAt
    updatedBy
  }
`)
export type CandidateRuleRow = FragmentOf<typeof candidateRuleFragment>

export const candidateRulesQuery = graphql(
  `
    query CandidateRules {
      candidateRules {
        ...CandidateRuleRow
      }
    }
  `,
  [candidateRuleFragment],
)

export const setCandidateRuleMutation = graphql(
  `
    mutation SetCandidateRule($project: String!, $agent: String, $rule: CandidateRuleInput) {
      setCandidateRule(project: $project, agent: $agent, rule: $rule) {
        ...CandidateRuleRow
      }
    }
  `,
  [candidateRuleFragment],
)

export const promptModelQuery = graphql(`
  query PromptModel {
    promptModel {
      model
      tokensToday
      tokensPerDay
      costUsdToday
      usdPerDay
    }
  }
`)
export type PromptModel = NonNullable<ResultOf<typeof promptModelQuery>['promptModel']>
