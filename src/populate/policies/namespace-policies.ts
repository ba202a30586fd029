/**
 * What population asks of writes of namespaces, as admission policies: the API server decides by itself, so that
 * creating namespaces needs none of our processes. What CEL can't say (labels and annotations that templates set, and
 * ends of namespaces) is left to the webhooks, which are asked about marked namespaces alone (`askedAnnotation`).
 */
import { templateKind } from '../../apis/templates/kind.ts'
import {
  askedAnnotation,
  creatorKey,
  optOutAnnotation,
  ownerKey,
  ownerNameMaxLength,
  pendingLabel,
  requirePermissionAnnotation,
  templateResource,
  unseenCharacters,
} from '../../apis/templates/types.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import {
  isOpen,
  mayNamespace,
  mayTemplates,
  namespaceVariables,
  populates,
  selectorVariables,
  selects,
  type Validation,
  type Variable,
  valueIn,
} from './expressions.ts'
import { parameterVariables, validateParameters } from './parameters.ts'
import { type PolicyKind, policyNames, policyWithBinding, ruleOf } from './policy.ts'

const templates: JsonObject = {
  apiVersion: `${templateResource.group}/${templateResource.version}`,
  kind: templateKind,
}
/** Each template, one after the other; none = the policy has nothing to say. */
const eachTemplate: JsonObject = { selector: {}, parameterNotFoundAction: 'Allow' }

const namespaceRule = (operations: readonly string[], ...resources: readonly string[]): JsonObject =>
  ruleOf('', 'v1', operations, ...resources)

/**
 * `exempt`: names of the namespaces that population is not about. Not by a selector: it would go by the label with the
 * name, which is the client's choice until the server has made a name from `generateName`.
 */
export function namespacePolicies(exempt: readonly string[]): KubeObject[] {
  const isOther = `!(has(object.metadata.name) && object.metadata.name in ${JSON.stringify(exempt)})`
  const constraints = (...rules: JsonObject[]): JsonObject => ({ matchPolicy: 'Equivalent', resourceRules: rules })
  const policy = (kind: PolicyKind, name: string, spec: object, paramRef?: JsonObject): KubeObject[] =>
    policyWithBinding(kind, name, { matchConditions: [{ name: 'other', expression: isOther }], ...spec }, paramRef)
  const written = constraints(
    namespaceRule(['CREATE', 'UPDATE'], 'namespaces'),
    namespaceRule(['UPDATE'], 'namespaces/status', 'namespaces/finalize'),
  )
  return [
    ...policy('MutatingAdmissionPolicy', policyNames.creator, {
      matchConstraints: constraints(namespaceRule(['CREATE', 'UPDATE'], 'namespaces')),
      variables: [...namespaceVariables, ...creatorVariables],
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: keepCreator } }],
    }),
    ...policy(
      'MutatingAdmissionPolicy',
      policyNames.gate,
      {
        paramKind: templates,
        // A mark that a client takes off by way of the status is put on again.
        matchConstraints: written,
        variables: [...selectorVariables, ...namespaceVariables, ...gateVariables],
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: shutGate } }],
      },
      eachTemplate,
    ),
    ...policy('ValidatingAdmissionPolicy', policyNames.namespace, {
      matchConstraints: written,
      variables: [...namespaceVariables, ...creatorVariables],
      validations: [...checkCreator, ...checkOwner, checkGate, checkOptOut],
    }),
    ...policy(
      'ValidatingAdmissionPolicy',
      policyNames.use,
      {
        paramKind: templates,
        matchConstraints: written,
        variables: [...selectorVariables, ...namespaceVariables, ...useVariables, ...parameterVariables],
        validations: [...checkUse, ...validateParameters],
      },
      eachTemplate,
    ),
  ]
}

const quoted = (expression: string): string => `'"' + ${expression} + '"'`
const userCannot = `'user ' + ${quoted('request.userInfo.username')} + ' cannot '`

const creatorAnnotation = valueIn('variables.annotations', creatorKey)
const creatorLabel = valueIn('variables.labels', creatorKey)
const owner = valueIn('variables.annotations', ownerKey)
const oldOwner = valueIn('variables.oldAnnotations', ownerKey)

const creatorVariables: readonly Variable[] = [
  {
    name: 'creatorLabel',
    expression:
      `request.operation != 'CREATE' ? ${valueIn('variables.oldLabels', creatorKey)} : ` +
      String.raw`request.userInfo.username.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$') ` +
      "? request.userInfo.username : ''",
  },
]

