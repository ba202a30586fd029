/**
 * What a template selects, in CEL: the same decisions as `apis/templates/match.ts`, for policies that an API server
 * evaluates by itself. `params` is the template. Each function answers the text of an expression.
 */
import {
  applyAnnotation,
  creatorKey,
  optedOutNamespace,
  optOutAnnotation,
  templateGroupAlias,
  templateResource,
} from '../../apis/templates/types.ts'

export interface Variable {
  readonly name: string
  readonly expression: string
}

/** Of a validating policy. */
export interface Validation {
  readonly expression: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason: 'Forbidden' | 'Invalid'
}

/** A literal. What is quoted here are our own constants, without quotes and line breaks. */
const text = (value: string): string => `'${value}'`

const fieldOr = (object: string, path: readonly string[], otherwise: string): string => {
  const steps = path.map((_, i) => `has(${[object, ...path.slice(0, i + 1)].join('.')})`)
  return `${steps.join(' && ')} ? ${[object, ...path].join('.')} : ${otherwise}`
}

/** Of `object` or `oldObject`. */
export const annotationsOf = (object: string): string => fieldOr(`${object}.metadata`, ['annotations'], '{}')
export const labelsOf = (object: string): string => fieldOr(`${object}.metadata`, ['labels'], '{}')

/** A map's value, and the empty text where it has none. */
export const valueIn = (map: string, key: string): string => `(${text(key)} in ${map} ? ${map}[${text(key)}] : '')`

/**
 * `*` any run of characters, `?` any one. Everything between them is quoted for RE2, backslashes first: one in the
 * pattern would end the quotation. A plain name is compared: an API server compiles each pattern for each namespace.
 */
function matchesGlob(subject: string, pattern: string): string {
  const quoted = `${pattern}.replace(r'\\', r'\\E\\\\\\Q')` + ".replace('*', r'\\E.*\\Q').replace('?', r'\\E.\\Q')"
  const isPattern = `${pattern}.contains('*') || ${pattern}.contains('?')`
  return `(${isPattern} ? ${subject}.matches(r'(?s)^\\Q' + ${quoted} + r'\\E$') : ${subject} == ${pattern})`
}

/** Of the template, as far as its selectors go. */
export const selectorVariables: readonly Variable[] = [
  { name: 'wanted', expression: fieldOr('params', ['spec', 'namespaces'], '{}') },
  { name: 'wantedLabels', expression: fieldOr('variables.wanted', ['labelSelector', 'matchLabels'], '{}') },
  { name: 'wantedTerms', expression: fieldOr('variables.wanted', ['labelSelector', 'matchExpressions'], '[]') },
  { name: 'included', expression: fieldOr('variables.wanted', ['nameSelector', 'include'], '[]') },
  { name: 'excluded', expression: fieldOr('variables.wanted', ['nameSelector', 'exclude'], '[]') },
  { name: 'users', expression: fieldOr('variables.wanted', ['creatorSelector', 'users'], '[]') },
  { name: 'accounts', expression: fieldOr('variables.wanted', ['creatorSelector', 'serviceAccounts'], '[]') },
  { name: 'templateAnnotations', expression: annotationsOf('params') },
  { name: 'isDeleted', expression: 'has(params.metadata.deletionTimestamp)' },
  { name: 'isActive', expression: `${valueIn('variables.templateAnnotations', applyAnnotation)} != 'disable'` },
]

/** Of the namespace that is written, and of what it was: `labels`, `annotations`, `oldLabels`, `oldAnnotations`. */
export const namespaceVariables: readonly Variable[] = [
  { name: 'labels', expression: labelsOf('object') },
  { name: 'annotations', expression: annotationsOf('object') },
  { name: 'oldLabels', expression: `oldObject == null ? {} : (${labelsOf('oldObject')})` },
  { name: 'oldAnnotations', expression: `oldObject == null ? {} : (${annotationsOf('oldObject')})` },
  // One whose name the server is still to make is selected by every name.
  { name: 'name', expression: fieldOr('object', ['metadata', 'name'], "''") },
  {
    name: 'creator',
    expression:
      "request.operation == 'CREATE' ? request.userInfo.username : " + valueIn('variables.oldAnnotations', creatorKey),
  },
]

const serviceAccount = 'system:serviceaccount:'

/** By its labels, which are in `labels`; opting out and disabling not considered. */
export function selects(labels: string): string {
  const given = `t.key in ${labels}`
  const listed = `(${given} && ${labels}[t.key] in t.values)`
  const term =
    `t.operator == 'In' ? ${listed} : t.operator == 'NotIn' ? !${listed} : ` +
    `t.operator == 'Exists' ? ${given} : !(${given})`
  const account = `variables.creator.substring(${serviceAccount.length}).replace(':', '/', 1)`
  const isTheirs =
    `variables.users.exists(p, ${matchesGlob('variables.creator', 'p')}) || ` +
    `(variables.creator.startsWith(${text(serviceAccount)}) && ` +
    `variables.accounts.exists(p, ${matchesGlob(account, 'p')}))`
  return [
    `variables.wantedLabels.all(k, k in ${labels} && ${labels}[k] == variables.wantedLabels[k])`,
    `variables.wantedTerms.all(t, ${term})`,
    "(variables.name == '' || size(variables.included) == 0 || " +
      `variables.included.exists(p, ${matchesGlob('variables.name', 'p')}))`,
    `(variables.name == '' || !variables.excluded.exists(p, ${matchesGlob('variables.name', 'p')}))`,
    `(!has(variables.wanted.creatorSelector) || (variables.creator != '' && (${isTheirs})))`,
  ].join(' && ')
}

/** Whether the template populates namespaces, and is not kept from this one. */
export const isOpen = (annotations: string): string =>
  `variables.isActive && variables.name != ${text(optedOutNamespace)} && ` +
  `${valueIn(annotations, optOutAnnotation)} != 'true'`

/** Whether the template populates a namespace with these. */
export const populates = (labels: string, annotations: string): string =>
  `!variables.isDeleted && ${isOpen(annotations)} && ${selects(labels)}`

/** Either group's rules count: the kind is one. `name`: an expression; undefined = of no template by name. */
export const mayTemplates = (verb: string, name?: string): string =>
  `[${text(templateResource.group)}, ${text(templateGroupAlias)}].exists(g, ` +
  `authorizer.group(g).resource(${text(templateResource.resource)})${name === undefined ? '' : `.name(${name})`}` +
  `.check(${text(verb)}).allowed())`

/** `scope`: 'namespace' = as the request to it would be; 'cluster' = by a right that no role in it gives. */
export const mayNamespace = (verb: string, name: string, scope: 'namespace' | 'cluster' = 'namespace'): string =>
  `authorizer.group('').resource('namespaces')${scope === 'cluster' ? '' : `.namespace(${name})`}.name(${name})` +
  `.check(${text(verb)}).allowed()`
