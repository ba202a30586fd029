/**
 * `protect`: objects of templates that other clients may not write. Others are all clients but the cluster's own
 * controllers (garbage collection and the deletion of namespaces among them), and holders of the verb `bypass` on the
 * template. `/status` stays open, but for metadata, which could be written there too. A place of a protected object is
 * kept free for it.
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import type { Authorizer } from '../../authz/authz.ts'
import { andThen } from '../../base/eventual.ts'
import type { Turns } from '../../base/turns.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { JsonValue, KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type AppliedObject, type AppliedRecords, identityOfApplied } from './applied-records.ts'
import { isCaretaker } from './caretakers.ts'
import { resolveNameOnly } from './clones.ts'
import { Conditions } from './conditions.ts'
import { judgeAheadIn } from './judge-ahead.ts'
import { type Matcher, selectTemplates } from './match.ts'
import { mayDo } from './may-do.ts'
import { evaluateParameters } from './parameters.ts'
import { identityOf, render } from './render.ts'
import { objectsOf } from './template-objects.ts'
import { hasToken } from './tokens.ts'
import { keptByStatus, type NamespaceTemplate } from './types.ts'

export interface ProtectionDeps {
  readonly authorizer: Authorizer
  readonly records: Pick<AppliedRecords, 'of'>
  /** As in `TemplateAdmissionDeps`. */
  readonly turns: Turns
  matchers(): Iterable<Matcher>
  /** Whether any template protects objects of this kind. */
  protects(type: ResourceType): boolean
  onProtectedKindsChange(listener: () => void): void
  findNamespace(name: string): Namespace | undefined
}

export const templateProtection = (deps: ProtectionDeps): AdmissionPlugin => ({
  name: 'TemplateProtection',
  handles: (operation, type) =>
    operation !== 'CONNECT' && type.namespaced && deps.protects(type) ? ['validate'] : false,
  onHandlesChange: deps.onProtectedKindsChange,
  validate(a) {
    // What is created together with its namespace is ours.
    if (isCaretaker(a.user) || a.pendingScope !== undefined || isStatusAlone(a)) return
    const namespace = deps.findNamespace(a.namespace)
    if (namespace === undefined) return
    const templates = candidatesFor(a, namespace, deps)
    if (templates.length === 0) return
    const conditions = new Conditions(namespace)
    return andThen(judgeAheadIn(a, conditions.ahead(templates), deps.turns), () =>
      refuseOthers(a, templates, conditions, deps),
    )
  },
})

export const protectionRefusal = (
  { user, operation, namespace }: Pick<Attributes, 'user' | 'operation' | 'namespace'>,
  what: string,
  template: string,
): string =>
  `user ${JSON.stringify(user.username)} cannot ${operation.toLowerCase()} ${what} in namespace ` +
  `${JSON.stringify(namespace)}: template ${JSON.stringify(template)} protects it; holders of the verb "bypass" on ` +
  `namespacetemplates ${JSON.stringify(template)} may`

/** `''/ConfigMap`: kinds of which a template protects objects. */
export const protectedKindsOf = (template: NamespaceTemplate): string[] =>
  objectsOf(template).flatMap(({ protect, source }) => {
    const { apiVersion = '', kind = '' } = source as Partial<KubeObject>
    return protect ? [protectedKind(apiVersion.slice(0, Math.max(0, apiVersion.lastIndexOf('/'))), kind)] : []
  })

export const protectedKind = (group: string, kind: string): string => `${group}/${kind}`

/**
 * The template whose object it is, or those whose object belongs in its place. An object that was there before, and
 * that no template made, is its owner's.
 */
function candidatesFor(a: Attributes, namespace: Namespace, deps: ProtectionDeps): readonly NamespaceTemplate[] {
  const claim = a.oldObject === undefined ? undefined : claimOf(deps, namespace, identityIn(a))
  if (a.oldObject !== undefined && (claim === undefined || claim.uid !== a.oldObject.metadata.uid)) return []
  const selected = selectTemplates(deps.matchers(), namespace)
  return [...selected, ...madeBy(claim, namespace, deps)].filter(
    (template) => (claim === undefined || claim.template === template.metadata.name) && mayProtect(template, a),
  )
}

