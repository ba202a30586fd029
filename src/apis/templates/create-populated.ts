/**
 * Namespaces created populated: what the templates hold is stored in the namespace's own transaction, so no client sees
 * the one without the other or waits for the controller.
 *
 * Only what is as good as made by then: any doubt (a kind that must come after another, an object that can't be
 * rendered, a refusal, a webhook that wants to be asked) leaves the gate shut, and the controller does it as on any
 * other cluster, and says what is wrong.
 */
import type { AdmissionPlugin, AlsoCreate, Attributes, DecisionView, Guard } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import type { Authorizer } from '../../authz/authz.ts'
import type { Turns } from '../../base/turns.ts'
import { cloneJson } from '../../kube/clone-json.ts'
import { nameOf, uidOf } from '../../kube/metadata.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import { namespaceResource } from '../namespaces/types.ts'
import type { ResourceQuota } from '../quotas/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { countersLast, isCounter, isUnordered } from './apply-order.ts'
import type { ResolveClone } from './clones.ts'
import { Conditions } from './conditions.ts'
import { withGateOpen } from './gate.ts'
import { judgeAheadIn } from './judge-ahead.ts'
import { kindsOf } from './kinds.ts'
import { contentDigest } from './marks.ts'
import { isDisabled, type Matcher, selectTemplates } from './match.ts'
import type { RecordWriter } from './record-admission.ts'
import { type Rendered, render } from './render.ts'
import { wantsMetadata } from './settle-metadata.ts'
import { type NamespaceTemplate, templateFieldManager, templateFinalizer } from './types.ts'

/** An object is a write, a template a guard; a transaction holds a hundred, and some are the namespace's own. */
const mostOperations = 90

export interface PopulatedCreateDeps {
  readonly authorizer: Pick<Authorizer, 'authorize'>
  readonly templateType: ResourceType
  /** As in `TemplateAdmissionDeps`. */
  readonly turns: Turns
  /** As whom the controller acts. */
  readonly user: UserInfo
  readonly records: Pick<RecordWriter, 'written'>
  readonly clones: ResolveClone
  /** One was created populated. */
  observe(): void
  /** All templates, with their selectors parsed. */
  matchers(): Iterable<Matcher>
  findKind(apiVersion: string, kind: string): ResourceType | undefined
  /** RFC 3339, seconds. */
  now(): string
  /**
   * What an apply makes where there is nothing: a defaulted object of its own, with its managedFields. undefined = it
   * does not fit its schema. @throws StatusError
   */
  firstApplied(type: ResourceType, config: KubeObject, fieldManager: string): KubeObject | undefined
}

interface Placed {
  readonly rendered: Rendered
  readonly kind: ResourceType
  readonly object: KubeObject
}

export function namespacePopulation(deps: PopulatedCreateDeps): AdmissionPlugin {
  /** From `validate` to `createAlso`, which has no time for what is costly. */
  const judged = new WeakMap<Attributes, Conditions>()
  return {
    name: 'NamespacePopulation',
    handles: (operation, type, subresource) =>
      operation === 'CREATE' && subresource === '' && type.group === '' && type.resource === 'namespaces',
    async validate(a) {
      const planned = templatesFor(a, deps)
      if (planned === undefined) return
      const conditions = new Conditions(planned.namespace)
      judged.set(a, conditions)
      await judgeAheadIn(a, conditions.ahead(planned.templates), deps.turns)
    },
    createAlso: (a) => planObjects(a, deps, judged.get(a)),
  }
}

/** undefined = nothing is created with it. */
function templatesFor(a: Attributes, { matchers }: PopulatedCreateDeps) {
  const namespace = withGateOpen(objectOf(namespaceResource, a))
  if (namespace === undefined) return undefined
  const templates = selectTemplates(matchers(), namespace)
  return templates.every(isReady) ? { namespace, templates } : undefined
}

function planObjects(a: Attributes, deps: PopulatedCreateDeps, conditions?: Conditions): AlsoCreate | undefined {
  const planned = templatesFor(a, deps)
  if (planned === undefined) return undefined
  const { namespace, templates } = planned
  const { objects, skipped } = render(templates, namespace, deps.clones, conditions)
  if (templates.some((t) => t.spec?.namespaceMetadata) && wantsMetadata(templates, namespace)) return undefined
  if (skipped.length > 0 || objects.length + templates.length > mostOperations) return undefined
  const placed = placeAll(objects, deps)
  if (placed === undefined) return undefined
  const name = nameOf(namespace.metadata)
  return {
    user: deps.user,
    fieldManager: templateFieldManager,
    objects: placed.map(({ kind, object }) => ({ type: kind, object })),
    opens: name,
    bestEffort: {
      first: namespace,
      stored: () => deps.observe(),
      decide(view) {
        const guards = guardTemplates(templates, deps.templateType, view)
        if (guards === undefined) return undefined
        const record = deps.records.written(view, name, describeApplied(placed, view))
        return record === undefined ? { guards } : { guards, writes: [record] }
      },
    },
  }
}

