/**
 * What admission does for templates:
 *
 * - on a namespace: records its creator, so that no client can, and keeps its owner; asks for `use` of the templates
 *   that match it, at creation and again when a change makes others match or some match no longer; asks for `optout` of
 *   who opts out.
 * - on a template: its selectors and objects must make sense, and its author can't grant through it what they lack.
 *
 * Namespaces are checked in `validate`: only then they have the name and the labels with which they are stored.
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import type { Authorizer } from '../../authz/authz.ts'
import { append } from '../../base/append.ts'
import { type Resumable, runInSlices } from '../../base/resumable.ts'
import { type FieldError, fieldDuplicate, fieldInvalid, fieldRequired, fieldTooLong } from '../../kube/field-error.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { validateLabelSelector } from '../../kube/label-selector.ts'
import { isLabelValue, labelValueMaxLength } from '../../kube/names.ts'
import { forbidden, invalid } from '../../kube/status-error.ts'
import type { JsonObject, KubeObject, StatusCause, Unvalidated } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import { templateExpiryErrors } from '../expiry/bounds.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type AuthorRightsDeps, type Lack, lackingRights, mayWiden } from './author-rights.ts'
import { resolveNameOnly } from './clones.ts'
import { changesObjects } from './conditions.ts'
import { isOptedOut, type Matcher, selectTemplates, selectTemplatesLeft } from './match.ts'
import { checkMetadata, settleChanged, settleNew } from './metadata-admission.ts'
import { entryErrors } from './object-entries.ts'
import { shapeErrors } from './object-shape.ts'
import { checkOwner, keepOwner } from './owner.ts'
import { checkParameters, writtenErrors } from './parameter-admission.ts'
import { identityOf, render, titleOf, wantedIn } from './render.ts'
import { rolloutErrors } from './rollout-limits.ts'
import { keyClashes, objectClashes } from './template-clashes.ts'
import { noveltyOf, objectsOf } from './template-objects.ts'
import {
  creatorKey,
  metadataHoldersAnnotation,
  metadataVersionsAnnotation,
  type NamespaceTemplate,
  optOutAnnotation,
  ownerKey,
  pendingLabel,
  requirePermissionAnnotation,
  type TemplateParameter,
  templateFinalizer,
  templateGroups,
  templateResourceName,
  templateVersion,
} from './types.ts'

export interface TemplateAdmissionDeps extends AuthorRightsDeps {
  readonly authorizer: Authorizer
  /** All templates, with their selectors parsed. */
  matchers(): Iterable<Matcher>
  /**
   * Namespaces wait for their templates by `pendingLabel` here. Where they do not, a client that put it on would have
   * its namespace treated as one that no other client has written to yet.
   */
  readonly hasLabelGate: boolean
  /** Templates set labels and annotations of namespaces. False where another process does, and where none does. */
  readonly setsMetadata: boolean
  /** Users whose namespaces opt out by themselves. */
  optsOutAutomatically(username: string): boolean
  /**
   * What is wrong with an object of a kind that is served, as far as it shows without a namespace, if that can be told.
   */
  checkObject?(object: JsonObject, parameters: readonly TemplateParameter[]): Resumable<FoundInObject>
}

export interface FoundInObject {
  /** Fields count from the object. */
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
}

/** Objects named in the warnings of a dry run. */
const previewedObjects = 20

export function isTemplateType(type: { readonly group: string; readonly resource: string }): boolean {
  return type.resource === templateResourceName && templateGroups.includes(type.group)
}

type Mutating = Attributes<Unvalidated>
type Named = Pick<Namespace, 'metadata'>

const isNamespaceWrite = (a: Pick<Attributes, 'type'>): boolean =>
  a.type.group === '' && a.type.resource === 'namespaces'

export function namespaceTemplates(deps: TemplateAdmissionDeps): AdmissionPlugin {
  return {
    name: 'NamespaceTemplates',
    handles: (operation, type, subresource) =>
      operation !== 'DELETE' &&
      ((type.group === '' && type.resource === 'namespaces') || (isTemplateType(type) && subresource === '')),
    async mutate(a) {
      if (isTemplateType(a.type)) return withPruneFinalizer(a)
      if (!isNamespaceWrite(a)) return undefined
      const named = withTrueCreator(a, deps)
      const namespace = deps.hasLabelGate ? named : withoutPendingLabel(named)
      if (!concernsMetadata(a, deps)) return namespace
      if (a.oldObject === undefined) return settleNew(a, namespace, () => deps.matchers())
      return settleChanged(a, namespace, a.oldObject as Namespace, () => deps.matchers())
    },
    validate(a) {
      if (isTemplateType(a.type)) return runInSlices(checkTemplate(a, deps), a.slice)
      if (isNamespaceWrite(a)) checkNamespace(a, deps)
    },
  }
}

