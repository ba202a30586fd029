import type { Credentials } from '../../authn/authn.ts'
import { unauthorized } from '../../kube/status-error.ts'
import type { UserInfo } from '../../kube/user.ts'
import type { ApiRequest, Stage } from '../api.ts'

/** undefined = nobody recognised the credentials. @throws StatusError Unauthorized */
export type Authenticate = (credentials: Credentials) => Promise<UserInfo | undefined>

export function authenticate(decide: Authenticate): Stage {
  return (next) => async (request, context) => {
    if (request.localUser !== undefined) {
      context.user = request.localUser
    } else {
      if (request.clientCertificate?.rejected) throw unauthorized()
      const user = await decide(credentialsOf(request))
      if (user === undefined) throw unauthorized()
      context.user = user
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
