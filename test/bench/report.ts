// Figures as numbers and as Markdown.

export interface Row {
  what: string
  figure: string
  beside?: string
  target?: string
  note?: string
}

export interface Section {
  title: string
  rows: Row[]
  notes: string[]
}

export function markdown(facts: string[], sections: Section[]): string {
  const lines = ['## Machine', '', ...facts.map((fact) => `- ${fact}`)]
  for (const { title, rows, notes } of sections) {
    lines.push('', `## ${title}`, '', '| what | figure | beside | target | note |', '|---|---|---|---|---|')
    for (const row of rows) {
      lines.push(`| ${row.what} | ${row.figure} | ${row.beside ?? ''} | ${row.target ?? ''} | ${row.note ?? ''} |`)
    }
    if (notes.length > 0) lines.push('', ...notes.map((note) => `- ${note}`))
  }
  return lines.join('\n')
}

export function quantile(values: number[], share: number): number {
  if (values.length === 0) return NaN
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
}

export const spread = (values: number[]) => ({
  p50: quantile(values, 0.5),
  p95: quantile(values, 0.95),
  p99: quantile(values, 0.99),
  max: quantile(values, 1),
})

export const median = (values: number[]) => quantile(values, 0.5)
export const whole = (value: number) => Math.round(value).toLocaleString('en-US')
export const ms = (value: number) => `${value < 10 ? value.toFixed(2) : value.toFixed(1)} ms`
export const met = (isMet: boolean, target: string) => `${target}: ${isMet ? 'met' : 'missed'}`
