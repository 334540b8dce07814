// Owns telling how wide an element is: at once, and again whenever that changes.
export const onWidth = (tell: (px: number) => void) => (element: HTMLElement) => {
  const measure = () => tell(element.clientWidth)
  const observer = new ResizeObserver(measure)
  observer.observe(element)
  measure()
  return () => observer.disconnect()
}
