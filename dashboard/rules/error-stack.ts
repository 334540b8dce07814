// Owns the parting of an error's text: what it says, and the frames that are read only when somebody asks.
export interface PartedError {
  says: string
  stack: string | null
}

const jsFrame = /^\s+at \S/
const pythonHead = /^\s*Traceback \(most recent call last\)/
const isIndented = (line: string) => /^\s+\S/.test(line)

export function partedError(message: string): PartedError {
  const lines = message.split('\n')
  const head = lines.findIndex((line) => pythonHead.test(line))
  if (head !== -1) {
    // Python says what went wrong below the frames.
    const last = lines.findLastIndex((line, index) => index > head && isIndented(line))
    const says = [...lines.slice(0, head), ...lines.slice(last + 1)].join('\n').trim()
    return last > head && says !== '' ? { says, stack: lines.slice(head, last + 1).join('\n') } : whole(message)
  }
  const first = lines.findIndex((line) => jsFrame.test(line))
  const says = lines.slice(0, first).join('\n').trimEnd()
  return first > 0 && says !== '' ? { says, stack: lines.slice(first).join('\n').trimEnd() } : whole(message)
}

const whole = (says: string): PartedError => ({ says, stack: null })
