/** The one issuer that the `--oidc-…` flags of kube-apiserver can describe. */
import type { JwtIssuer, OidcAlgorithm } from './oidc.ts'

export interface OidcIssuer {
  /** `https://…`, exactly as in the tokens. */
  readonly issuerUrl: string
  /** Must be among the audiences of a token. */
  readonly clientId: string
  readonly usernameClaim: string
  /** Absent: `<issuerUrl>#`, but nothing in front of an email. */
  readonly usernamePrefix?: string
  /** Absent = no user is in a group. */
  readonly groupsClaim?: string
  readonly groupsPrefix: string
  readonly requiredClaims: ReadonlyMap<string, string>
  readonly algorithms: readonly OidcAlgorithm[]
}

export function issuerOfFlags(flags: OidcIssuer): JwtIssuer {
  const { issuerUrl, clientId, usernameClaim, groupsClaim, groupsPrefix, requiredClaims, algorithms } = flags
  const prefix = flags.usernamePrefix ?? (usernameClaim === 'email' ? '' : `${issuerUrl}#`)
  return {
    url: issuerUrl,
    audiences: [clientId],
    algorithms,
    mappings: {
      username: { claim: usernameClaim, prefix },
      ...(groupsClaim === undefined ? {} : { groups: { claim: groupsClaim, prefix: groupsPrefix } }),
      extra: [],
      requiredClaims,
      claimRules: [],
      userRules: [],
    },
  }
}
