import type { Credentials } from '../../authn/authn.ts'
import { unauthorized } from '../../kube/status-error.ts'
import type { UserInfo } from '../../kube/user.ts'
import type { ApiRequest, Stage } from '../api.ts'

/** @throws StatusError Unauthorized. Answers the anonymous user when there are no credentials and that is allowed. */
export type Authenticate = (credentials: Credentials) => Promise<UserInfo>

export function authenticate(decide: Authenticate): Stage {
  return (next) => async (request, context) => {
    if (request.localUser !== undefined) {
      context.user = request.localUser
    } else {
      if (request.clientCertificate?.rejected) throw unauthorized()
      context.user = await decide(credentialsOf(request))
    }
    return next(request, context)
  }
}

function credentialsOf(request: ApiRequest): Credentials {
  const der = request.clientCertificate?.der
  const token = bearerToken(request.headers['authorization'])
  return {
    ...(der === undefined ? {} : { clientCertificate: der }),
    ...(token === undefined ? {} : { bearerToken: token }),
  }
}

/** Other schemes are ignored, as upstream does: the caller is then anonymous. An empty token counts as none. */
function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const space = header.indexOf(' ')
  if (space < 0 || header.slice(0, space).toLowerCase() !== 'bearer') return undefined
  const token = header.slice(space + 1).trim()
  return token === '' ? undefined : token
}
