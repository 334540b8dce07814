// Owns who may sign in and who is invited. Read again after each change.
import { mutate, query, sentenceOf } from '../client.ts'
import {
  createInvitationMutation,
  createNewPasswordLinkMutation,
  peopleQuery,
  removePersonMutation,
  setPersonRoleMutation,
  signOutPersonMutation,
  withdrawInvitationMutation,
  type InvitationRow,
  type PersonRow,
} from '../queries-people.ts'

/** A link that is shown this once. */
export interface NewLink {
  email: string
  isInvitation: boolean
  link: string
  expiresAt: string
}

export class People {
  /** Null until they were read. */
  list = $state.raw<PersonRow[] | null>(null)
  invitations = $state.raw<InvitationRow[]>([])
  problem = $state('')
  private reads = 0

  async read() {
    const turn = ++this.reads
    try {
      const { people, invitations } = await query(peopleQuery, {})
      if (turn !== this.reads) return
      this.list = people
      this.invitations = invitations
      this.problem = ''
    } catch (error) {
      if (turn === this.reads) this.problem = sentenceOf(error)
    }
  }

  async invite(email: string, role: PersonRow['role']): Promise<NewLink> {
    const { createInvitation } = await mutate(createInvitationMutation, { input: { email, role } })
    await this.read()
    const { invitation, link } = createInvitation
    return { ...invitation, link, isInvitation: true }
  }

  async newPasswordLink({ id, email }: PersonRow): Promise<NewLink> {
    const { createNewPasswordLink } = await mutate(createNewPasswordLinkMutation, { id })
    await this.read()
    return { ...createNewPasswordLink, email, isInvitation: false }
  }

  withdraw = (id: string) => this.afterwards(mutate(withdrawInvitationMutation, { id }))
  setRole = (id: string, role: PersonRow['role']) => this.afterwards(mutate(setPersonRoleMutation, { id, role }))
  remove = (id: string) => this.afterwards(mutate(removePersonMutation, { id }))
  signOut = (id: string) => this.afterwards(mutate(signOutPersonMutation, { id }))

  /** A refusal too may come from what somebody else changed meanwhile. */
  private async afterwards(change: Promise<unknown>) {
    try {
      await change
    } finally {
      await this.read()
    }
  }
}
