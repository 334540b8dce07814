// Owns what has arrived from each platform: read from what is stored, and again whenever a post is logged.
import { query, sentenceOf } from '../client.ts'
import { arrivalsQuery } from '../queries-connect.ts'
import { ingestLoggedSubscription } from '../queries-ingest.ts'
import { newestReceived, type Received, type RefusedPost } from '../rules/arrivals.ts'
import { platformLabel } from '../rules/session-filter.ts'
import type { UnauthenticatedCount } from '../rules/unauthenticated.ts'
import { account } from './account.svelte.ts'
import { announcer } from './announcer.svelte.ts'
import { connection } from './connection.svelte.ts'
import { LiveReading } from './live-reading.ts'
import { pause } from './pause.svelte.ts'

/** Posts without a valid key are counted, and nobody pushes a count. */
const countEveryMs = 5000

export interface PlatformArrivals {
  platform: 'PLATFORM_A' | 'PLATFORM_B'
  /** Null while it waits for the first. */
  received: Received | null
  refused: RefusedPost | null
}

export class FirstEvents {
  /** Null before the first reading. */
  platforms = $state.raw<PlatformArrivals[] | null>(null)
  /** Empty also for viewers, who may not know. */
  strangers = $state.raw<readonly UnauthenticatedCount[]>([])
  projects = $state.raw<string[]>([])
  isLoading = $state(false)
  problem = $state('')
  private readonly reading: LiveReading<{ filter: null }>
  private readonly countTimer: ReturnType<typeof setInterval>

  constructor() {
    this.reading = new LiveReading(
      ingestLoggedSubscription,
      () => ({ filter: null }),
      () => this.load(),
    )
    this.countTimer = setInterval(() => {
      const isWatched = document.visibilityState === 'visible' && connection.phase === 'live' && !pause.isOn
      if (account.isAdmin && isWatched) void this.read()
    }, countEveryMs)
  }

  stop() {
    this.reading.stop()
    clearInterval(this.countTimer)
  }

  read(): Promise<void> {
    return this.reading.readNow()
  }

  private async load() {
    this.isLoading = this.platforms === null || this.problem !== ''
    try {
      const { isAdmin } = account
      const all = await query(arrivalsQuery, { isAdmin })
      const platforms: PlatformArrivals[] = [
        {
          platform: 'PLATFORM_A',
          received: newestReceived(all.acceptedA.nodes[0] ?? null, all.sessionsA.nodes[0] ?? null),
          refused: all.refusedA.nodes[0] ?? null,
        },
        {
          platform: 'PLATFORM_B',
          received: newestReceived(all.acceptedB.nodes[0] ?? null, all.sessionsB.nodes[0] ?? null),
          refused: all.refusedB.nodes[0] ?? null,
        },
      ]
      if (this.platforms) for (const [index, now] of platforms.entries()) this.tell(this.platforms[index]!, now)
      this.platforms = platforms
      this.strangers = all.unauthenticatedPosts ?? []
      this.projects = all.projects.map(({ name }) => name)
      this.problem = ''
    } catch (error) {
      this.problem = sentenceOf(error)
    } finally {
      this.isLoading = false
    }
  }

  private tell(before: PlatformArrivals, now: PlatformArrivals) {
    const platform = platformLabel(now.platform)
    if (!before.received && now.received) announcer.say(`The first event from ${platform} was received`)
    if (now.refused && now.refused.id !== before.refused?.id)
      announcer.say(`A post from ${platform} was refused: ${now.refused.detail}`)
  }
}