/** As they are stored with the namespace: the view shows them, and only now do they have their uids. */
function describeApplied(placed: readonly Placed[], view: DecisionView): AppliedObject[] {
  return placed.map(({ rendered, kind }) => {
    const { template, object, config: digest } = rendered
    const { apiVersion, kind: kindName, metadata } = object
    const { namespace, name } = metadata
    const stored = view.see(kind, namespace, name).object ?? object
    return {
      apiVersion,
      kind: kindName,
      name,
      uid: uidOf(stored.metadata),
      template: nameOf(template.metadata),
      generation: template.metadata.generation ?? 0,
      digest,
      content: contentDigest(stored),
    }
  })
}

const readiness = new WeakMap<NamespaceTemplate, boolean>()

function isReady(template: NamespaceTemplate): boolean {
  const known = readiness.get(template)
  if (known !== undefined) return known
  const ready = canHaveMade(template)
  readiness.set(template, ready)
  return ready
}

/** Its deletion waits for what it made, and its status says where that is to be found. */
function canHaveMade(template: NamespaceTemplate): boolean {
  const { metadata, status } = template
  if (metadata.deletionTimestamp !== undefined || isDisabled(template)) return false
  if (!metadata.finalizers?.includes(templateFinalizer)) return false
  return kindsOf(template).every((kind) => status?.kinds?.includes(kind))
}

/** What an apply makes of a source that is the same everywhere: only its place and its time differ. */
const appliedOnce = new WeakMap<JsonObject, { readonly kind: ResourceType; readonly object: KubeObject }>()

function applyFirst(
  { object, source }: Rendered,
  kind: ResourceType,
  { firstApplied, now }: PopulatedCreateDeps,
): KubeObject | undefined {
  const once = source && appliedOnce.get(source)
  if (once?.kind === kind) return placeCopy(once.object, object.metadata.namespace, now())
  const made = firstApplied(kind, object, templateFieldManager)
  if (made !== undefined && source !== undefined) appliedOnce.set(source, { kind, object: cloneJson(made) })
  return made
}

function placeCopy(object: KubeObject, namespace: string, time: string): KubeObject {
  const { metadata, ...rest } = cloneJson(object)
  const managedFields = metadata.managedFields?.map((entry) => ({ ...entry, time }))
  return { ...rest, metadata: { ...metadata, namespace, ...(managedFields ? { managedFields } : {}) } }
}

/** In the order in which they are made; undefined = one of them must wait for another, or may not be created at all. */
function placeAll(objects: readonly Rendered[], deps: PopulatedCreateDeps): readonly Placed[] | undefined {
  const { findKind, authorizer, user } = deps
  const placed: Placed[] = []
  for (const rendered of objects) {
    const { apiVersion, kind: kindName, metadata } = rendered.object
    const kind = findKind(apiVersion, kindName)
    if (kind === undefined || !isUnordered(kind)) return undefined
    const { group, version, resource } = kind
    const { namespace, name } = metadata
    const may = (verb: string): boolean =>
      authorizer.authorize({ user, verb, group, version, resource, subresource: '', namespace, name }).allowed
    if (!may('patch') || !may('create')) return undefined
    const object = applyFirst(rendered, kind, deps)
    if (object === undefined) return undefined
    placed.push({ rendered, kind, object })
  }
  const quotas = placed.filter(({ kind }) => isCounter(kind))
  return quotas.length > 1 && quotas.some(countsQuotas) ? undefined : countersLast(placed)
}

/** It is charged for each that comes after it. */
const countsQuotas = ({ object }: Placed): boolean => {
  const { hard = {} } = (object as ResourceQuota).spec ?? {}
  return hard['resourcequotas'] !== undefined || hard['count/resourcequotas'] !== undefined
}

/**
 * A template that is edited or goes at this moment is heeded. Its status may move on: it does, once a second, while
 * namespaces come.
 */
function guardTemplates(
  templates: readonly NamespaceTemplate[],
  type: ResourceType,
  view: DecisionView,
): readonly Guard[] | undefined {
  const guards: Guard[] = []
  for (const { metadata } of templates) {
    const { key, expect, object } = view.see(type, '', nameOf(metadata))
    const now = object
    const isSame = now?.metadata.uid === metadata.uid && now?.metadata.generation === metadata.generation
    if (now === undefined || !isSame || !isReady(now)) return undefined
    guards.push({ key, expect })
  }
  return guards
}
