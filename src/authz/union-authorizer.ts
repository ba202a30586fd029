/**
 * Several authorizers as one: the first that allows decides. None can deny, only fail to allow.
 */
import { mastersGroup, type UserInfo } from '../kube/user.ts'
import type { Authorizer, AuthzAttributes, AuthzDecision, RuleSet } from './authz.ts'

const allowed: AuthzDecision = { allowed: true, reason: '' }
const noOpinion: AuthzDecision = { allowed: false, reason: '' }

const everything: RuleSet = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
}
const nothing: RuleSet = { resourceRules: [], nonResourceRules: [], incomplete: false }

/**
 * Members of `system:masters` may do everything, whatever RBAC says: an operator who deletes the cluster-admin binding
 * is not locked out.
 */
export const mastersAuthorizer: Authorizer = {
  authorize: (attributes) => (isMaster(attributes.user) ? allowed : noOpinion),
  rulesFor: (user) => (isMaster(user) ? everything : nothing),
}

const isMaster = (user: UserInfo): boolean => user.groups.includes(mastersGroup)

/** `members` in the order they are asked. */
export function unionAuthorizer(members: readonly Authorizer[]): Authorizer {
  return {
    authorize(attributes: AuthzAttributes): AuthzDecision {
      const reasons: string[] = []
      for (const member of members) {
        const decision = member.authorize(attributes)
        if (decision.allowed) return decision
        if (decision.reason !== '') reasons.push(decision.reason)
      }
      return { allowed: false, reason: reasons.join('\n') }
    },
    rulesFor(user: UserInfo, namespace: string): RuleSet {
      const sets = members.map((member) => member.rulesFor(user, namespace))
      const errors = sets.flatMap((s) => (s.evaluationError ? [s.evaluationError] : []))
      return {
        resourceRules: sets.flatMap((s) => s.resourceRules),
        nonResourceRules: sets.flatMap((s) => s.nonResourceRules),
        incomplete: sets.some((s) => s.incomplete),
        ...(errors.length > 0 ? { evaluationError: errors.join(', ') } : {}),
      }
    },
  }
}
