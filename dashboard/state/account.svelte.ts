// Owns who is signed in.
import { readAuthState, signOut, type Person } from '../auth.ts'
import { sentenceOf } from '../client.ts'

class Account {
  phase = $state<'asking' | 'unreachable' | 'out' | 'in'>('asking')
  person = $state.raw<Person | null>(null)
  setUpNeeded = $state(false)
  problem = $state('')
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

  enter(person: Person) {
    this.person = person
    this.setUpNeeded = false
    this.phase = 'in'
  }

  leave() {
    this.person = null
    this.phase = 'out'
  }

  async signOut() {
    try {
      await signOut()
    } finally {
      this.leave()
    }
  }
}

export const account = new Account()
