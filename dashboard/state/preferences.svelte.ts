// Owns what this browser remembers for a person. public/theme.js reads theme and motion before the first paint.
import { writeTimesIn } from '../rules/format.ts'

export const themes = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

const { dataset, style } = document.documentElement

class Preferences {
  theme = $state(dataset.theme ?? 'system')
  /** "reduce", whatever the system asks for. */
  motion = $state(dataset.motion ?? 'system')
  density = $state(read('density'))
  shortcuts = $state(read('shortcuts'))
  /** An IANA name; empty for the browser's own. */
  timeZone = $state(read('timeZone'))
  /** False where this browser lets nothing be stored: what was chosen lasts until the page is left. */
  isKept = $state(true)
  readonly hasShortcuts = $derived(this.shortcuts !== 'off')
  /** The one height of rows with one line, for code and, as --row, for CSS. */
  readonly rowHeightPx = $derived(this.density === 'compact' ? 28 : 34)

  constructor() {
    this.apply()
  }

  choose(name: 'theme' | 'motion' | 'density' | 'shortcuts' | 'timeZone', value: string) {
    this[name] = value
    this.apply()
    try {
      localStorage.setItem(`runwatch.${name}`, value)
    } catch {
      this.isKept = false
    }
  }

  private apply() {
    for (const name of ['theme', 'motion'] as const)
      if (this[name] === 'system') delete dataset[name]
      else dataset[name] = this[name]
    style.setProperty('--row', `${this.rowHeightPx}px`)
    // One that this browser does not know.
    if (!writeTimesIn(this.timeZone)) this.timeZone = ''
  }
}

// Storage may be closed to a page (private windows, policies): then nothing is remembered.
function read(name: string): string {
  try {
    return localStorage.getItem(`runwatch.${name}`) ?? ''
  } catch {
    return ''
  }
}

export const preferences = new Preferences()