const pointer = (part: string, key: string): string =>
  `/metadata/${part}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** A map that is not there yet. */
const ensure = (part: 'annotations' | 'labels', when: string): string =>
  `(has(object.metadata.${part}) || !(${when}) ? [] : ` +
  `[JSONPatch{op: 'add', path: '/metadata/${part}', value: Object.metadata.${part}{}}])`

/** Sets the key to `value`, or takes it out where that is the empty text. */
function settle(part: 'annotations' | 'labels', key: string, value: string): string {
  const path = pointer(part, key)
  return (
    `(${valueIn(`variables.${part}`, key)} == ${value} ? [] : ${value} == '' ` +
    `? [JSONPatch{op: 'remove', path: '${path}'}] : [JSONPatch{op: 'add', path: '${path}', value: ${value}}])`
  )
}

/** The user of this request is the creator, whatever the client says; and an apply without the owner keeps it. */
const keepCreator = [
  ensure('annotations', `variables.creator != '' || ${oldOwner} != ''`),
  ensure('labels', "variables.creatorLabel != ''"),
  settle('annotations', creatorKey, 'variables.creator'),
  settle('labels', creatorKey, 'variables.creatorLabel'),
  `(${oldOwner} == '' || '${ownerKey}' in variables.annotations ? [] : ` +
    `[JSONPatch{op: 'add', path: '${pointer('annotations', ownerKey)}', value: ${oldOwner}}])`,
].join(' + ')

const isGuarded: Variable = {
  name: 'isGuarded',
  expression: `${valueIn('variables.templateAnnotations', requirePermissionAnnotation)} == 'true'`,
}

const gateVariables: readonly Variable[] = [
  { name: 'populates', expression: populates('variables.labels', 'variables.annotations') },
  // What the version in force selects is in another object: it waits, and the controller lets it go.
  {
    name: 'isHeld',
    expression: 'has(params.status) && has(params.status.heldGeneration) && params.status.heldGeneration > 0',
  },
  {
    name: 'mayPopulate',
    expression: `variables.populates || (variables.isHeld && ${isOpen('variables.annotations')})`,
  },
  isGuarded,
  // What an update changes by a condition or a parameter, or by a version in force, CEL can't say: a webhook does.
  {
    name: 'isAsked',
    expression:
      'variables.isHeld || has(params.spec) && (has(params.spec.namespaceMetadata) || has(params.spec.expiry) || ' +
      '(variables.isGuarded && (has(params.spec.parameters) || ' +
      '(has(params.spec.objects) && params.spec.objects.exists(o, has(o.when))))))',
  },
]

const isShut = `request.operation == 'CREATE' && variables.mayPopulate`

const shutGate = [
  ensure('labels', isShut),
  `(${isShut} ? [JSONPatch{op: 'add', path: '${pointer('labels', pendingLabel)}', value: 'true'}] : [])`,
  ensure('annotations', 'variables.mayPopulate && variables.isAsked'),
  '(variables.mayPopulate && variables.isAsked ? ' +
    `[JSONPatch{op: 'add', path: '${pointer('annotations', askedAnnotation)}', value: 'true'}] : [])`,
].join(' + ')

const told = (what: 'created' | 'owns', kind: string, key: string, known: string): string =>
  `'${kind} ${key} says who ${what} a namespace, and that is ' + (${known} == '' ? 'not known' : ${known})`

const checkCreator: readonly Validation[] = [
  {
    expression: `${creatorAnnotation} == variables.creator`,
    messageExpression: told('created', 'annotation', creatorKey, 'variables.creator'),
    reason: 'Forbidden',
  },
  {
    expression: `${creatorLabel} == variables.creatorLabel`,
    messageExpression: told('created', 'label', creatorKey, 'variables.creator'),
    reason: 'Forbidden',
  },
  {
    expression: `${oldOwner} == '' || '${ownerKey}' in variables.annotations`,
    messageExpression: told('owns', 'annotation', ownerKey, oldOwner),
    reason: 'Forbidden',
  },
]

const ownerField = `metadata.annotations[${ownerKey}]`
const hasOwner = `'${ownerKey}' in variables.annotations`
const ownerBefore = `(${oldOwner} == '' ? variables.creator : ${oldOwner})`
/** One from before creators were recorded may still be given an owner. */
const isNamed = `request.operation == 'CREATE' ? ${owner} != request.userInfo.username : ${ownerBefore} == ''`

const unseenInRe2 = unseenCharacters.source.replaceAll(String.raw`\u{`, String.raw`\x{`)

/** The bounds of `apis/templates/owner.ts`. One that was stored before stays. */
const wrongOwner = (isRight: string, wrong: string): Validation => ({
  expression: `!(${hasOwner}) || ('${ownerKey}' in variables.oldAnnotations && ${owner} == ${oldOwner}) || ${isRight}`,
  message: `${ownerField}: ${wrong}`,
  reason: 'Invalid',
})

const checkOwner: readonly Validation[] = [
  wrongOwner(`${owner} != ''`, 'must name a user or a group'),
  wrongOwner(`size(${owner}) <= ${ownerNameMaxLength}`, `must have at most ${ownerNameMaxLength} characters`),
  wrongOwner(
    String.raw`!${owner}.matches(r'[\p{Cc}\x{2028}\x{2029}]')`,
    'must have no control characters and no line breaks',
  ),
  wrongOwner(
    // A long one is refused by its length, before this costs what it is long.
    `size(${owner}) > ${ownerNameMaxLength} || !${owner}.matches(r'${unseenInRe2}')`,
    'must have no characters that are not seen',
  ),
  wrongOwner(String.raw`!${owner}.matches(r'^\p{Z}|\p{Z}$')`, 'must not begin or end with a blank'),
  {
    expression: `!(${hasOwner}) || request.operation == 'CREATE' || ${ownerBefore} == '' || ${owner} == ${ownerBefore}`,
    messageExpression: `'${ownerField}: the owner of a namespace does not change: it is ' + ${quoted(ownerBefore)}`,
    reason: 'Invalid',
  },
  {
    expression:
      `!(${hasOwner}) || ${owner} == ${oldOwner} || !(${isNamed}) || ` +
      mayNamespace('assign-owner', 'variables.name', 'cluster'),
    messageExpression:
      `${userCannot} + 'make ' + ${quoted(owner)} + ' the owner of a namespace: annotation ${ownerKey} needs the ` +
      `verb "assign-owner" on namespaces'`,
    reason: 'Forbidden',
  },
]

