/** Which resource is answered by which handler: what the create verb looks up instead of a store. */
import type { TokenIssuer, TokenObjectLookup } from '../../authn/tokens.ts'
import type { AskElsewhere, Authorizer } from '../../authz/authz.ts'
import type { Clock } from '../../base/clock.ts'
import { accessReviews } from './access-review.ts'
import { selfSubjectReview, tokenReview } from './identity-review.ts'
import { tokenRequest } from './token-request.ts'
import type { AuthenticateToken, ReviewHandler } from './types.ts'

export interface ReviewDeps {
  readonly authorizer: Authorizer
  /** Asked of what the authorizer does not allow. */
  readonly askElsewhere?: AskElsewhere | undefined
  /** By the whole chain. */
  readonly authenticate: AuthenticateToken
  readonly tokens: TokenIssuer
  /** This server's own. */
  readonly audiences: readonly string[]
  readonly find: TokenObjectLookup
  readonly clock: Clock
}

export interface ReviewHandlers {
  /** `subjectaccessreviews.authorization.k8s.io` → handler. */
  readonly kinds: ReadonlyMap<string, ReviewHandler>
  /** `serviceaccounts/token` → handler. */
  readonly subresources: ReadonlyMap<string, ReviewHandler>
}

export function reviewHandlers({
  authorizer,
  askElsewhere,
  authenticate,
  tokens,
  audiences,
  find,
  clock,
}: ReviewDeps): ReviewHandlers {
  const access = accessReviews(authorizer, askElsewhere)
  const audiencesOf = (token: string): readonly string[] | undefined => tokens.audiencesOf(token)
  return {
    kinds: new Map([
      ['subjectaccessreviews.authorization.k8s.io', access.subject],
      ['localsubjectaccessreviews.authorization.k8s.io', access.local],
      ['selfsubjectaccessreviews.authorization.k8s.io', access.self],
      ['selfsubjectrulesreviews.authorization.k8s.io', access.selfRules],
      ['selfsubjectreviews.authentication.k8s.io', selfSubjectReview(clock)],
      ['tokenreviews.authentication.k8s.io', tokenReview({ authenticate, audiences, audiencesOf })],
    ]),
    subresources: new Map([['serviceaccounts/token', tokenRequest({ tokens, find, clock })]]),
  }
}
