// A budget of the dashboard beside what was measured, and how the two are printed.
import { availableParallelism, loadavg } from 'node:os'

export interface Measured {
  metric: string
  budget: string
  figure: string
  isMet: boolean
  /** by the clock: says nothing about the code where other work takes the cores, and is then not judged */
  isTimed: boolean
  /** load average of the last minute when it was measured */
  load: number
  note: string
}

/** @param most the largest value that keeps the budget */
export function upTo(
  metric: string,
  value: number,
  most: number,
  words: (value: number) => string,
  { isTimed = true, note = '' } = {},
): Measured {
  return {
    metric,
    budget: `<= ${words(most)}`,
    figure: words(value),
    isMet: value <= most,
    isTimed,
    load: loadavg()[0]!,
    note,
  }
}

/** What holds or does not, however fast the machine is. */
export const holds = (metric: string, budget: string, isMet: boolean, figure: string, note = ''): Measured => ({
  metric,
  budget,
  figure,
  isMet,
  isTimed: false,
  load: loadavg()[0]!,
  note,
})

export const isJudged = ({ isTimed, load }: Measured) => !isTimed || load <= availableParallelism()

const verdict = (one: Measured) =>
  isJudged(one)
    ? one.isMet
      ? 'met'
      : '**missed**'
    : `${one.isMet ? 'kept' : 'over'}, not judged at load ${one.load.toFixed(1)}`

export function budgetTable(facts: string[], measured: Measured[]): string {
  return [
    ...facts.map((fact) => `- ${fact}`),
    '',
    '| metric | budget | measured | verdict | note |',
    '|---|---|---|---|---|',
    ...measured.map((one) => `| ${one.metric} | ${one.budget} | ${one.figure} | ${verdict(one)} | ${one.note} |`),
  ].join('\n')
}
