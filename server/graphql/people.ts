// People in GraphQL: who may sign in and as what, invitations and links for a new password, and one's own browsers.
import { LINK_HOURS, type Invitation as InvitationRow } from '../access/links.ts'
import { isEmail, MAX_EMAIL, type SignIn as SignInRow } from '../access/people.ts'
import type { ListedPerson, RosterRefusal } from '../access/roster.ts'
import { quoted } from '../errors.ts'
import { builder, failure } from './builder.ts'
import { isAdmin, type Context } from './context.ts'
import { Role } from './enums.ts'
import { invitationUuid, personUuid } from './ids.ts'

const Person = builder.objectRef<ListedPerson>('Person')

builder.node(Person, {
  description: 'Somebody who may sign in. Admins only.',
  id: { resolve: (person) => person.id, description: 'Global id.' },
  loadOne: (id, context) => (isAdmin(context) ? context.access.roster.read(id) : null),
  fields: (t) => ({
    email: t.exposeString('email', { description: 'What they sign in with.' }),
    role: t.expose('role', { type: Role, description: 'What they may do.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When they joined.' }),
    lastSeenAt: t.expose('lastSeenAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a browser of theirs last asked something, within a minute; null where none ever did.',
    }),
    browsers: t.exposeInt('browsers', { description: 'In how many browsers they are signed in.' }),
    isYou: t.boolean({
      description: 'Whether this is who asks.',
      resolve: ({ id }, _args, { actor }) => actor.kind === 'PERSON' && actor.person.id === id,
    }),
    isLastAdmin: t.exposeBoolean('isLastAdmin', {
      description: 'There is no other admin: they can neither be removed nor made a viewer.',
    }),
    newPasswordUntil: t.expose('newPasswordUntil', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when a link to set a new password can be used; null where there is none.',
    }),
  }),
})

const Invitation = builder.objectRef<InvitationRow>('Invitation')