/** Whether a template sets labels or annotations of namespaces, or something is said to have been set. */
function concernsMetadata({ object, oldObject }: Attributes | Mutating, deps: TemplateAdmissionDeps): boolean {
  if (!deps.setsMetadata) return false
  const { annotations } = object?.metadata ?? {}
  if ((annotations?.[metadataHoldersAnnotation] ?? annotations?.[metadataVersionsAnnotation]) !== undefined) return true
  if (oldObject?.metadata.annotations?.[metadataHoldersAnnotation] !== undefined) return true
  for (const { template } of deps.matchers()) if (template.spec?.namespaceMetadata !== undefined) return true
  return false
}

/** @throws StatusError Invalid, or Forbidden if its author lacks what it gives */
function* checkTemplate(a: Attributes, deps: TemplateAdmissionDeps): Resumable<void> {
  const template = a.object as NamespaceTemplate
  const old = a.oldObject
  const asksAuthor = old === undefined || mayWiden(template, old)
  yield
  const errors = [...templateErrors(template, deps), ...objectClashes(template, deps)]
  yield
  if (!jsonEqual(template.spec ?? {}, old?.spec ?? {})) append(errors, writtenErrors(a, template))
  yield
  if (asksAuthor) append(errors, yield* objectErrors(a, template, old, deps))
  if (asksAuthor) append(errors, keyClashes(template, deps))
  if (errors.length > 0) throw invalid(a.type, a.name, errors)
  if (!asksAuthor) return
  const lacks = lackingRights(deps, a.user, template, old)
  if (lacks.length > 0) throw forbidden(a.type, a.name, refusalOf(a.user, lacks), lacks.map(causeOf))
}

/** Of objects that a change brings or changes. */
function* objectErrors(
  a: Attributes,
  template: NamespaceTemplate,
  old: NamespaceTemplate | undefined,
  { findKind, checkObject }: TemplateAdmissionDeps,
): Resumable<FieldError[]> {
  const parameters = template.spec?.parameters ?? []
  const isNew = noveltyOf(template, old)
  const errors: FieldError[] = []
  for (const object of objectsOf(template)) {
    yield
    // The content of a clone is its source's.
    if (object.cloneFrom !== undefined || !isNew(object)) continue
    yield
    const { field, source } = object
    const { apiVersion, kind, metadata } = source as Partial<KubeObject>
    // What is wrong with these is told already.
    if (shapeErrors(source, field).length > 0 || !apiVersion || !kind || !metadata?.name) continue
    const served = findKind(apiVersion, kind)
    if (served?.namespaced === false) continue
    if (served === undefined) {
      const consequence =
        template.spec?.failurePolicy === 'Ignore'
          ? 'namespaces do without it until there is one'
          : 'new namespaces wait until there is one; spec.failurePolicy: Ignore would let them go'
      a.warn(`${field}: no kind ${kind} in ${apiVersion} is served: ${consequence}`)
      continue
    }
    if (checkObject === undefined) continue
    const found = yield* checkObject(source, parameters)
    for (const warning of found.warnings) a.warn(`${field}: ${warning}`)
    for (const e of found.errors) errors.push({ ...e, field: e.field === '' ? field : `${field}.${e.field}` })
  }
  return errors
}

const causeOf = ({ field, message }: Lack): StatusCause => ({ reason: 'FieldValueForbidden', message, field })

function refusalOf(user: UserInfo, lacks: readonly Lack[]): string {
  const what = lacks.map(({ field, message }) => `${field}: ${message}`).join('; ')
  return `user ${JSON.stringify(user.username)} can't give through a template what they may not do themselves: ${what}`
}

function withTrueCreator(a: Mutating, { optsOutAutomatically }: TemplateAdmissionDeps): Unvalidated {
  if (a.operation !== 'CREATE') {
    const old = a.oldObject as Namespace
    return keepOwner(keepCreator(a.object as Unvalidated, old), old)
  }
  const namespace = withCreator(a.object as Unvalidated, a.user.username)
  return optsOutAutomatically(a.user.username) ? annotate(namespace, optOutAnnotation, 'true') : namespace
}

/** @throws StatusError Forbidden */
function checkNamespace(a: Attributes, deps: TemplateAdmissionDeps): void {
  const namespace = a.object as Namespace
  if (namespace.metadata.annotations?.[ownerKey] !== undefined) checkOwner(a, deps.authorizer)
  if (a.operation === 'CREATE') checkNew(a, namespace, deps)
  else checkMoved(a, namespace, a.oldObject as Namespace, deps)
  if (concernsMetadata(a, deps)) {
    checkMetadata(
      a,
      () => deps.matchers(),
      () => mayDo(deps.authorizer, a.user, 'patch', ''),
    )
  }
}

