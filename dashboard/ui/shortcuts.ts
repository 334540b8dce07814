// Owns single-key shortcuts: who listens, and when keys are left alone.
import { preferences } from '../state/preferences.svelte.ts'

/** Answers false where the key means nothing right now and keeps its usual effect. */
export type Shortcuts = Record<string, (event: KeyboardEvent) => unknown>

/**
 * Never while typing, with a modifier, in a dialog, or when switched off (WCAG 2.1.4). Escape always works.
 * @param isAsked first: what follows `g` is a page, whatever the key means on the present one
 */
export function onShortcut(shortcuts: Shortcuts, isAsked: 'first' | 'in turn' = 'in turn'): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const target = event.target as HTMLElement
    if (target.closest('input:not([type=checkbox]), textarea, select, dialog, [contenteditable]')) return
    if (!preferences.hasShortcuts && event.key.length === 1) return
    const act = shortcuts[event.key]
    if (!act) return
    if (event.key === 'Enter' && target.closest('button, a, summary')) return
    if (act(event) !== false) event.preventDefault()
  }
  const isFirst = isAsked === 'first'
  addEventListener('keydown', listen, isFirst)
  return () => removeEventListener('keydown', listen, isFirst)
}
