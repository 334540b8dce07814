// Owns the GraphQL documents of people, invitations, and the own signed-in browsers.
import { graphql, type FragmentOf, type ResultOf } from './graphql.ts'

const personFragment = graphql(`
  fragment PersonRow on Person @_unmask {
    id
    email
    role
    createdAt
    lastSeenAt
    browsers
    isYou
    isLastAdmin
    newPasswordUntil
  }
`)
export type PersonRow = FragmentOf<typeof personFragment>

export const peopleQuery = graphql(
  `
    query People {
      people {
        ...PersonRow
      }
      invitations {
        id
        email
        role
        madeBy
        createdAt
        expiresAt
      }
    }
  `,
  [personFragment],
)
export type InvitationRow = ResultOf<typeof peopleQuery>['invitations'][number]

export const createInvitationMutation = graphql(`
  mutation CreateInvitation($input: CreateInvitationInput!) {
    createInvitation(input: $input) {
      invitation {
        email
        expiresAt
      }
      link
    }
  }
`)

export const withdrawInvitationMutation = graphql(`
  mutation WithdrawInvitation($id: ID!) {
    withdrawInvitation(id: $id)
  }
`)

export const setPersonRoleMutation = graphql(`
  mutation SetPersonRole($id: ID!, $role: Role!) {
    setPersonRole(id: $id, role: $role) {
      id
    }
  }
`)

export const removePersonMutation = graphql(`
  mutation RemovePerson($id: ID!) {
    removePerson(id: $id)
  }
`)

export const signOutPersonMutation = graphql(`
  mutation SignOutPerson($id: ID!) {
    signOutPerson(id: $id) {
      id
    }
  }
`)

export const createNewPasswordLinkMutation = graphql(`
  mutation CreateNewPasswordLink($id: ID!) {
    createNewPasswordLink(id: $id) {
      link
      expiresAt
    }
  }
`)

export const signInsQuery = graphql(`
  query SignIns {
    signIns {
      browser
      signedInAt
      lastUsedAt
      isThis
    }
  }
`)
export type SignInRow = ResultOf<typeof signInsQuery>['signIns'][number]
