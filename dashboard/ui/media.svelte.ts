// Owns what the screen is like: narrow (bottom bar, two-line rows) and touched by fingers.
import { MediaQuery } from 'svelte/reactivity'

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
    return narrow.current || coarse.current ? 44 : 34
  },
  get timelineRowHeightPx() {
    return narrow.current ? 44 : 28
  },
}