/** The version in force, where it made the object: the newest may select the namespace and not hold it. */
function madeBy(
  claim: AppliedObject | undefined,
  namespace: Namespace,
  { matchers }: Pick<ProtectionDeps, 'matchers'>,
): readonly NamespaceTemplate[] {
  if (claim === undefined) return []
  const inForce = [...matchers()].flatMap(({ template, held }) =>
    held === undefined || claim.generation === template.metadata.generation ? [] : [held],
  )
  return selectTemplates(inForce, namespace)
}

function refuseOthers(
  a: Attributes,
  templates: readonly NamespaceTemplate[],
  conditions: Conditions,
  deps: ProtectionDeps,
): void {
  const identity = identityIn(a)
  const template = templates.find((t) => isProtectedIn(t, conditions, identity, deps))?.metadata.name
  if (template === undefined || isLastStep(a) || mayDo(deps.authorizer, a.user, 'bypass', template)) return
  throw forbidden(a.type, a.name, protectionRefusal(a, `${a.type.kind} ${a.name}`, template))
}

const identityIn = ({ type, name }: Attributes): string =>
  identityOf({ apiVersion: `${type.group}/`, kind: type.kind, metadata: { name } })

/** By the names that stand in it: most objects of a kind are not a template's, and nothing is rendered for them. */
const mayProtect = (template: NamespaceTemplate, { name, type }: Attributes): boolean =>
  objectsOf(template).some(({ protect, source }) => {
    const { kind, metadata } = source as Partial<KubeObject>
    return protect && kind === type.kind && (metadata?.name === name || hasToken(metadata?.name ?? ''))
  })

const claimOf = (
  { records }: Pick<ProtectionDeps, 'records'>,
  { metadata }: Pick<Namespace, 'metadata'>,
  identity: string,
): AppliedObject | undefined => records.of(nameOf(metadata)).find((o) => identityOfApplied(o) === identity)

/** A condition or a parameter that is at fault protects what is there as it was. */
function isProtectedIn(
  template: NamespaceTemplate,
  conditions: Conditions,
  identity: string,
  deps: Pick<ProtectionDeps, 'records'>,
): boolean {
  const { namespace } = conditions
  if (evaluateParameters(template, namespace).faults.length > 0) {
    return claimOf(deps, namespace, identity)?.template === template.metadata.name
  }
  const { objects, skipped } = render([template], namespace, resolveNameOnly, conditions)
  return [...objects, ...skipped.flatMap(({ kept }) => kept ?? [])].some(
    ({ held, object }) => held.protect === true && identityOf(object) === identity,
  )
}

/** A write by way of the status that leaves the metadata as it is. */
export const isStatusAlone = ({
  subresource,
  object,
  oldObject,
}: Pick<Attributes, 'subresource' | 'object' | 'oldObject'>): boolean =>
  subresource === 'status' &&
  keptByStatus.every((field) => jsonEqual(object?.metadata[field] ?? null, oldObject?.metadata[field] ?? null))

/** A client that holds an object with a finalizer takes it off when the object is being deleted. */
export function isLastStep({
  operation,
  object,
  oldObject,
}: Pick<Attributes, 'operation' | 'object' | 'oldObject'>): boolean {
  if (operation !== 'UPDATE' || object === undefined || oldObject?.metadata.deletionTimestamp === undefined)
    return false
  const kept = ({ metadata, ...rest }: KubeObject): JsonValue => {
    const { finalizers: _f, managedFields: _m, resourceVersion: _r, ...all } = metadata
    return { ...rest, metadata: all } as unknown as JsonValue
  }
  return jsonEqual(kept(object), kept(oldObject))
}