builder.node(Invitation, {
  description: 'A one-time link to join that was neither used nor withdrawn. Only its hash is kept. Admins only.',
  id: { resolve: (invitation) => invitation.id, description: 'Global id.' },
  loadOne: (id, context) => (isAdmin(context) ? context.access.links.invitation(id) : null),
  fields: (t) => ({
    email: t.exposeString('email', { description: 'Who is invited.' }),
    role: t.expose('role', { type: Role, description: 'What they will be.' }),
    madeBy: t.exposeString('madeBy', { description: 'E-mail of the admin who made it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'It can be used until then.' }),
  }),
})

const SignIn = builder.objectRef<SignInRow>('SignIn').implement({
  description: 'A browser in which you are signed in.',
  fields: (t) => ({
    browser: t.exposeString('browser', {
      nullable: true,
      description: 'What it calls itself, like "Firefox on Linux"; null where that is not known.',
    }),
    signedInAt: t.expose('signedInAt', { type: 'DateTime', description: 'Since when.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      description: 'When it last asked something, within a minute.',
    }),
    isThis: t.exposeBoolean('isThis', { description: 'The one that asks.' }),
  }),
})

builder.queryFields((t) => ({
  people: t.field({
    type: [Person],
    description: 'Who may sign in, those who joined first at the top. Admins only.',
    authScopes: { admin: true },
    resolve: (_root, _args, context) => context.access.roster.list(),
  }),
  invitations: t.field({
    type: [Invitation],
    description: 'Invitations that wait to be used, and those that expired within 30 days, newest first. Admins only.',
    authScopes: { admin: true },
    resolve: (_root, _args, context) => context.access.links.invitations(),
  }),
  signIns: t.field({
    type: [SignIn],
    description: 'The browsers in which you are signed in, this one first; none for keys.',
    resolve: (_root, _args, { actor, access }) =>
      actor.kind === 'PERSON' ? access.people.signIns(actor.person.id, actor.token) : [],
  }),
}))

const CreateInvitationInput = builder.inputType('CreateInvitationInput', {
  description: 'Who is to join.',
  fields: (t) => ({
    email: t.string({ required: true, description: `An e-mail address of at most ${MAX_EMAIL} characters.` }),
    role: t.field({ type: Role, required: true, description: 'What they will be.' }),
  }),
})

const CreatedInvitation = builder
  .objectRef<{ invitation: InvitationRow; link: string }>('CreatedInvitation')
  .implement({
    description: 'A new invitation.',
    fields: (t) => ({
      invitation: t.expose('invitation', { type: Invitation, description: 'What is kept of it.' }),
      link: t.exposeString('link', { description: 'The link itself. It is shown this once; no mail is sent.' }),
    }),
  })

const NewPasswordLink = builder.objectRef<{ link: string; expiresAt: Date }>('NewPasswordLink').implement({
  description: 'A one-time link with which somebody sets a new password.',
  fields: (t) => ({
    link: t.exposeString('link', { description: 'The link itself. It is shown this once; no mail is sent.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'It can be used until then.' }),
  }),
})

/** Who changes something; mutations are for signed-in admins alone. */
function adminOf({ actor }: Context) {
  if (actor.kind !== 'PERSON') throw failure('FORBIDDEN', 'Only a signed-in admin may do this.')
  return actor.person
}

const noSuchPerson = () => failure('NOT_FOUND', 'There is no such person. Somebody may have removed them meanwhile.')

/** The result of a change, or the refusal in words. Whatever is open is looked at again. */
function changed<T extends object | string>(context: Context, result: T | RosterRefusal): T {
  if (result === 'not-there') throw noSuchPerson()
  if (result === 'last-admin') throw failure('CONFLICT', 'There is no other admin. Make somebody else an admin first.')
  context.access.rightsChanged()
  return result as T
}

const id = { required: true } as const

builder.mutationFields((t) => ({
  createInvitation: t.field({
    type: CreatedInvitation,
    description: `Makes a one-time link with which somebody joins, for ${LINK_HOURS.INVITATION / 24} days. It replaces an open one for the same e-mail.`,
    args: { input: t.arg({ type: CreateInvitationInput, required: true }) },
    resolve: async (_root, { input }, context) => {
      const email = input.email.trim()
      if (!isEmail(email)) {
        const sentence = `email must be an e-mail address of at most ${MAX_EMAIL} characters, not ${quoted(input.email)}.`
        throw failure('BAD_USER_INPUT', sentence)
      }
      const made = await context.access.links.invite(adminOf(context), email, input.role)
      if (!made) {
        const sentence = `email must be of somebody without an account, and ${email} has one. Change the role there, or make a link for a new password.`
        throw failure('BAD_USER_INPUT', sentence)
      }
      return { invitation: made.invitation, link: `${context.baseUrl}/invitation#token=${made.token}` }
    },
  }),
  withdrawInvitation: t.field({
    type: 'ID',
    description: 'Ends an invitation that was not used yet. Answers its id.',
    args: { id: t.arg.id(id) },
    resolve: async (_root, { id }, context) => {
      if (!(await context.access.links.withdraw(adminOf(context).id, invitationUuid(id))))
        throw failure('NOT_FOUND', 'There is no such open invitation. It may have been used meanwhile.')
      return String(id)
    },
  }),
  setPersonRole: t.field({
    type: Person,
    description:
      'Changes what somebody may do, at once. Links that a former admin handed out are withdrawn. The last admin stays one.',
    args: { id: t.arg.id(id), role: t.arg({ type: Role, required: true }) },
    resolve: async (_root, { id, role }, context) =>
      changed(context, await context.access.roster.setRole(adminOf(context).id, personUuid(id), role)),
  }),
  removePerson: t.field({
    type: 'ID',
    description:
      'Removes somebody: they are signed out everywhere at once, and links that they handed out are withdrawn. Not the last admin. Answers their id.',
    args: { id: t.arg.id(id) },
    resolve: async (_root, { id }, context) => {
      changed(context, await context.access.roster.remove(adminOf(context).id, personUuid(id)))
      return String(id)
    },
  }),
  signOutPerson: t.field({
    type: Person,
    description: 'Signs somebody out in every browser at once; they may sign in again.',
    args: { id: t.arg.id(id) },
    resolve: async (_root, { id }, context) =>
      changed(context, await context.access.roster.signOut(adminOf(context).id, personUuid(id))),
  }),
  createNewPasswordLink: t.field({
    type: NewPasswordLink,
    description: `Makes a one-time link with which somebody else sets a new password, for ${LINK_HOURS.NEW_PASSWORD} hours. It replaces an open one; until it is used the old password holds.`,
    args: { id: t.arg.id(id) },
    resolve: async (_root, { id }, context) => {
      const admin = adminOf(context)
      if (personUuid(id) === admin.id)
        throw failure('BAD_USER_INPUT', 'id must be of somebody else: your own password is changed with the old one.')
      const made = await context.access.links.newPassword(admin, personUuid(id))
      if (!made) throw noSuchPerson()
      return { link: `${context.baseUrl}/new-password#token=${made.token}`, expiresAt: made.expiresAt }
    },
  }),
}))
