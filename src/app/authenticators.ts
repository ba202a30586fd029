/** Who recognises which credentials, in the order in which they are asked. */
import { readFile } from 'node:fs/promises'
import type { Authenticator } from '../authn/authn.ts'
import { authoritiesIn } from '../authn/certificates.ts'
import { ClientCertificateAuthenticator } from '../authn/client-certificate.ts'
import { FrontProxyAuthenticator } from '../authn/front-proxy.ts'
import { OidcAuthenticator } from '../authn/oidc.ts'
import type { ServiceAccountTokens } from '../authn/service-account-token.ts'
import { TokenFileAuthenticator } from '../authn/token-file.ts'
import type { Config } from './config.ts'
import { getJson } from './get-json.ts'

const issuerTimeoutMs = 5000
const issuerMaxBytes = 1024 * 1024

/** @throws TokenFileError, Error for files that can't be read or hold something else */
export async function openAuthenticators(
  config: Config,
  caPem: string,
  tokens: ServiceAccountTokens,
): Promise<readonly Authenticator[]> {
  const { clock, log, tokenFile, oidc, frontProxy } = config
  const authenticators: Authenticator[] = []
  if (frontProxy === undefined) authenticators.push(new ClientCertificateAuthenticator(clock))
  else {
    authenticators.push(new FrontProxyAuthenticator(frontProxy, clock))
    authenticators.push(new ClientCertificateAuthenticator(clock, { authorities: authoritiesIn(caPem) }))
  }
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
