// Owns the address bar: the current URL as state, and moving about without loading the page again.
import { readRoute } from './paths.ts'

class Router {
  private url = $state.raw(new URL(location.href))
  readonly route = $derived(readRoute(this.url.pathname))
  readonly query = $derived(this.url.searchParams)
  readonly address = $derived(this.url.pathname + this.url.search)
  readonly hash = $derived(this.url.hash)

  /** Back or forward led here: lists go on where they were left. */
  isReturn = false

  constructor() {
    addEventListener('popstate', () => {
      this.isReturn = true
      this.url = new URL(location.href)
    })
    document.addEventListener('click', (event) => this.followLink(event))
  }

  go(address: string) {
    if (address === this.address) return
    this.isReturn = false
    history.pushState(null, '', address)
    this.url = new URL(location.href)
  }

  replace(address: string) {
    if (address === this.address + this.hash) return
    history.replaceState(history.state, '', address)
    this.url = new URL(location.href)
  }

  private followLink(event: MouseEvent) {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    const link = (event.target as Element | null)?.closest?.('a[href]') as HTMLAnchorElement | null
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return
    if (link.pathname.startsWith('/api/') || (link.hash && link.pathname === location.pathname)) return
    event.preventDefault()
    this.go(link.pathname + link.search)
  }
}

export const router = new Router()
