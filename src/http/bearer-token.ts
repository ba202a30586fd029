/**
 * Where a bearer token stands in a request.
 * @see k8s.io/apiserver/pkg/authentication/request/bearertoken, .../websocket v0.36
 */
import { textOfBytes, textOfHeader } from '../base/header-bytes.ts'
import { unauthorized } from '../kube/status-error.ts'

/**
 * The token of an `Authorization` header. Other schemes and an empty token count as none.
 * @throws StatusError Unauthorized for bytes that are not UTF-8: no token is like that
 */
export function bearerTokenOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const [scheme = '', token = ''] = authorization.trim().split(' ', 2)
  return scheme.toLowerCase() === 'bearer' && token !== '' ? textOrRefusal(textOfHeader(token)) : undefined
}

const protocolPrefix = 'base64url.bearer.authorization.k8s.io.'

/** The token that a browser hides in `Sec-WebSocket-Protocol`, which is the only header it may set. @throws as above */
export function websocketTokenOf(protocols: string | undefined): string | undefined {
  if (protocols === undefined) return undefined
  for (const protocol of protocols.split(',')) {
    const text = protocol.trim()
    if (!text.startsWith(protocolPrefix)) continue
    const encoded = text.slice(protocolPrefix.length)
    if (encoded === '' || !/^[\w-]+$/.test(encoded)) return undefined
    return textOrRefusal(textOfBytes(Buffer.from(encoded, 'base64url')))
  }
  return undefined
}

function textOrRefusal(token: string | undefined): string {
  if (token === undefined) throw unauthorized()
  return token
}
