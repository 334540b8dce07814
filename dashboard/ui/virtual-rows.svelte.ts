// Owns the state of a scroller whose rows all have one height: what is in sight and moving it.
import { rowWindow, scrollToCentre, scrollToShow } from '../rules/window.ts'

export class VirtualRows {
  scrollTop = $state(0)
  viewHeight = $state(0)
  rowHeight = $state(34)
  count = $state(0)
  /** The head that stays at the top of the scroller and covers rows. */
  headHeight = $state(0)
  private scroller: HTMLElement | null = null
  private readonly range = $derived(rowWindow(this.scrollTop, this.viewHeight, this.rowHeight, this.count))
  readonly first = $derived(this.range.first)
  readonly end = $derived(this.range.end)
  readonly height = $derived(this.count * this.rowHeight)
  /** Without the spare rows above and below. */
  readonly firstInSight = $derived(Math.min(this.count, Math.floor(this.scrollTop / this.rowHeight)))
  readonly endInSight = $derived(Math.min(this.count, Math.ceil((this.scrollTop + this.viewHeight) / this.rowHeight)))

  /** Attachment for the scroller; the head's height must be set before. */
  readonly attach = (element: HTMLElement) => {
    this.scroller = element
    const measure = () => (this.viewHeight = Math.max(0, element.clientHeight - this.headHeight))
    const scrolled = () => (this.scrollTop = element.scrollTop)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', scrolled, { passive: true })
    measure()
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', scrolled)
      this.scroller = null
    }
  }

  scrollTo(top: number) {
    if (!this.scroller) return
    this.scroller.scrollTop = top
    this.scrollTop = this.scroller.scrollTop
  }

  show(row: number) {
    const top = scrollToShow(row, this.scrollTop, this.viewHeight, this.rowHeight)
    if (top !== null) this.scrollTo(top)
  }

  centre(row: number) {
    this.scrollTo(scrollToCentre(row, this.viewHeight, this.rowHeight))
  }
}
