/**
 * From the claims of a verified ID token to a user: which claims or expressions name it, and what must hold besides.
 * @see k8s.io/apiserver/plugin/pkg/authenticator/token/oidc/oidc.go v0.36 (getUsername, getGroups, getUID, getExtra)
 */
import { evaluateIdentity, type IdentityEvaluation, type IdentityExpression } from '../cel/identity-expressions.ts'
import type { JsonObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import { isReserved } from './reserved-names.ts'

export type ClaimMapping =
  | { readonly claim: string; readonly prefix: string; readonly expression?: undefined }
  | { readonly expression: IdentityExpression; readonly claim?: undefined }

export interface RuleForTokens {
  readonly expression: IdentityExpression
  readonly message: string
}

export interface ClaimMappings {
  readonly username: ClaimMapping
  /** Absent = no user is in a group. */
  readonly groups?: ClaimMapping | undefined
  readonly uid?: ClaimMapping | undefined
  readonly extra: readonly { readonly key: string; readonly expression: IdentityExpression }[]
  readonly requiredClaims: ReadonlyMap<string, string>
  readonly claimRules: readonly RuleForTokens[]
  readonly userRules: readonly RuleForTokens[]
}

/** Why claims name no user that may come in. Holds no value of a claim. */
export class ClaimsError extends Error {
  override readonly name = 'ClaimsError'
}

const credentialId = 'authentication.kubernetes.io/credential-id'

/**
 * Half a surrogate pair, which JSON can spell and UTF-8 can't, becomes U+FFFD at once, as in Go: else two users would
 * become one when their names are stored.
 * @throws ClaimsError
 */
export function userOfClaims(claims: JsonObject, mappings: ClaimMappings): UserInfo {
  const evaluate = evaluateIdentity()
  const username = usernameOf(claims, mappings.username, evaluate)
  if (username === '') throw new ClaimsError('the username is empty')
  if (isReserved(username)) throw new ClaimsError('the username begins with system:')
  const groups = groupsOf(claims, mappings.groups, evaluate).filter((group) => !isReserved(group))
  const uid = mappings.uid === undefined ? '' : textOf(claims, mappings.uid, 'uid', evaluate)
  const extra = Object.fromEntries([
    ...mappings.extra.flatMap(({ key, expression }) => {
      const values = textsOfExpression(expression, claims, `extra[${key}]`, evaluate)
      return values.length === 0 ? [] : [[key, values] as const]
    }),
    ...(typeof claims['jti'] === 'string' && claims['jti'] !== ''
      ? [[credentialId, [`JTI=${claims['jti']}`]] as const]
      : []),
  ])
  const user: UserInfo = {
    username,
    ...(uid === '' ? {} : { uid }),
    groups,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
  for (const [claim, value] of mappings.requiredClaims) {
    if (ownClaim(claims, claim) !== value) throw new ClaimsError(`the required claim ${claim} is missing or differs`)
  }
  checkRules(mappings.claimRules, claims, evaluate)
  checkRules(mappings.userRules, shownUser(user), evaluate)
  return user
}

/** As upstream's JSON has it: what is empty is not there. */
const shownUser = ({ username, uid, groups, extra }: UserInfo): JsonObject => ({
  username,
  ...(uid === undefined ? {} : { uid }),
  ...(groups.length === 0 ? {} : { groups: [...groups] }),
  ...(extra === undefined
    ? {}
    : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
})

function usernameOf(claims: JsonObject, mapping: ClaimMapping, evaluate: IdentityEvaluation): string {
  const username = textOf(claims, mapping, 'username', evaluate)
  if (mapping.claim === 'email' && ownClaim(claims, 'email_verified') !== undefined) {
    if (claims['email_verified'] !== true) throw new ClaimsError('the email is not verified')
  }
  return username
}

function textOf(claims: JsonObject, mapping: ClaimMapping, of: string, evaluate: IdentityEvaluation): string {
  if (mapping.claim === undefined) {
    const outcome = evaluate(mapping.expression, claims)
    if (outcome.kind === 'error') throw new ClaimsError(outcome.error)
    if (outcome.kind !== 'text') throw new ClaimsError(`the expression of ${of} must return a string`)
    return outcome.text.toWellFormed()
  }
  const value = ownClaim(claims, mapping.claim)
  if (typeof value !== 'string') throw new ClaimsError(`the claim ${mapping.claim} is missing, or no text`)
  // Nothing but a prefix would be the name of every user without one.
  return value === '' ? '' : `${mapping.prefix}${value}`.toWellFormed()
}

function groupsOf(
  claims: JsonObject,
  mapping: ClaimMapping | undefined,
  evaluate: IdentityEvaluation,
): readonly string[] {
  if (mapping === undefined) return []
  if (mapping.claim === undefined) return textsOfExpression(mapping.expression, claims, 'groups', evaluate)
  const claim = ownClaim(claims, mapping.claim)
  if (claim === undefined) return []
  // One text stands for a list of one.
  const texts = Array.isArray(claim) ? claim : [claim]
  return texts.map((text) => {
    if (typeof text !== 'string') throw new ClaimsError(`the claim ${mapping.claim} is no text or list of texts`)
    return `${mapping.prefix}${text}`.toWellFormed()
  })
}

function textsOfExpression(
  expression: IdentityExpression,
  claims: JsonObject,
  of: string,
  evaluate: IdentityEvaluation,
): readonly string[] {
  const outcome = evaluate(expression, claims)
  switch (outcome.kind) {
    case 'null':
      return []
    case 'text':
    case 'texts': {
      const texts = outcome.kind === 'text' ? [outcome.text] : outcome.texts
      return texts.filter((text) => text !== '').map((text) => text.toWellFormed())
    }
    case 'error':
      throw new ClaimsError(outcome.error)
    case 'boolean':
    case 'other':
      throw new ClaimsError(`the expression of ${of} must return a string or a list of strings`)
  }
}

function checkRules(rules: readonly RuleForTokens[], of: JsonObject, evaluate: IdentityEvaluation): void {
  for (const { expression, message } of rules) {
    const outcome = evaluate(expression, of)
    if (outcome.kind === 'error') throw new ClaimsError(outcome.error)
    if (outcome.kind !== 'boolean' || !outcome.holds) {
      throw new ClaimsError(message === '' ? `the rule '${expression.source}' does not hold` : message)
    }
  }
}

/** A token must not reach what every object inherits. */
const ownClaim = (claims: JsonObject, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined)
