// Owns who is signed in, and what they may do.
import { readAuthState, signOut, type Person } from '../auth.ts'
import { sentenceOf } from '../client.ts'

class Account {
  phase = $state<'asking' | 'unreachable' | 'out' | 'in'>('asking')
  person = $state.raw<Person | null>(null)
  setUpNeeded = $state(false)
  problem = $state('')
  /** An admin gave another role while the page was open; until that was read. */
  hasNewRole = $state(false)
  /** Signed out by something else than the button of this page. */
  wasEnded = $state(false)
  readonly isAdmin = $derived(this.person?.role === 'ADMIN')

  async ask() {
    this.phase = 'asking'
    try {
      const state = await readAuthState()
      this.setUpNeeded = state.setUpNeeded
      if (state.signedIn && state.person) this.enter(state.person)
      else this.leave()
    } catch (error) {
      this.problem = sentenceOf(error)
      this.phase = 'unreachable'
    }
  }

  /** Asks again while the page stays as it is: rights may have changed or ended. */
  async refresh() {
    const state = await readAuthState().catch(() => null)
    if (!state || this.phase !== 'in') return
    if (!state.person) return this.end()
    this.hasNewRole ||= state.person.email === this.person?.email && state.person.role !== this.person.role
    this.person = state.person
  }

  enter(person: Person) {
    this.person = person
    this.setUpNeeded = this.hasNewRole = this.wasEnded = false
    this.phase = 'in'
  }

  leave() {
    this.person = null
    this.phase = 'out'
  }

  /** The server said that this sign-in is over. */
  end() {
    if (this.phase !== 'in') return
    this.wasEnded = true
    this.leave()
  }

  async signOut() {
    try {
      await signOut()
    } finally {
      this.leave()
      this.wasEnded = false
    }
  }
}

export const account = new Account()
