/** Who is asking, from the connection and the headers; requests of our own code bring their identity along. */
import type { Credentials } from '../../authn/authn.ts'
import { andThen, type Eventual } from '../../base/eventual.ts'
import { unauthorized } from '../../kube/status-error.ts'
import { anonymousUser, type UserInfo } from '../../kube/user.ts'
import type { ApiRequest, Stage } from '../api.ts'
import { bearerTokenOf, websocketTokenOf } from '../bearer-token.ts'

/** undefined = no authenticator recognised the credentials. @throws StatusError Unauthorized */
export type Authenticate = (credentials: Credentials) => Eventual<UserInfo | undefined>

export function authenticate(decide: Authenticate): Stage {
  return (next) => (request, context) => {
    if (request.localUser !== undefined) {
      context.user = request.localUser
      return next(request, context)
    }
    return andThen(decide(credentialsOf(request)), (user) => {
      if (user === undefined) throw unauthorized()
      context.user = user
      if (user.username !== anonymousUser.username) request.identify?.(user.username)
      return next(request, context)
    })
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
  return token === undefined ? proof : { ...proof, bearerToken: token }
}
