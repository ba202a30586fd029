/**
 * The authenticators in order. The first that recognises a credential as good decides. A credential that nobody takes
 * for good is 401, also where anonymous requests are allowed: whoever shows a wrong key must hear that it is wrong.
 * @see k8s.io/apiserver/pkg/authentication/{request/union,group,request/anonymous} v0.36
 */
import { StatusError, unauthorized } from '../kube/status-error.ts'
import { anonymousUser, authenticatedGroup, type UserInfo } from '../kube/user.ts'
import type { Authenticator, Credentials } from './authn.ts'

export interface AuthenticatorChainOptions {
  /** Requests without any credential are `system:anonymous`; otherwise they are refused. */
  readonly anonymous: boolean
}

export interface AuthenticatorChain extends Authenticator {
  /** Never answers undefined. */
  authenticate(credentials: Credentials): Promise<UserInfo>
}

export function authenticatorChain(
  members: readonly Authenticator[],
  options: AuthenticatorChainOptions,
): AuthenticatorChain {
  return {
    name: 'chain',
    async authenticate(credentials) {
      let refusal: StatusError | undefined
      for (const member of members) {
        try {
          const answer = member.authenticate(credentials)
          const user = answer instanceof Promise ? await answer : answer
          if (user) return withAuthenticatedGroup(user)
        } catch (error) {
          if (!(error instanceof StatusError) || error.reason !== 'Unauthorized') throw error
          refusal ??= error
        }
      }
      if (refusal) throw refusal
      const presented = credentials.bearerToken !== undefined || credentials.clientCertificateRejected === true
      if (presented || !options.anonymous) throw unauthorized()
      return anonymousUser
    },
  }
}

function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.username === anonymousUser.username || user.groups.includes(authenticatedGroup)) return user
  return { ...user, groups: [...user.groups, authenticatedGroup] }
}
