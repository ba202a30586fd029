/**
 * Which user is it? TokenReview asks about the bearer of a token, SelfSubjectReview about the caller.
 * @see k8s.io/kubernetes/pkg/registry/authentication v1.36
 */

import type { Clock } from '../../base/clock.ts'
import { badRequest, StatusError } from '../../kube/status-error.ts'
import { formatTime } from '../../kube/time.ts'
import type { UserInfo } from '../../kube/user.ts'
import type { AuthenticateToken, ReviewHandler, TokenReviewSpec } from './types.ts'

export interface TokenReviewDeps {
  readonly authenticate: AuthenticateToken
  /** This server's own. */
  readonly audiences: readonly string[]
  /** Whom an authenticated token is meant for; undefined = tokens of its kind are meant for this server. */
  readonly audiencesOf: (token: string) => readonly string[] | undefined
}

/** No header brings a longer one, and reading one of 2 MB takes 60 ms. */
const longestToken = 64 * 1024

export function tokenReview({ authenticate, audiences, audiencesOf }: TokenReviewDeps): ReviewHandler {
  return async (question) => {
    const { token = '', audiences: asked = [] } = (question['spec'] ?? {}) as TokenReviewSpec
    if (token === '') throw badRequest('token is required for TokenReview in authentication')
    const failed = (error: string): typeof question => ({ ...question, status: { user: {}, error } })
    if (token.length > longestToken) return failed('invalid bearer token')
    let user: UserInfo | undefined
    try {
      user = await authenticate({ bearerToken: token, ...(asked.length > 0 ? { audiences: asked } : {}) })
    } catch (error) {
      if (!(error instanceof StatusError) || error.reason !== 'Unauthorized') throw error
    }
    if (user === undefined) return failed('invalid bearer token')
    const meantFor = audiencesOf(token) ?? audiences
    const shared = meantFor.filter((audience) => (asked.length > 0 ? asked : audiences).includes(audience))
    if (shared.length === 0)
      return failed(
        `token audiences ${JSON.stringify(meantFor)} is invalid for the target audiences ${JSON.stringify(asked)}`,
      )
    return { ...question, status: { authenticated: true, user: userInfoOf(user), audiences: shared } }
  }
}

export function selfSubjectReview(clock: Clock): ReviewHandler {
  return async (question, { user }) => ({
    ...question,
    metadata: { creationTimestamp: formatTime(clock.now()) },
    status: { userInfo: userInfoOf(user) },
  })
}

/** authentication.k8s.io/v1 UserInfo. */
const userInfoOf = ({ username, uid, groups, extra }: UserInfo): Record<string, unknown> => ({
  username,
  ...(uid ? { uid } : {}),
  ...(groups.length > 0 ? { groups } : {}),
  ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
})