function checkNew(a: Attributes, namespace: Namespace, deps: TemplateAdmissionDeps): void {
  const optOut = namespace.metadata.annotations?.[optOutAnnotation]
  if (optOut !== undefined && !deps.optsOutAutomatically(a.user.username)) checkOptOut(a, deps)
  const templates = selectTemplates(deps.matchers(), namespace)
  checkUse(a, deps, templates, 'selects')
  if (templates.some((t) => t.spec?.parameters)) checkParameters(a, namespace, templates)
  if (a.dryRun) preview(a, 'create', templates, namespace)
}

/** A dry run tells what the namespace would be given, or lose. `but`: identities that are no news. */
function preview(
  a: Pick<Attributes, 'warn'>,
  what: 'create' | 'prune',
  templates: readonly NamespaceTemplate[],
  namespace: Named,
  but: ReadonlySet<string> = new Set(),
): void {
  const objects = render(templates, namespace, resolveNameOnly).objects.filter(
    ({ object }) => !but.has(identityOf(object)),
  )
  for (const { object } of objects.slice(0, previewedObjects)) a.warn(`would ${what} ${titleOf(object)}`)
}

/** By way of `/status` and `/finalize` too: labels can be changed there. */
function checkMoved(a: Attributes, namespace: Namespace, old: Namespace, deps: TemplateAdmissionDeps): void {
  const optOut = namespace.metadata.annotations?.[optOutAnnotation]
  const isOptOutChanged = optOut !== old.metadata.annotations?.[optOutAnnotation]
  const isMoved = isOptOutChanged || !jsonEqual(namespace.metadata.labels ?? {}, old.metadata.labels ?? {})
  // Name and creator stay: labels and opting out decide which templates, and annotations too which objects.
  if (!isMoved && jsonEqual(namespace.metadata.annotations ?? {}, old.metadata.annotations ?? {})) return
  if (optOut !== undefined && isOptOutChanged) checkOptOut(a, deps)
  const before = selectTemplates(deps.matchers(), old)
  const after = selectTemplates(deps.matchers(), namespace)
  checkParameters(a, namespace, after, { old, templates: before })
  const gained = after.filter((t) => !before.includes(t))
  checkUse(a, deps, gained, 'selects')
  checkUse(a, deps, selectTemplatesLeft(deps.matchers(), namespace, old), 'would no longer select')
  const changed = after.filter((t) => before.includes(t) && changesObjects(t, namespace, old))
  checkUse(a, deps, changed, 'would give other objects to')
  if (!a.dryRun) return
  const had = wantedIn(before, old)
  preview(a, 'create', after, namespace, had)
  // What is there when a namespace opts out stays.
  const left = isOptedOut(namespace) ? [] : before.filter((t) => t.spec?.deletionPolicy !== 'Orphan')
  preview(a, 'prune', left, old, wantedIn(after, namespace))
}

/** The user of this request is the creator, whatever the client says. As a label too, where it makes a legal one. */
function withCreator(namespace: Unvalidated, username: string): Unvalidated {
  const { [creatorKey]: _label, ...labels } = namespace.metadata.labels ?? {}
  const isLegalLabel = isLabelValue(username).length === 0
  return {
    ...namespace,
    metadata: {
      ...namespace.metadata,
      labels: isLegalLabel ? { ...labels, [creatorKey]: username } : labels,
      annotations: { ...namespace.metadata.annotations, [creatorKey]: username },
    },
  }
}

function keepCreator(next: Unvalidated, old: Namespace): Unvalidated {
  const labels = keepTemplateMarks('labels', next, old)
  const annotations = keepTemplateMarks('annotations', next, old)
  // The same object: what is changed goes through defaults once more.
  if (labels === undefined && annotations === undefined) return next
  return { ...next, metadata: { ...next.metadata, ...labels, ...annotations } }
}

type Marks = Partial<KubeObject['metadata']>

function keepTemplateMarks(part: 'labels' | 'annotations', next: Named, old: Named): Marks | undefined {
  const was = old.metadata[part]?.[creatorKey]
  if (next.metadata[part]?.[creatorKey] === was) return undefined
  const { [creatorKey]: _is, ...rest } = next.metadata[part] ?? {}
  return { [part]: was === undefined ? rest : { ...rest, [creatorKey]: was } }
}

function withoutPendingLabel(namespace: Unvalidated): Unvalidated {
  if (namespace.metadata.labels?.[pendingLabel] === undefined) return namespace
  const { [pendingLabel]: _pending, ...labels } = namespace.metadata.labels
  return { ...namespace, metadata: { ...namespace.metadata, labels } }
}

