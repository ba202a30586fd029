/** Who is asking, from the connection and the headers; requests of our own code bring their identity along. */
import type { Credentials } from '../../authn/authn.ts'
import { andThen, type Eventual, isPending } from '../../base/eventual.ts'
import { findStatusError, unauthorized } from '../../kube/status-error.ts'
import { anonymousUser, type UserInfo } from '../../kube/user.ts'
import type { ApiRequest, Stage } from '../api.ts'
import { bearerTokenOf, websocketTokenOf } from '../bearer-token.ts'
import { flowOfAddress } from '../flow-of.ts'
import { type LateRefusals, refuseInTime } from '../late-refusals.ts'

/** undefined = no authenticator recognised the credentials. @throws StatusError Unauthorized */
export type Authenticate = (credentials: Credentials) => Eventual<UserInfo | undefined>

/** Refusals of an address beyond the first hundred of a second are answered late, as those of a user. */
export function authenticate(decide: Authenticate, lateRefusals?: Pick<LateRefusals, 'timeOf'>): Stage {
  const refuse = (request: ApiRequest, refusal: unknown): Eventual<never> => {
    if (lateRefusals === undefined || findStatusError(refusal)?.reason !== 'Unauthorized') throw refusal
    return refuseInTime(lateRefusals, flowOfAddress(request.remoteAddress), request, refusal)
  }
  return (next) => (request, context) => {
    if (request.localUser !== undefined) {
      context.user = request.localUser
      return next(request, context)
    }
    const known = (user: UserInfo): ReturnType<typeof next> => {
      context.user = user
      if (user.username !== anonymousUser.username) request.identify?.(user.username)
      return next(request, context)
    }
    return andThen(decided(decide, request), (found) =>
      found.user === undefined ? refuse(request, found.refusal) : known(found.user),
    )
  }
}

interface Decided {
  readonly user?: UserInfo | undefined
  /** Where there is no user. */
  readonly refusal?: unknown
}

function decided(decide: Authenticate, request: ApiRequest): Eventual<Decided> {
  const told = (user: UserInfo | undefined): Decided => (user === undefined ? { refusal: unauthorized() } : { user })
  try {
    const user = decide(credentialsOf(request))
    return isPending(user) ? user.then(told, (refusal: unknown) => ({ refusal })) : told(user)
  } catch (refusal) {
    return { refusal }
  }
}

function credentialsOf(request: ApiRequest): Credentials {
  const certificate = request.clientCertificate
  const token =
    bearerTokenOf(request.headers['authorization']) ?? websocketTokenOf(request.headers['sec-websocket-protocol'])
  const { path } = request
  const proof =
    certificate === undefined
      ? { path }
      : certificate.rejected
        ? { path, clientCertificateRejected: true }
        : { path, clientCertificate: certificate.der, headers: request }
  if (token === undefined) return proof
  return { ...proof, bearerToken: token, from: flowOfAddress(request.remoteAddress) }
}
