/** What can be said about who asks, for the command line, which knows nothing of authentication itself. */
import { readBoundedFileSync } from '../base/bounded-file.ts'
import { authoritiesIn } from './certificates.ts'
import type { FrontProxy } from './front-proxy.ts'
import { type OidcAlgorithm, oidcAlgorithms } from './oidc.ts'
import type { OidcIssuer } from './oidc-flags.ts'

export { faultOfPrefix } from './reserved-names.ts'

/** Whose ID tokens are taken. */
export interface OidcConfig extends OidcIssuer {
  /** PEM file; absent = the authorities that Node trusts. */
  readonly caFile?: string
}

export const idTokenAlgorithms: readonly OidcAlgorithm[] = oidcAlgorithms

/** As kube-apiserver's examples have them. */
export const proxyHeaders: Omit<FrontProxy, 'ca' | 'allowedNames'> = {
  usernameHeaders: ['x-remote-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
}

/** PEM of one authority or more. @throws Error for a file that can't be read or holds none */
export function readAuthorities(path: string): string {
  const text = readBoundedFileSync(path)
  authoritiesIn(text)
  return text
}
