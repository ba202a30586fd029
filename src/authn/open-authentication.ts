/** Who clients are: all that recognises credentials, and what signs those of service accounts. */
import type { Ids } from '../base/ids.ts'
import { type AuthenticatorChain, authenticatorChain } from './authenticator-chain.ts'
import { ClientAuthorities } from './client-authorities.ts'
import { type AuthenticationOptions, openAuthenticators } from './open-authenticators.ts'
import { ServiceAccountTokens, type ServiceAccountTokensOptions } from './service-account-token.ts'
import { serviceAccountIssuer } from './token-issuer.ts'

export interface Authentication {
  /** Who may vouch for clients. */
  readonly authorities: ClientAuthorities
  readonly tokens: ServiceAccountTokens
  readonly chain: AuthenticatorChain
}

interface Parts extends Pick<ServiceAccountTokensOptions, 'find' | 'keys'> {
  /** PEM of the server's own authority. */
  readonly caCert: string
}

export interface AuthenticationConfig extends AuthenticationOptions {
  readonly ids: Ids
  /** Authorities besides the server's own. */
  readonly clientCaFile?: string
}

/** @throws Error, one line for the operator, for files that can't be read */
export async function openAuthentication(
  config: AuthenticationConfig,
  { find, keys, caCert }: Parts,
): Promise<Authentication> {
  const { clock, ids } = config
  const tokens = new ServiceAccountTokens({
    issuer: serviceAccountIssuer,
    audiences: [serviceAccountIssuer],
    keys,
    clock,
    ids,
    find,
  })
  const authorities = await ClientAuthorities.open(caCert, config.clientCaFile)
  const { members, allowsAnonymous } = await openAuthenticators(config, authorities, tokens)
  return { tokens, authorities, chain: authenticatorChain(members, { allowsAnonymous }) }
}
