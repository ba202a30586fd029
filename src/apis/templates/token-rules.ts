/**
 * Where tokens may stand, judged when a template is written. A text in the form of a token that is none is a mistake:
 * a mistyped `$(CREATER)` would become the subject of a RoleBinding.
 *
 * A user who may label a namespace chooses what parameters stand for. So the places for parameters are a closed list
 * of such as grant nothing, start nothing and select nothing; everywhere else the author writes an object for each
 * choice.
 */
import { type FieldError, fieldForbidden, fieldInvalid } from '../../kube/field-error.ts'
import { parseApiVersion } from '../../kube/gvk.ts'
import { rbacGroup } from '../../kube/rbac.ts'
import type { JsonObject } from '../../kube/types.ts'
import { hasToken, identifyingFields, isExpanded, namedTokens, type TextInObject, textsIn, tokensIn } from './tokens.ts'
import type { TemplateParameter } from './types.ts'

const noTokenInKind = 'a token can not stand here: the rights of the author depend on the kind of the object'
const noTokenInRoleRef = 'a token can not stand here: the rights of the author depend on the role that is bound'

/** @param field where the object stands in the template */
export function tokenErrors(
  object: JsonObject,
  field: string,
  parameters: readonly TemplateParameter[] = [],
): FieldError[] {
  const errors: FieldError[] = []
  for (const found of textsIn(object)) {
    if (!hasToken(found.text)) continue
    const at = pathText(field, found.path)
    const [first] = found.path
    if (found.isKey) errors.push(fieldInvalid(field, found.text, 'tokens are replaced in values, never in keys'))
    else if ((identifyingFields as readonly unknown[]).includes(first) && found.path.length === 1) {
      errors.push(fieldInvalid(at, found.text, noTokenInKind))
    } else if (first === 'roleRef') errors.push(fieldInvalid(at, found.text, noTokenInRoleRef))
    else {
      const wrong = findWrongToken(object, found, parameters)
      if (wrong !== undefined) errors.push(wrong(at))
    }
  }
  return errors
}

type FieldErrorAt = (field: string) => FieldError

function findWrongToken(
  object: JsonObject,
  { text, path, place }: TextInObject,
  parameters: readonly TemplateParameter[],
): FieldErrorAt | undefined {
  for (const { name, isEscaped } of tokensIn(text)) {
    if (isEscaped || (namedTokens as readonly string[]).includes(name)) continue
    const parameter = parameters.find((p) => p.name === name)
    if (parameter === undefined && isExpanded(place)) continue
    if (parameter === undefined) return (field) => fieldInvalid(field, text, unknownToken(name, parameters))
    if (mayHold(object, path, place, parameter)) continue
    return (field) => fieldForbidden(field, noParameterHere(name))
  }
  return undefined
}

export function unknownToken(name: string, parameters: readonly TemplateParameter[]): string {
  const known = [...namedTokens, ...parameters.map((p) => p.name)].map((token) => `$(${token})`)
  return `$(${name}) is no token: there are ${known.join(', ')}. The text itself is written $$(${name})`
}

const noParameterHere = (name: string): string =>
  `parameter ${JSON.stringify(name)} can not stand here: its value is chosen by a user who may label namespaces, and ` +
  'it may only stand where it grants and selects nothing: in data of ConfigMaps, amounts of ResourceQuotas and ' +
  'LimitRanges, labels, annotations of these three kinds, and values of env of containers'

/** Of these kinds labels, annotations and the named part say nothing that a server acts upon but as an amount. */
const inertKinds: ReadonlyMap<string, (path: readonly (string | number)[]) => boolean> = new Map([
  ['/ConfigMap', ([part]) => part === 'data'],
  ['/ResourceQuota', ([part, list]) => part === 'spec' && list === 'hard'],
  ['/LimitRange', ([part, list, , bound]) => part === 'spec' && list === 'limits' && limits.has(String(bound))],
])
const limits: ReadonlySet<string> = new Set(['default', 'defaultRequest', 'max', 'maxLimitRequestRatio', 'min'])

/** Their labels and annotations may be credentials, or stand for them. Pods are selected by their labels. */
const grantingKinds: ReadonlySet<string> = new Set(['/ServiceAccount', '/Secret', '/Pod'])

function mayHold(
  { apiVersion, kind }: JsonObject,
  path: readonly (string | number)[],
  place: TextInObject['place'],
  parameter: TemplateParameter,
): boolean {
  const group = parseApiVersion(String(apiVersion))?.group
  if (group === undefined || !isOfKubernetes(group)) return false
  if (place === 'env value') return true
  const type = `${group}/${String(kind)}`
  if (group === rbacGroup || grantingKinds.has(type)) return false
  const [part, list, key] = path
  if (part === 'metadata' && list === 'labels' && path.length === 3) return !isActedUpon(String(key))
  const isInert = inertKinds.get(type)
  if (isInert === undefined) return false
  if (part === 'metadata' && list === 'annotations' && path.length === 3) return !isActedUpon(String(key))
  // Every name that it can have stands in the template.
  if (part === 'metadata' && list === 'name') return parameter.enum !== undefined
  return isInert(path)
}

/** What a custom kind does with a field is not known. */
const isOfKubernetes = (group: string): boolean => !group.includes('.') || group.endsWith('.k8s.io')

/** A label or annotation that Kubernetes itself acts upon. */
export const isKeyOfKubernetes = (key: string): boolean => isOfDomain(key, ['kubernetes.io', 'k8s.io'])
/** By one a source says who may clone it. */
export const isKeyOfOurs = (key: string): boolean => isOfDomain(key, ['borough.dev', 'policy'])

const isActedUpon = (key: string): boolean => isKeyOfKubernetes(key) || isKeyOfOurs(key)

function isOfDomain(key: string, domains: readonly string[]): boolean {
  const domain = key.slice(0, Math.max(0, key.indexOf('/')))
  return domains.some((own) => domain === own || domain.endsWith(`.${own}`))
}

const pathText = (field: string, path: readonly (string | number)[]): string =>
  path.reduce<string>((at, key) => (/^[A-Za-z_]\w*$/.test(String(key)) ? `${at}.${key}` : `${at}[${key}]`), field)
