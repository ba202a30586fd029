/** How claims become a user, in an AuthenticationConfiguration: `claimMappings` and the rules beside it. */
import { compileIdentity, type IdentityExpression, type IdentityVariable } from '../cel/identity-expressions.ts'
import type { ObjectReader } from '../kube/object-reader.ts'
import { duplicateFault, invalidFault, requiredFault } from '../kube/value-faults.ts'
import type { ClaimMapping, ClaimMappings, RuleForTokens } from './claim-mapping.ts'
import { isDomainPrefixedPath } from './extra-key.ts'
import { faultOfPrefix } from './reserved-names.ts'

/** In the order in which upstream tells what is wrong. */
export function readClaimMappings(jwt: ObjectReader, errors: string[]): ClaimMappings {
  const { requiredClaims, claimRules } = readClaimRules(jwt.objects('claimValidationRules'), errors)
  const reader = jwt.nested('claimMappings')
  const username = readMapping(reader.nested('username'), errors, true)
  const groups = readMapping(reader.nested('groups'), errors, false)
  const uid = readUid(reader.nested('uid'), errors)
  const extra = readExtra(reader.objects('extra'), errors)
  reader.end()
  const readsVerified = [username, ...extra, ...claimRules].some((m) => m?.expression?.reads('email_verified') === true)
  if (username?.expression?.reads('email') === true && !readsVerified) {
    const problem =
      'claims.email_verified must be used in claimMappings.username.expression or ' +
      'claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in ' +
      'claimMappings.username.expression'
    errors.push(invalidFault(`${reader.at}.username.expression`, username.expression.source, problem))
  }
  const userRules = readUserRules(jwt.objects('userValidationRules'), errors)
  return {
    username: username ?? { claim: '', prefix: '' },
    groups,
    uid,
    extra,
    requiredClaims,
    claimRules,
    userRules,
  }
}

/** Undefined where there is none, or a wrong one. */
function readMapping(reader: ObjectReader, errors: string[], isRequired: boolean): ClaimMapping | undefined {
  const { at } = reader
  const claim = reader.text('claim')
  const prefix = reader.optionalText('prefix')
  const source = reader.text('expression')
  reader.end()
  if (claim !== '' && source !== '') {
    errors.push(invalidFault(at, '', "claim and expression can't both be set"))
    return undefined
  }
  if (source !== '') {
    if (prefix !== undefined) {
      errors.push(invalidFault(`${at}.prefix`, prefix, 'may not be specified when expression is set'))
    }
    return expressionMapping(source, `${at}.expression`, errors)
  }
  if (claim === '') {
    if (isRequired) errors.push(requiredFault(at, 'claim or expression is required'))
    return undefined
  }
  if (prefix === undefined) {
    const detail = 'prefix is required when claim is set. It can be set to an empty string to disable prefixing'
    errors.push(requiredFault(`${at}.prefix`, detail))
  }
  const fault = faultOfPrefix(prefix ?? '')
  if (fault !== undefined) errors.push(invalidFault(`${at}.prefix`, prefix, fault))
  return { claim, prefix: prefix ?? '' }
}

function readUid(reader: ObjectReader, errors: string[]): ClaimMapping | undefined {
  const claim = reader.text('claim')
  const source = reader.text('expression')
  reader.end()
  if (claim !== '' && source !== '') errors.push(invalidFault(reader.at, '', "claim and expression can't both be set"))
  else if (source !== '') return expressionMapping(source, `${reader.at}.expression`, errors)
  return claim === '' ? undefined : { claim, prefix: '' }
}

function expressionMapping(source: string, field: string, errors: string[]): ClaimMapping | undefined {
  const expression = compiled(source, 'claims', 'any', field, errors)
  return expression && { expression }
}

function compiled(
  source: string,
  variable: IdentityVariable,
  returns: 'any' | 'bool',
  field: string,
  errors: string[],
): IdentityExpression | undefined {
  const { expression, problem } = compileIdentity(source, variable, returns)
  if (expression === undefined) errors.push(invalidFault(field, source, problem))
  return expression
}

function readExtra(readers: readonly ObjectReader[], errors: string[]): ClaimMappings['extra'] {
  const keys = new Set<string>()
  return readers.flatMap((reader) => {
    const { at } = reader
    const key = reader.text('key')
    const source = reader.text('valueExpression')
    reader.end()
    checkKey(key, `${at}.key`, errors)
    if (keys.has(key)) {
      errors.push(duplicateFault(`${at}.key`, key))
      return []
    }
    keys.add(key)
    if (source === '') {
      errors.push(requiredFault(`${at}.valueExpression`))
      return []
    }
    const expression = compiled(source, 'claims', 'any', `${at}.valueExpression`, errors)
    return expression === undefined ? [] : [{ key, expression }]
  })
}

function checkKey(key: string, field: string, errors: string[]): void {
  if (key === '') errors.push(requiredFault(field))
  else if (!isDomainPrefixedPath(key)) {
    errors.push(invalidFault(field, key, 'must be a domain-prefixed path (such as "acme.io/foo")'))
  }
  if (key !== key.toLowerCase()) errors.push(invalidFault(field, key, 'must be lowercase'))
  if (/^(?:[^/]*\.)?(?:kubernetes|k8s)\.io\//.test(key)) {
    const problem = 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'
    errors.push(invalidFault(field, key, problem))
  }
}

function readClaimRules(
  readers: readonly ObjectReader[],
  errors: string[],
): Pick<ClaimMappings, 'requiredClaims' | 'claimRules'> {
  const requiredClaims = new Map<string, string>()
  const sources = new Set<string>()
  const claimRules = readers.flatMap((reader): readonly RuleForTokens[] => {
    const { at } = reader
    const claim = reader.text('claim')
    const requiredValue = reader.text('requiredValue')
    const source = reader.text('expression')
    const message = reader.text('message')
    reader.end()
    if (claim !== '' && source !== '') {
      errors.push(invalidFault(at, claim, "claim and expression can't both be set"))
    } else if (claim !== '') {
      if (message !== '') errors.push(invalidFault(`${at}.message`, message, 'may not be specified when claim is set'))
      if (requiredClaims.has(claim)) errors.push(duplicateFault(`${at}.claim`, claim))
      requiredClaims.set(claim, requiredValue)
    } else if (source === '') {
      errors.push(requiredFault(at, 'claim or expression is required'))
    } else {
      if (requiredValue !== '') {
        const problem = 'may not be specified when expression is set'
        errors.push(invalidFault(`${at}.requiredValue`, requiredValue, problem))
      }
      return readRule({ source, message, at }, 'claims', sources, errors)
    }
    return []
  })
  return { requiredClaims, claimRules }
}

function readUserRules(readers: readonly ObjectReader[], errors: string[]): readonly RuleForTokens[] {
  const sources = new Set<string>()
  return readers.flatMap((reader) => {
    const source = reader.text('expression')
    const message = reader.text('message')
    reader.end()
    if (source !== '') return readRule({ source, message, at: reader.at }, 'user', sources, errors)
    errors.push(requiredFault(`${reader.at}.expression`))
    return []
  })
}

function readRule(
  { source, message, at }: { readonly source: string; readonly message: string; readonly at: string },
  variable: IdentityVariable,
  sources: Set<string>,
  errors: string[],
): readonly RuleForTokens[] {
  if (sources.has(source)) {
    errors.push(duplicateFault(`${at}.expression`, source))
    return []
  }
  sources.add(source)
  const expression = compiled(source, variable, 'bool', `${at}.expression`, errors)
  return expression === undefined ? [] : [{ expression, message }]
}
