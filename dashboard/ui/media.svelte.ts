// Owns what the screen is like: narrow (bottom bar, two-line rows) and touched by fingers.
import { MediaQuery } from 'svelte/reactivity'
import { preferences } from '../state/preferences.svelte.ts'

const narrow = new MediaQuery('max-width: 719px')
const coarse = new MediaQuery('pointer: coarse')
const wide = new MediaQuery('min-width: 1100px')

export const screenSize = {
  get isNarrow() {
    return narrow.current
  },
  get isWide() {
    return wide.current
  },
  /** The one height of list rows, for code and CSS. */
  get listRowHeightPx() {
    return narrow.current || coarse.current ? 44 : preferences.rowHeightPx
  },
  /** Of rows with two lines, on narrow screens three. */
  get tallRowHeightPx() {
    return narrow.current ? 68 : preferences.rowHeightPx + 16
  },
  get timelineRowHeightPx() {
    return narrow.current ? 44 : 28
  },
}
