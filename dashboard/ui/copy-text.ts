// Owns writing to the clipboard, also where the page is served without https and the clipboard API is missing.
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'visually-hidden'
    const focused = document.activeElement as HTMLElement | null
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    focused?.focus()
    return done
  }
}
