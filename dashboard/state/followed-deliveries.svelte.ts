// Owns something that is read of deliveries, and read again whenever one that concerns it has changed.
import { query, sentenceOf } from '../client.ts'
import {
  deliveryChangedSubscription,
  deliveryQuery,
  sessionDeliveriesQuery,
  type DeliveryFilterInput,
  type DeliveryRow,
  type DeliveryWhole,
} from '../queries-deliveries.ts'
import { connection, type Subscription } from './connection.svelte.ts'
import { pause } from './pause.svelte.ts'

const readAgainAfterMs = 200
const compareEveryMs = 30_000

/** What is read; it is equal to itself only by its key. */
export interface Followed<Value> {
  key: string
  read(): Promise<Value>
  /** Changes of these are heard of; null where there are none to hear of. */
  filterOf(value: Value): DeliveryFilterInput | null
  concerns?(delivery: DeliveryRow): boolean
  /** An attempt is due, or being made: a server that ends in it tells nobody. */
  isUnsettled(value: Value): boolean
}

export class FollowedDeliveries<Value> {
  /** What was read before stays until the next is there. */
  value = $state.raw<Value | null>(null)
  problem = $state('')
  private followed: Followed<Value> | null = null
  private heardOf = ''
  private subscription: Subscription | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private isStale = false
  private asked = 0
  /** Of those that were asked for, the newest that is shown. */
  private shown = 0
  private readonly compareTimer: ReturnType<typeof setInterval>
  private readonly forgetPause: () => void

  constructor() {
    this.forgetPause = pause.whenOver(() => this.isStale && void this.read())
    this.compareTimer = setInterval(() => {
      const isCompared = document.visibilityState === 'visible' && connection.phase === 'live'
      if (isCompared && this.value !== null && this.followed?.isUnsettled(this.value)) this.changed()
    }, compareEveryMs)
  }

  /** @param value where it has been read already */
  turnTo(followed: Followed<Value>, value: Value | null = null) {
    if (value === null && followed.key === this.followed?.key) return
    this.followed = followed
    clearTimeout(this.timer)
    // A moment of rest before reading, so that running through the rows does not ask for each.
    if (value === null) this.timer = setTimeout(() => void this.read(), this.value === null ? 0 : 120)
    else this.show(followed, value)
  }

  stop() {
    this.followed = null
    this.subscription?.stop()
    this.forgetPause()
    clearTimeout(this.timer)
    clearInterval(this.compareTimer)
  }

  async read() {
    const { followed } = this
    if (!followed) return
    clearTimeout(this.timer)
    this.timer = undefined
    this.isStale = false
    const turn = (this.asked += 1)
    const isNewest = () => followed === this.followed && turn > this.shown
    try {
      const value = await followed.read()
      if (!isNewest()) return
      this.shown = turn
      this.show(followed, value)
    } catch (error) {
      if (isNewest()) this.problem = sentenceOf(error)
    }
  }

  private show(followed: Followed<Value>, value: Value) {
    this.value = value
    this.problem = ''
    this.hearOf(followed.filterOf(value))
  }

  private hearOf(filter: DeliveryFilterInput | null) {
    const heardOf = JSON.stringify(filter)
    if (heardOf === this.heardOf) return
    this.heardOf = heardOf
    this.subscription?.stop()
    this.subscription =
      filter &&
      connection.subscribe({
        document: deliveryChangedSubscription,
        variables: () => ({ filter }),
        next: ({ deliveryChanged: { delivery, resync } }) => {
          if (resync || (delivery && (this.followed?.concerns?.(delivery) ?? true))) this.changed()
        },
        started: () => this.changed(),
      })
  }

  private changed() {
    this.isStale = true
    if (!pause.isOn) this.timer ??= setTimeout(() => void this.read(), readAgainAfterMs)
  }
}

/** Null where it is not stored any more. */
export interface OpenDelivery {
  id: string
  delivery: DeliveryWhole | null
}

export const oneDelivery = (id: string): Followed<OpenDelivery> => ({
  key: id,
  async read() {
    const { node } = await query(deliveryQuery, { id })
    return { id, delivery: node?.__typename === 'Delivery' ? node : null }
  },
  filterOf: ({ delivery }) =>
    delivery && (delivery.alert.session ? { session: delivery.alert.session.id } : { agents: [delivery.alert.agent] }),
  concerns: (delivery) => delivery.id === id,
  isUnsettled: ({ delivery }) => delivery?.state === 'QUEUED',
})

export const deliveriesOfSession = (id: string): Followed<readonly DeliveryRow[]> => ({
  key: id,
  read: async () => (await query(sessionDeliveriesQuery, { id })).session?.deliveries ?? [],
  filterOf: () => ({ session: id }),
  isUnsettled: (deliveries) => deliveries.some(({ state }) => state === 'QUEUED'),
})
