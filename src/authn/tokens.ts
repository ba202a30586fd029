/**
 * What others may know of service-account tokens: how one is asked for and what it says. Who signs and verifies them is
 * `service-account-token.ts`; who answers TokenRequests and reviews is `apis/reviews/`.
 */
import type { KubeObject } from '../kube/types.ts'

/** What a token can be bound to. */
export type BoundResource = 'pods' | 'secrets' | 'nodes'

/** Synchronous, from the cache. */
export type TokenObjectLookup = (
  resource: 'serviceaccounts' | BoundResource,
  namespace: string,
  name: string,
) => KubeObject | undefined

export interface ObjectIdentity {
  readonly name: string
  readonly uid: string
}

/** What a token is to say. */
export interface TokenGrant {
  readonly namespace: string
  readonly serviceAccount: ObjectIdentity
  readonly bound?: ObjectIdentity & { readonly resource: BoundResource }
  /** Where a bound pod runs; for information. */
  readonly node?: ObjectIdentity
  /** Empty = this server's. */
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
}

export interface IssuedToken {
  readonly token: string
  readonly audiences: readonly string[]
  /** RFC 3339, seconds. */
  readonly expirationTimestamp: string
}

export interface TokenIssuer {
  /** The caller has checked that account and bound object exist. */
  issue(grant: TokenGrant): Promise<IssuedToken>
  /** Whom a token was issued to be shown to; it must have been authenticated. undefined = not one of these. */
  audiencesOf(token: string): readonly string[] | undefined
}
