// Owns what this browser remembers for a person: theme and single-key shortcuts. public/theme.js reads the same key.
export type Theme = 'system' | 'light' | 'dark'
export const themes = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

class Preferences {
  theme = $state<Theme>((document.documentElement.dataset.theme as Theme | undefined) ?? 'system')
  hasShortcuts = $state(read('runwatch.shortcuts') !== 'off')

  setTheme(theme: Theme) {
    this.theme = theme
    if (theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    write('runwatch.theme', theme)
  }

  setShortcuts(on: boolean) {
    this.hasShortcuts = on
    write('runwatch.shortcuts', on ? 'on' : 'off')
  }
}

// Storage may be closed to a page (private windows, policies): then nothing is remembered.
function read(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}
function write(key: string, value: string) {
  try {
    localStorage.setItem(key, value)
  } catch {}
}

export const preferences = new Preferences()