function annotate(namespace: Unvalidated, key: string, value: string): Unvalidated {
  const annotations = { ...namespace.metadata.annotations, [key]: value }
  return { ...namespace, metadata: { ...namespace.metadata, annotations } }
}

/** Either group's rules count: the kind is one. */
export function mayDo(authorizer: Authorizer, user: UserInfo, verb: string, name: string): boolean {
  return templateGroups.some(
    (group) =>
      authorizer.authorize({
        user,
        verb,
        group,
        version: templateVersion,
        resource: templateResourceName,
        subresource: '',
        namespace: '',
        name,
      }).allowed,
  )
}

function checkOptOut(a: Attributes, { authorizer }: TemplateAdmissionDeps): void {
  if (mayDo(authorizer, a.user, 'optout', '')) return
  throw forbidden(
    a.type,
    a.name,
    `user ${JSON.stringify(a.user.username)} cannot opt a namespace out of its templates: annotation ` +
      `${optOutAnnotation} needs the verb "optout" on namespacetemplates`,
  )
}

/** `relation`: of a template to the namespace, because of which it is asked for. */
function checkUse(
  a: Attributes,
  { authorizer }: TemplateAdmissionDeps,
  templates: readonly NamespaceTemplate[],
  relation: 'selects' | 'would no longer select' | 'would give other objects to',
): void {
  for (const { metadata } of templates) {
    if (metadata.annotations?.[requirePermissionAnnotation] !== 'true') continue
    const name = metadata.name ?? ''
    if (mayDo(authorizer, a.user, 'use', name)) continue
    throw forbidden(
      a.type,
      a.name,
      `user ${JSON.stringify(a.user.username)} cannot use namespacetemplates ${JSON.stringify(name)}, which ` +
        `${relation} this namespace`,
    )
  }
}

/** A template that is deleted stays until what it populated is pruned. */
function withPruneFinalizer(a: Mutating): Unvalidated | undefined {
  const template = a.object as Unvalidated
  if (a.operation !== 'CREATE' || template.metadata.finalizers?.includes(templateFinalizer)) return undefined
  const finalizers = [...(template.metadata.finalizers ?? []), templateFinalizer]
  return { ...template, metadata: { ...template.metadata, finalizers } }
}

/** What population does with an object. Reviews and bindings of pods are kinds too, and know only create. */
const keepingVerbs = ['list', 'watch', 'patch', 'delete'] as const

export function templateErrors(
  template: NamespaceTemplate,
  { findKind }: Pick<TemplateAdmissionDeps, 'findKind'>,
): FieldError[] {
  const errors: FieldError[] = []
  const { name } = template.metadata
  if (name !== undefined && name.length > labelValueMaxLength) {
    errors.push(fieldTooLong('metadata.name', labelValueMaxLength))
  }
  const { spec } = template
  append(errors, validateLabelSelector(spec?.namespaces?.labelSelector ?? {}, 'spec.namespaces.labelSelector'))
  append(errors, rolloutErrors(spec?.rollout ?? {}))
  append(errors, templateExpiryErrors(spec?.expiry ?? {}))
  const seen = new Set<string>()
  append(errors, entryErrors(spec?.objects ?? []))
  for (const { field, source: object, when } of objectsOf(template)) {
    const misshapen = shapeErrors(object, field)
    append(errors, misshapen)
    if (misshapen.length > 0) continue
    const { apiVersion, kind, metadata } = object as Partial<KubeObject>
    if (!apiVersion) errors.push(fieldRequired(`${field}.apiVersion`))
    if (!kind) errors.push(fieldRequired(`${field}.kind`))
    if (!metadata?.name) errors.push(fieldRequired(`${field}.metadata.name`))
    if (metadata?.namespace) {
      errors.push(
        fieldInvalid(`${field}.metadata.namespace`, metadata.namespace, 'must be empty: every namespace gets one'),
      )
    }
    // A kind that is not served may come later, with its definition.
    const served = apiVersion && kind ? findKind(apiVersion, kind) : undefined
    if (served?.namespaced === false) {
      errors.push(fieldInvalid(`${field}.kind`, kind, 'does not live in namespaces'))
    } else if (served !== undefined && keepingVerbs.some((verb) => !served.verbs.includes(verb))) {
      errors.push(
        fieldInvalid(`${field}.kind`, kind, 'is only asked and never kept: its API knows no patch and delete'),
      )
    }
    // Objects with conditions may be alternatives.
    if (when !== undefined) continue
    const identity = identityOf(object)
    if (seen.has(identity)) errors.push(fieldDuplicate(field, titleOf(object)))
    seen.add(identity)
  }
  return errors
}
