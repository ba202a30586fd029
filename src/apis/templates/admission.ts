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
import { objectOf } from '../../admission/object-of.ts'
import type { Authorizer } from '../../authz/authz.ts'
import { andThen, type Eventual } from '../../base/eventual.ts'
import { runInSlices } from '../../base/resumable.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { nameOf } from '../../kube/metadata.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { Unvalidated } from '../../kube/types.ts'
import { type Namespace, namespaceResource } from '../namespaces/types.ts'
import { resolveNameOnly } from './clones.ts'
import { Conditions } from './conditions.ts'
import { keepCreator, withCreator } from './creator.ts'
import { evaluateAhead, judgeAheadIn } from './judge-ahead.ts'
import { type JudgeTemplateDeps, judgeTemplate } from './judge-template.ts'
import { findBeyond, isOptedOut, selectTemplates, selectTemplatesLeft } from './match.ts'
import { mayDo } from './may-do.ts'
import { checkMetadata, settleChanged, settleNew } from './metadata-admission.ts'
import { setsMetadata } from './namespace-metadata.ts'
import { checkOwner, keepOwner, warnOfKeptOwner } from './owner.ts'
import { checkParameters } from './parameter-admission.ts'
import { identityOf, render, titleOf, wantedIn } from './render.ts'
import { rendersDifferently } from './render-difference.ts'
import {
  metadataHoldersAnnotation,
  metadataVersionsAnnotation,
  type NamespaceTemplate,
  optOutAnnotation,
  ownerKey,
  pendingLabel,
  requirePermissionAnnotation,
  templateFinalizer,
  templateGroups,
  templateResourceName,
} from './types.ts'
import { namespaceWarnings, optOutWarnings, ourKey } from './unread-keys.ts'

export interface TemplateAdmissionDeps extends JudgeTemplateDeps {
  readonly authorizer: Authorizer
  /**
   * Namespaces wait for their templates by `pendingLabel` here. Where they do not, a client that put it on would have
   * its namespace treated as one that no other client has written to yet.
   */
  readonly hasLabelGate: boolean
  /** Templates set labels and annotations of namespaces. False where another process does, and where none does. */
  readonly setsMetadata: boolean
  /** Users whose namespaces opt out by themselves. */
  optsOutAutomatically(username: string): boolean
}

/** Objects named in the warnings of a dry run. */
const previewedObjects = 20

export function isTemplateType(type: { readonly group: string; readonly resource: string }): boolean {
  return type.resource === templateResourceName && templateGroups.includes(type.group)
}

type Mutating = Attributes<Unvalidated>
const isNamespaceWrite = (a: Pick<Attributes, 'type'>): boolean =>
  a.type.group === '' && a.type.resource === 'namespaces'

export function namespaceTemplates(deps: TemplateAdmissionDeps): AdmissionPlugin {
  return {
    name: 'NamespaceTemplates',
    handles(operation, type, subresource) {
      if (isTemplateType(type)) return subresource === '' && (operation !== 'DELETE' || ['validate'])
      return operation !== 'DELETE' && type.group === '' && type.resource === 'namespaces'
    },
    async mutate(a) {
      if (isTemplateType(a.type)) return withPruneFinalizer(a)
      if (!isNamespaceWrite(a)) return undefined
      const named = await withTrueCreator(a, deps)
      const namespace = deps.hasLabelGate ? named : withoutPendingLabel(named)
      if (!concernsMetadata(a, deps)) return namespace
      await judgeAheadIn(a, evaluateAhead(setting(deps, namespace), namespace), deps.turns)
      if (a.oldObject === undefined) return settleNew(a, namespace, () => deps.matchers())
      return settleChanged(a, namespace, a.oldObject as Namespace, () => deps.matchers())
    },
    validate(a) {
      if (isTemplateType(a.type)) return judgeTemplate(a, deps)
      if (!isNamespaceWrite(a)) return undefined
      return andThen(judgeNamespaceAhead(a, deps), () => checkNamespace(a, deps))
    },
  }
}

const setting = ({ matchers }: TemplateAdmissionDeps, namespace: Unvalidated): NamespaceTemplate[] =>
  selectTemplates(matchers(), namespace).filter(setsMetadata)

/** Whether a template sets labels or annotations of namespaces, or something is said to have been set. */
function concernsMetadata({ object, oldObject }: Attributes | Mutating, deps: TemplateAdmissionDeps): boolean {
  if (!deps.setsMetadata) return false
  const { annotations } = object?.metadata ?? {}
  if ((annotations?.[metadataHoldersAnnotation] ?? annotations?.[metadataVersionsAnnotation]) !== undefined) return true
  if (oldObject?.metadata.annotations?.[metadataHoldersAnnotation] !== undefined) return true
  for (const { template, held } of deps.matchers()) {
    if ((template.spec?.namespaceMetadata ?? held?.template.spec?.namespaceMetadata) !== undefined) return true
  }
  return false
}

async function withTrueCreator(a: Mutating, { optsOutAutomatically }: TemplateAdmissionDeps): Promise<Unvalidated> {
  const given = objectOf(namespaceResource, a)
  if (a.operation !== 'CREATE') {
    const old = a.oldObject as Namespace
    warnOfKeptOwner(a, given, old)
    return keepOwner(await runInSlices(keepCreator(given, old), a.slice), old)
  }
  const namespace = await runInSlices(withCreator(given, a.user.username), a.slice)
  return optsOutAutomatically(a.user.username) ? annotate(namespace, optOutAnnotation, 'true') : namespace
}

