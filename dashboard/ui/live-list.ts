// Owns what a live grid needs of a list's state.
import type { Engagement } from '../rules/reveal.ts'

export interface LiveList {
  readonly isFirstLoad: boolean
  readonly hasMore: boolean
  scrollTop: number
  /** Where the keyboard stood when the list was left. */
  activeId?: string | null
  /** Tells how engaged the reader is; the grid sets it. */
  engagement: () => Omit<Engagement, 'newPerSecond'>
  reveal(): void
}

export interface FurtherPages {
  readonly isLoadingMore: boolean
  readonly moreProblem: string
  loadMore(): unknown
}