const checkGate: Validation = {
  expression:
    "request.operation == 'CREATE' || " +
    `(('${pendingLabel}' in variables.labels) == ('${pendingLabel}' in variables.oldLabels) && ` +
    `${valueIn('variables.labels', pendingLabel)} == ${valueIn('variables.oldLabels', pendingLabel)}) || ` +
    mayNamespace('initialize', 'variables.name'),
  message: `label ${pendingLabel} is changed by holders of the verb "initialize" on the namespace alone`,
  reason: 'Forbidden',
}

const optOut = `'${optOutAnnotation}' in variables.annotations`
const optOutValue = valueIn('variables.annotations', optOutAnnotation)
const oldOptOutValue = valueIn('variables.oldAnnotations', optOutAnnotation)

const checkOptOut: Validation = {
  expression:
    `!(${optOut}) || ('${optOutAnnotation}' in variables.oldAnnotations && ` +
    `${optOutValue} == ${oldOptOutValue}) || ` +
    mayTemplates('optout'),
  messageExpression:
    `${userCannot} + 'opt a namespace out of its templates: annotation ${optOutAnnotation} needs the verb ` +
    `"optout" on namespacetemplates'`,
  reason: 'Forbidden',
}

const useVariables: readonly Variable[] = [
  isGuarded,
  { name: 'populates', expression: populates('variables.labels', 'variables.annotations') },
  {
    name: 'populated',
    expression: `request.operation != 'CREATE' && ${populates('variables.oldLabels', 'variables.oldAnnotations')}`,
  },
  // Opting out and disabling are not looked at: both can be taken back.
  {
    name: 'isLeft',
    expression:
      "request.operation != 'CREATE' && !variables.isDeleted && " +
      `${selects('variables.oldLabels')} && !(${selects('variables.labels')})`,
  },
  { name: 'template', expression: 'params.metadata.name' },
]

const cannotUse = (relation: string): string =>
  `${userCannot} + 'use namespacetemplates ' + ${quoted('variables.template')} + ', which ${relation} this namespace'`

const mayUse = mayTemplates('use', 'variables.template')

const checkUse: readonly Validation[] = [
  {
    expression: `!variables.isGuarded || !variables.populates || variables.populated || ${mayUse}`,
    messageExpression: cannotUse('selects'),
    reason: 'Forbidden',
  },
  {
    expression: `!variables.isGuarded || !variables.isLeft || ${mayUse}`,
    messageExpression: cannotUse('would no longer select'),
    reason: 'Forbidden',
  },
]
