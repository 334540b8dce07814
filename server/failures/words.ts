// Numbers in the sentences that people read.

export function countOf(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}

/** A duration: 420 ms, 12.7 s, 3 min 20 s, 2 h 5 min. */
export function seconds(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`
  const total = Math.round(ms / 1_000)
  if (total < 3_600) return total % 60 === 0 ? `${total / 60} min` : `${Math.floor(total / 60)} min ${total % 60} s`
  const minutes = Math.round(total / 60)
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Four decimals below a dollar, two above, as the dashboard shows them. */
export function usd(value: number): string {
  return `${value < 1 ? value.toFixed(4) : value.toFixed(2)} USD`
}

export const tokensText = (value: number) => countOf(Math.round(value), 'token')
