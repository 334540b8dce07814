// Owns the socket: one connection, retried for ever, and the subscriptions that live on it.
import type { Client } from 'graphql-ws'
import { documentText, type TadaDocumentNode } from '../graphql.ts'
import { hasSignedOutCode } from '../client.ts'
import { retryDelayMs } from '../rules/backoff.ts'

const pingEveryMs = 10_000
const deadPeerMs = 5_000
const dialWithinMs = 10_000
const bannerAfterMs = 1_500

export interface Live<Data, Vars> {
  document: TadaDocumentNode<Data, Vars>
  /** Asked anew for every connection, so that a reader goes on where it stands. */
  variables: () => Vars
  next: (data: Data) => void
  /** After the subscription was sent on a new connection: time to catch up. */
  started?: () => void
  /** The server ended it or found nothing to subscribe to; it is tried again all the same. */
  ended?: () => void
}

export interface Subscription {
  /** Subscribes again with the variables of now; the old one ends after the new one is sent. */
  restart(): void
  stop(): void
}

class Connection {
  phase = $state<'closed' | 'connecting' | 'live' | 'offline'>('closed')
  attempt = $state(0)
  retryAtMs = $state(0)
  /** Offline for longer than a blink. */
  hasBanner = $state(false)
  hasNewVersion = $state(false)
  wasInterrupted = false
  private turn = 0
  private build: string | null = null
  private client: Client | null = null
  private retryTimer: ReturnType<typeof setTimeout> | undefined
  private bannerTimer: ReturnType<typeof setTimeout> | undefined
  /** Runs while the other side owes an answer. */
  private answerTimer: ReturnType<typeof setTimeout> | undefined
  private socket: WebSocket | undefined
  private running = new Set<Running>()
  private onSignedOut = () => {}

  constructor() {
    addEventListener('online', () => this.wake())
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && this.wake())
  }

  whenSignedOut(listener: () => void) {
    this.onSignedOut = listener
  }

  open() {
    if (this.phase === 'closed') void this.connect()
  }

  close() {
    this.drop()
    clearTimeout(this.retryTimer)
    clearTimeout(this.bannerTimer)
    this.bannerTimer = undefined
    this.turn += 1
    this.phase = 'closed'
    this.attempt = 0
    this.hasBanner = false
  }

  retryNow() {
    if (this.phase === 'offline') void this.connect()
  }

  /** Timers stood still, or the network changed: a socket that looks open may be dead, so it is asked at once. */
  private wake() {
    this.retryNow()
    if (this.phase !== 'live') return
    this.socket?.send('{"type":"ping"}')
    this.answerWithin(deadPeerMs)
  }

  private answerWithin(ms: number) {
    clearTimeout(this.answerTimer)
    const { client } = this
    this.answerTimer = setTimeout(() => this.client === client && client?.terminate(), ms)
  }

  subscribe<Data, Vars>(live: Live<Data, Vars>): Subscription {
    const running = new Running(live as Live<unknown, unknown>, () => this.onSignedOut())
    this.running.add(running)
    if (this.client && this.phase === 'live') running.start(this.client)
    return {
      restart: () => this.client && this.phase === 'live' && running.start(this.client),
      stop: () => {
        this.running.delete(running)
        running.stop()
      },
    }
  }

  /** The socket's code is loaded apart: the first rows are on screen before it is needed. */
  private async connect() {
    clearTimeout(this.retryTimer)
    this.drop()
    if (this.phase !== 'offline') this.phase = 'connecting'
    this.retryAtMs = 0
    const turn = (this.turn += 1)
    const loaded = await import('../socket-client.ts').catch(() => null)
    if (turn !== this.turn) return
    if (loaded) this.dial(loaded.createClient)
    else this.closed(0)
  }

  private dial(createClient: typeof import('../socket-client.ts').createClient) {
    const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/graphql`
    const isThis = () => this.client === client
    const client: Client = createClient({
      url,
      lazy: false,
      retryAttempts: 0,
      keepAlive: pingEveryMs,
      onNonLazyError: () => {},
      on: {
        connected: (socket, payload) => {
          if (!isThis()) return
          this.socket = socket as WebSocket
          this.connected(client, payload as { build?: unknown } | undefined)
        },
        closed: (event) => isThis() && this.closed((event as CloseEvent).code),
        ping: (received) => received || (isThis() && this.answerWithin(deadPeerMs)),
        pong: (received) => received && isThis() && clearTimeout(this.answerTimer),
      },
    })
    this.client = client
    // A browser waits minutes for a network that swallows what is sent.
    this.answerWithin(dialWithinMs)
  }

  private connected(client: Client, payload: { build?: unknown } | undefined) {
    if (typeof payload?.build === 'string') {
      this.build ??= payload.build
      if (this.build !== payload.build) this.hasNewVersion = true
    }
    clearTimeout(this.answerTimer)
    clearTimeout(this.bannerTimer)
    this.bannerTimer = undefined
    this.wasInterrupted = this.hasBanner
    this.hasBanner = false
    this.attempt = 0
    this.phase = 'live'
    for (const running of this.running) running.start(client)
  }

  private closed(code: number) {
    this.drop()
    if (code === 4401 || code === 4403) {
      this.close()
      return this.onSignedOut()
    }
    const delayMs = retryDelayMs(this.attempt)
    this.attempt += 1
    this.retryAtMs = Date.now() + delayMs
    this.phase = 'offline'
    this.bannerTimer ??= setTimeout(() => (this.hasBanner = this.phase === 'offline'), bannerAfterMs)
    this.retryTimer = setTimeout(() => void this.connect(), delayMs)
  }

  private drop() {
    clearTimeout(this.answerTimer)
    const client = this.client
    this.client = null
    for (const running of this.running) running.forget()
    void client?.dispose()
  }
}

/** One subscription through all its connections. */
class Running {
  private unsubscribe: (() => void) | null = null
  private failures = 0
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly live: Live<unknown, unknown>,
    private readonly onSignedOut: () => void,
  ) {}

  start(client: Client) {
    clearTimeout(this.timer)
    const before = this.unsubscribe
    let isCurrent = true
    const payload = {
      query: documentText(this.live.document),
      variables: this.live.variables() as Record<string, unknown>,
    }
    const end = client.subscribe<unknown>(payload, {
      next: (result) => {
        if (!isCurrent) return
        this.failures = 0
        if (result.errors) this.refused(client, result.errors)
        else if (result.data) this.live.next(result.data)
      },
      error: (error) => isCurrent && Array.isArray(error) && this.refused(client, error),
      complete: () => {
        if (!isCurrent) return
        this.live.ended?.()
        this.later(client)
      },
    })
    this.unsubscribe = () => {
      isCurrent = false
      end()
    }
    // A moment later, so that the new one stands before the old one ends: two overlap, a gap would lose changes.
    if (before) setTimeout(before, 300)
    this.live.started?.()
  }

  /** The connection is gone; the next one starts this again. */
  forget() {
    clearTimeout(this.timer)
    this.unsubscribe?.()
    this.unsubscribe = null
  }

  stop() {
    this.forget()
  }

  private refused(client: Client, errors: readonly { extensions?: unknown }[]) {
    if (hasSignedOutCode(errors)) return this.onSignedOut()
    this.live.ended?.()
    this.later(client)
  }

  private later(client: Client) {
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.start(client), retryDelayMs(this.failures + 1))
    this.failures = Math.min(this.failures + 1, 6)
  }
}

export const connection = new Connection()
