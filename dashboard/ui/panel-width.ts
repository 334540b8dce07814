// Owns the width of side panels: dragged or set by keys, and remembered by this browser.
const storedAs = 'runwatch.panel'
const leastPx = 320
/** What stays beside it can still be read. */
const leastBesidePx = 360
const stepPx = 32

/** Attachment for the grip of a panel: a focusable separator inside the panel, whose parent lays both out. */
export function resizesPanel(grip: HTMLElement) {
  const panel = grip.parentElement!
  const page = panel.parentElement!
  const mostPx = () => Math.max(leastPx, page.clientWidth - leastBesidePx)

  function say() {
    grip.ariaValueMin = String(leastPx)
    grip.ariaValueMax = String(mostPx())
    grip.ariaValueNow = String(Math.round(panel.clientWidth))
  }
  function set(px: number) {
    const width = Math.round(Math.min(mostPx(), Math.max(leastPx, px)))
    page.style.setProperty('--panel', `min(${width}px, max(${leastPx}px, 100% - ${leastBesidePx}px))`)
    say()
    return width
  }
  function keep(px: number) {
    const width = set(px)
    // Storage may be closed to a page: then nothing is remembered.
    try {
      localStorage.setItem(storedAs, String(width))
    } catch {}
  }
  function moved(event: PointerEvent) {
    if (event.type === 'pointerdown') grip.setPointerCapture(event.pointerId)
    else if (!grip.hasPointerCapture(event.pointerId)) return
    event.preventDefault()
    keep(page.getBoundingClientRect().right - event.clientX)
  }
  function pressed(event: KeyboardEvent) {
    const by = { ArrowLeft: stepPx, ArrowRight: -stepPx, Home: -Infinity, End: Infinity }[event.key]
    if (by === undefined) return
    event.preventDefault()
    keep(panel.clientWidth + by)
  }
  try {
    const stored = Number(localStorage.getItem(storedAs))
    if (stored >= leastPx) set(stored)
  } catch {}
  say()
  grip.addEventListener('pointerdown', moved)
  grip.addEventListener('pointermove', moved)
  grip.addEventListener('keydown', pressed)
}
