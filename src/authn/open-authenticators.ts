/** Who recognises which credentials, in the order in which they are asked. */
import { readFile } from 'node:fs/promises'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Authenticator } from './authn.ts'
import type { ClientAuthorities } from './client-authorities.ts'
import { ClientCertificateAuthenticator } from './client-certificate.ts'
import { type FrontProxy, FrontProxyAuthenticator } from './front-proxy.ts'
import { getJson } from './get-json.ts'
import type { OidcConfig } from './identity-config.ts'
import { OidcAuthenticator } from './oidc.ts'
import type { ServiceAccountTokens } from './service-account-token.ts'
import { TokenFileAuthenticator } from './token-file.ts'

const issuerTimeoutMs = 5000
const issuerMaxBytes = 1024 * 1024

export interface AuthenticationOptions {
  readonly clock: Clock
  readonly log: Log
  /** Absent = no static tokens. */
  readonly tokenFile?: string
  /** Absent = no ID tokens. */
  readonly oidc?: OidcConfig
  /** Absent = headers name no user. */
  readonly frontProxy?: FrontProxy
}

/** @throws TokenFileError, Error for files that can't be read or hold something else */
export async function openAuthenticators(
  options: AuthenticationOptions,
  authorities: ClientAuthorities,
  tokens: ServiceAccountTokens,
): Promise<readonly Authenticator[]> {
  const { clock, log, tokenFile, oidc, frontProxy } = options
  const authenticators: Authenticator[] = []
  if (frontProxy !== undefined) authenticators.push(new FrontProxyAuthenticator(frontProxy, clock))
  authenticators.push(new ClientCertificateAuthenticator(clock, { authorities: () => authorities.certificates }))
  if (tokenFile !== undefined) {
    const onReloadError = (error: Error): void =>
      log.error({ error: error.message }, 'the token file could not be read again; what it said before still holds')
    authenticators.push(await TokenFileAuthenticator.open(tokenFile, { clock, onReloadError }))
  }
  authenticators.push(tokens)
  if (oidc !== undefined) {
    const ca = oidc.caFile === undefined ? {} : { ca: await readFile(oidc.caFile, 'utf8') }
    const limits = { ...ca, timeoutMs: issuerTimeoutMs, maxBytes: issuerMaxBytes }
    authenticators.push(
      new OidcAuthenticator(oidc, {
        clock,
        getJson: (url) => getJson(url, limits),
        onFault: (error) => log.error({ error: error.message }, 'the issuer of ID tokens could not be asked'),
      }),
    )
  }
  return authenticators
}
