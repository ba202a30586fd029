/** Who recognises which credentials, in the order in which they are asked. */
import { readBoundedFile } from '../base/bounded-file.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Authenticator, Credentials } from './authn.ts'
import type { ClientAuthorities } from './client-authorities.ts'
import { ClientCertificateAuthenticator } from './client-certificate.ts'
import { type FrontProxy, FrontProxyAuthenticator } from './front-proxy.ts'
import { getJson } from './get-json.ts'
import type { OidcConfig } from './identity-config.ts'
import { OidcAuthenticator, type OidcDeps } from './oidc.ts'
import { issuerOfFlags } from './oidc-flags.ts'
import type { ServiceAccountTokens } from './service-account-token.ts'
import { TokenFileAuthenticator } from './token-file.ts'
import { serviceAccountIssuer } from './token-issuer.ts'

const issuerTimeoutMs = 5000
const issuerMaxBytes = 1024 * 1024

export interface AuthenticationOptions {
  readonly clock: Clock
  readonly log: Log
  /** Absent = no static tokens. */
  readonly tokenFile?: string
  /** One issuer of ID tokens. */
  readonly oidc?: OidcConfig
  /** An AuthenticationConfiguration: several. */
  readonly authenticationConfigFile?: string
  /** What the flags say of requests without credentials. */
  readonly anonymous: boolean
  /** Absent = headers name no user. */
  readonly frontProxy?: FrontProxy
}

export interface Authenticators {
  /** In the order in which they are asked. */
  readonly members: readonly Authenticator[]
  readonly allowsAnonymous: (credentials: Credentials) => boolean
}

/** @throws TokenFileError, Error for files that can't be read or hold something else */
export async function openAuthenticators(
  options: AuthenticationOptions,
  authorities: ClientAuthorities,
  tokens: ServiceAccountTokens,
): Promise<Authenticators> {
  const { clock, log, tokenFile, oidc, frontProxy, authenticationConfigFile: path, anonymous } = options
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
    const ca = oidc.caFile === undefined ? undefined : (await readBoundedFile(oidc.caFile)).toString()
    authenticators.push(new OidcAuthenticator(issuerOfFlags(oidc), depsOf(options, oidc.issuerUrl, ca)))
  }
  if (path === undefined) return { members: authenticators, allowsAnonymous: () => anonymous }
  const { ConfiguredIssuers } = await import('./configured-issuers.ts')
  const configured = await ConfiguredIssuers.open({
    path,
    clock,
    log,
    anonymous,
    ownIssuer: serviceAccountIssuer,
    depsOf: ({ url, ca }) => depsOf(options, url, ca),
  })
  authenticators.push(configured)
  return { members: authenticators, allowsAnonymous: (credentials) => configured.allowsAnonymous(credentials) }
}

/** What an issuer is asked with. */
function depsOf({ clock, log }: AuthenticationOptions, issuer: string, ca: string | undefined): OidcDeps {
  const limits = { ...(ca === undefined ? {} : { ca }), timeoutMs: issuerTimeoutMs, maxBytes: issuerMaxBytes }
  return {
    clock,
    getJson: (url) => getJson(url, limits),
    onFault: (error) => log.error({ issuer, error: error.message }, 'the issuer of ID tokens could not be asked'),
    onRefused: (error) => log.info({ issuer, reason: error.message }, 'an ID token with a good signature is refused'),
  }
}
