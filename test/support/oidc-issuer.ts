/** A small OpenID Connect issuer on a real port: discovery document, keys that rotate, tokens with any claims. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { webhookCertificates } from './webhook-server.ts'

export interface OidcIssuerServer extends AsyncDisposable {
  /** `https://127.0.0.1:<port>` */
  readonly url: string
  /** PEM. */
  readonly ca: string
  /** Paths asked for, in order. */
  readonly asked: string[]
  /** What the discovery document calls the issuer, if not by its URL. */
  callItself: string | undefined
  /** A new key signs from now on; the old ones are published no longer, unless they are kept. `null`: without a kid. */
  rotate(how?: { readonly kid?: string | null; readonly keep?: boolean }): Promise<void>
  /** Claims beside `iss`; `alg: 'none'` leaves the signature out. */
  token(claims: JWTPayload, how?: { readonly alg?: 'RS256' | 'none'; readonly kid?: string }): Promise<string>
}

export async function startOidcIssuer(): Promise<OidcIssuerServer> {
  const { key, cert, ca } = webhookCertificates(['127.0.0.1'])
  let count = 0
  let signer: CryptoKey
  let published: readonly JWK[] = []
  const rotate: OidcIssuerServer['rotate'] = async ({ kid = `key-${++count}`, keep = false } = {}) => {
    const pair = await generateKeyPair('RS256', { extractable: true })
    signer = pair.privateKey
    const jwk = { ...(await exportJWK(pair.publicKey)), ...(kid === null ? {} : { kid }), alg: 'RS256', use: 'sig' }
    published = [...(keep ? published : []), jwk]
  }
  await rotate()
  const asked: string[] = []
  const server = createServer({ key, cert }, (request, response) => {
    asked.push(request.url ?? '')
    const document =
      request.url === '/keys'
        ? { keys: published }
        : { issuer: issuer.callItself ?? issuer.url, jwks_uri: `${issuer.url}/keys` }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(document))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer: OidcIssuerServer = {
    url,
    ca,
    asked,
    callItself: undefined,
    rotate,
    async token(claims, { alg = 'RS256', kid = published.at(-1)?.kid } = {}) {
      const payload = { iss: url, ...claims }
      if (alg === 'none') {
        const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
        return `${part({ alg: 'none' })}.${part(payload)}.`
      }
      return new SignJWT(payload).setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) }).sign(signer)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return issuer
}
