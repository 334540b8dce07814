// Owns clicks on cells that lie above a row's stretched link to show a title: they open the row all the same.

/** Attachment: a cell of class "tip" leads where the link of its row leads. */
export function openRowOfTip(container: HTMLElement) {
  const open = (event: MouseEvent) => {
    const tip = (event.target as Element).closest('.tip')
    const link = tip?.closest('[role=row], tr')?.querySelector<HTMLAnchorElement>('a[href]')
    if (!link || event.button > 1) return
    if (event.button === 1 || event.metaKey || event.ctrlKey) window.open(link.href, '_blank', 'noopener')
    else link.click()
  }
  container.addEventListener('click', open)
  container.addEventListener('auxclick', open)
  return () => {
    container.removeEventListener('click', open)
    container.removeEventListener('auxclick', open)
  }
}