/** What is judged below in one piece. @throws StatusError TooManyRequests */
function judgeNamespaceAhead(a: Attributes, deps: TemplateAdmissionDeps): Eventual<void> {
  const namespace = objectOf(namespaceResource, a)
  const templates = selectTemplates(deps.matchers(), namespace)
  return andThen(judgeAheadIn(a, evaluateAhead(templates, namespace), deps.turns), () => {
    const rendered = a.dryRun ? templates : a.oldObject === undefined ? [] : templates.filter(asksUse)
    return judgeAheadIn(a, new Conditions(namespace).ahead(rendered), deps.turns)
  })
}

/** @throws StatusError Forbidden */
function checkNamespace(a: Attributes, deps: TemplateAdmissionDeps): void {
  const namespace = objectOf(namespaceResource, a)
  for (const key in { ...namespace.metadata.annotations, ...namespace.metadata.labels }) {
    if (!ourKey.test(key)) continue
    for (const warning of namespaceWarnings(namespace, a.oldObject)) a.warn(warning)
    break
  }
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
  if (optOut !== undefined && !deps.optsOutAutomatically(a.user.username)) checkOptOut(a, deps, namespace)
  const templates = selectTemplates(deps.matchers(), namespace)
  checkUse(a, deps, templates, 'selects')
  if (templates.some((t) => t.spec?.parameters || findBeyond(t))) checkParameters(a, namespace, templates)
  if (a.dryRun) preview(a, 'create', templates, new Conditions(namespace))
}

/** A dry run tells what the namespace would be given, or lose. `but`: identities that are no news. */
function preview(
  a: Pick<Attributes, 'warn'>,
  what: 'create' | 'prune',
  templates: readonly NamespaceTemplate[],
  conditions: Conditions,
  but: ReadonlySet<string> = new Set(),
): void {
  const objects = render(templates, conditions.namespace, resolveNameOnly, conditions).objects.filter(
    ({ object }) => !but.has(identityOf(object)),
  )
  for (const { object } of objects.slice(0, previewedObjects)) a.warn(`would ${what} ${titleOf(object)}`)
}

/** By way of `/status` and `/finalize` too: labels can be changed there. */
function checkMoved(a: Attributes, namespace: Namespace, old: Namespace, deps: TemplateAdmissionDeps): void {
  const optOut = namespace.metadata.annotations?.[optOutAnnotation]
  const isOptOutChanged = optOut !== old.metadata.annotations?.[optOutAnnotation]
  const isMoved = !jsonEqual(namespace.metadata.labels ?? {}, old.metadata.labels ?? {})
  // Name and creator stay: labels and opting out decide which templates, and annotations too which objects.
  if (!isMoved && jsonEqual(namespace.metadata.annotations ?? {}, old.metadata.annotations ?? {})) return
  if (optOut !== undefined && isOptOutChanged) checkOptOut(a, deps, namespace)
  const before = selectTemplates(deps.matchers(), old)
  const after = selectTemplates(deps.matchers(), namespace)
  checkParameters(a, namespace, after, { old, templates: before })
  const gained = after.filter((t) => !before.includes(t))
  checkUse(a, deps, gained, 'selects')
  checkUse(a, deps, selectTemplatesLeft(deps.matchers(), namespace, old), 'would no longer select')
  const [is, was] = [new Conditions(namespace), new Conditions(old)]
  const changed = after.filter((t) => asksUse(t) && before.includes(t) && rendersDifferently(t, is, was))
  checkUse(a, deps, changed, 'would give something else to')
  if (!a.dryRun) return
  preview(a, 'create', after, is, wantedIn(before, old, was))
  // What is there when a namespace opts out stays.
  const left = isOptedOut(namespace) ? [] : before.filter((t) => t.spec?.deletionPolicy !== 'Orphan')
  preview(a, 'prune', left, was, wantedIn(after, namespace, is))
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

function checkOptOut(a: Attributes, { authorizer }: TemplateAdmissionDeps, namespace: Namespace): void {
  if (mayDo(authorizer, a.user, 'optout', '')) {
    for (const warning of optOutWarnings(namespace, a.oldObject)) a.warn(warning)
    return
  }
  throw forbidden(
    a.type,
    a.name,
    `user ${JSON.stringify(a.user.username)} cannot opt a namespace out of its templates: annotation ` +
      `${optOutAnnotation} needs the verb "optout" on namespacetemplates`,
  )
}

const asksUse = ({ metadata }: NamespaceTemplate): boolean =>
  metadata.annotations?.[requirePermissionAnnotation] === 'true'

/** `relation`: of a template to the namespace, because of which it is asked for. */
function checkUse(
  a: Attributes,
  { authorizer }: TemplateAdmissionDeps,
  templates: readonly NamespaceTemplate[],
  relation: 'selects' | 'would no longer select' | 'would give something else to',
): void {
  for (const template of templates) {
    if (!asksUse(template)) continue
    const name = nameOf(template.metadata)
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
