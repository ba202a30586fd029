/**
 * The authenticators in order. The first that recognises a credential as good decides. A credential that none accepts
 * is 401, also where anonymous requests are allowed: a client with a wrong key must learn that it is wrong.
 * @see k8s.io/apiserver/pkg/authentication/{request/union,group,request/anonymous} v0.36
 */
import type { Eventual } from '../base/eventual.ts'
import { StatusError, unauthorized } from '../kube/status-error.ts'
import { anonymousUser, authenticatedGroup, type UserInfo } from '../kube/user.ts'
import type { Authenticator, Credentials } from './authn.ts'

export interface AuthenticatorChainOptions {
  /** Requests without any credential are `system:anonymous`; otherwise they are refused. */
  readonly allowsAnonymous: (credentials: Credentials) => boolean
}

export interface AuthenticatorChain extends Authenticator {
  /** Never answers undefined. */
  authenticate(credentials: Credentials): Eventual<UserInfo>
}

export function authenticatorChain(
  members: readonly Authenticator[],
  options: AuthenticatorChainOptions,
): AuthenticatorChain {
  /** From the member at `from` on; a promise only where one of them needs time. */
  const ask = (credentials: Credentials, from: number, refused: StatusError | undefined): Eventual<UserInfo> => {
    let refusal = refused
    for (let i = from; i < members.length; i++) {
      try {
        const answer = members[i]?.authenticate(credentials)
        if (answer instanceof Promise) {
          return answer.then(
            (user) => (user ? withAuthenticatedGroup(user) : ask(credentials, i + 1, refusal)),
            (error: unknown) => ask(credentials, i + 1, refusal ?? refusalIn(error)),
          )
        }
        if (answer) return withAuthenticatedGroup(answer)
      } catch (error) {
        refusal ??= refusalIn(error)
      }
    }
    if (refusal) throw refusal
    const presented = credentials.bearerToken !== undefined || credentials.clientCertificateRejected === true
    if (presented || !options.allowsAnonymous(credentials)) throw unauthorized()
    return anonymousUser
  }
  return { authenticate: (credentials) => ask(credentials, 0, undefined) }
}

/** What only says that the credential is not good; anything else is a fault. */
function refusalIn(error: unknown): StatusError {
  if (error instanceof StatusError && error.reason === 'Unauthorized') return error
  throw error
}

/** Members that remember whom they know answer the same object each time. */
const completed = new WeakMap<UserInfo, UserInfo>()

function withAuthenticatedGroup(user: UserInfo): UserInfo {
  if (user.username === anonymousUser.username || user.groups.includes(authenticatedGroup)) return user
  let whole = completed.get(user)
  if (whole === undefined) {
    whole = { ...user, groups: [...user.groups, authenticatedGroup] }
    completed.set(user, whole)
  }
  return whole
}
