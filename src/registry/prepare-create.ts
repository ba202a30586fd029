/**
 * A create up to its decision: metadata, field ownership, admission, preparation, validation, the bytes. What is
 * client creates (`create.ts`) and what admission adds to it (`create-also.ts`) comes this way.
 */
import type { Attributes } from '../admission/admission.ts'
import { afterPause, andThen, type Eventual } from '../base/eventual.ts'
import { cloneJson } from '../kube/clone-json.ts'
import { finalizerWarnings, keepDistinctOwners } from '../kube/metadata.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { badRequest, invalid, StatusError } from '../kube/status-error.ts'
import type { JsonValue, KubeObject, Unvalidated } from '../kube/types.ts'
import { assumeValid, unvalidated } from '../kube/unvalidated.ts'
import type { Entry, Revision } from '../storage/storage.ts'
import { encodeWithinLimit } from './encode-within-limit.ts'
import { keepManagers } from './keep-managers.ts'
import { dropsNewStatus, metadataErrors, tracksGeneration } from './kind-rules.ts'
import type { ObjectWrite } from './object-write.ts'
import type { RegistryParts } from './parts.ts'
import type { WriteScope } from './registry.ts'
import { attributesOf, keyOf } from './scope-attributes.ts'
import { encodeForStorage } from './served-version.ts'

export interface HowToCreate {
  /** RFC 3339, seconds. */
  readonly now: string
  /** On the monotonic clock. */
  readonly deadlineMs: number
  /** Its managedFields are right already (server-side apply). */
  readonly tracked: boolean
  /** The client said of which version it is. */
  readonly versioned: boolean
}

/** Nothing is wrong with it, as far as can be told before the decision. */
export interface Valid {
  readonly attributes: Attributes
  readonly object: KubeObject
}

/** Nothing is missing but the decision. */
export interface PreparedWrite extends ObjectWrite {
  readonly value: Uint8Array
}

export type CreateOutcome =
  /** `value`: what is stored. */
  | { readonly done: true; readonly revision: Revision; readonly value: Uint8Array }
  /** The name is taken. */
  | { readonly done: false; readonly current: Entry | undefined }

/** As admission makes it, with what the server gives every object but its name. @throws StatusError */
export function admitNew(
  parts: RegistryParts,
  scope: WriteScope,
  object: KubeObject | Unvalidated,
  how: Pick<HowToCreate, 'now' | 'tracked'>,
): Eventual<Unvalidated> {
  const given = withoutStatus(ownMetadata(scope, object), dropsNewStatus(scope.type, parts.strategyOf(scope.type)))
  return andThen(trackAndMutate(parts, scope, given, how), (next) => {
    next.metadata.uid = parts.ids.uid()
    next.metadata.creationTimestamp = how.now
    // What the client repeated is gone by now, except from a patch.
    keepDistinctOwners(next, (text) => scope.warn(text), true)
    return next
  })
}

/** Of an object that has its name. @throws StatusError */
export function validateForCreate(
  parts: RegistryParts,
  scope: WriteScope,
  object: Unvalidated,
  how: HowToCreate,
): Eventual<Valid> {
  const { type } = scope
  const { now } = how
  const strategy = parts.strategyOf(type)
  let next = object
  if (tracksGeneration(type, strategy)) next.metadata.generation = 1
  if (dropsNewStatus(type, strategy)) next = withNewStatus(parts, type, next)
  next = strategy.prepare?.(next, undefined, { subresource: scope.subresource, now }) ?? next

  const name = next.metadata.name ?? ''
  const wrong = metadataErrors(type, strategy, next)
  const candidate = assumeValid(next)
  const malformed = parts.validateSchema(type, candidate)
  const refused = strategy.validate?.(candidate, undefined, { subresource: scope.subresource, now }) ?? []
  if (wrong.length + malformed.length + refused.length > 0) {
    throw invalid(type, name, [...wrong, ...malformed, ...refused])
  }
  for (const text of strategy.warnings?.(candidate) ?? []) scope.warn(text)
  if (type.custom) for (const text of finalizerWarnings(next.metadata)) scope.warn(text)

  const attributes = attributesOf(scope, 'CREATE', name, candidate, undefined)
  const admitting = afterPause(scope.slice, () => parts.chain.validate(attributes))
  return andThen(admitting, () => {
    if (how.versioned) refuseVersion(scope)
    return { attributes, object: candidate }
  })
}

/** @throws StatusError if it is too large */
export function prepareWrite(
  scope: WriteScope,
  { attributes, object }: Valid,
  how: HowToCreate,
): Eventual<PreparedWrite> {
  const { type, namespace } = scope
  return andThen(
    afterPause(scope.slice, () => encodeWithinLimit(object, (one) => encodeForStorage(one, type), how.tracked)),
    ({ object: after, bytes }) => ({
      attributes,
      change: { type, namespace, name: attributes.name, before: undefined, after },
      key: keyOf(scope, attributes.name),
      value: bytes,
      expect: 'absent',
      deadlineMs: how.deadlineMs,
    }),
  )
}

/** What a client may not set is wiped; the namespace is the one of the request. */
function ownMetadata(scope: WriteScope, object: KubeObject | Unvalidated): Unvalidated {
  const metadata = { ...object.metadata }
  delete metadata.resourceVersion
  delete metadata.uid
  delete metadata.creationTimestamp
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  if (!scope.type.namespaced) delete metadata.namespace
  else if (!metadata.namespace) metadata.namespace = scope.namespace
  else if (metadata.namespace !== scope.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  return { ...unvalidated(object), metadata }
}

export const hasVersion = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean =>
  /^0*[1-9][0-9]*$/.test(metadata?.resourceVersion ?? '')

/**
 * Said when the object would be stored, so after everything else that is wrong with it; a dry run stores nothing.
 * @see k8s.io/apiserver/pkg/storage/etcd3/store.go (Create), pkg/registry/generic/registry/dryrun.go v0.36
 */
function refuseVersion(scope: WriteScope): void {
  if (!scope.dryRun) throw new StatusError('resourceVersion should not be set on objects to be created')
}

/** Field tracking, then mutating admission; what admission changed has no owner. */
function trackAndMutate(
  parts: RegistryParts,
  scope: WriteScope,
  object: Unvalidated,
  how: Pick<HowToCreate, 'now' | 'tracked'>,
): Eventual<Unvalidated> {
  const { type, subresource, fieldManager: manager } = scope
  if (how.tracked) return afterMutation(parts, scope, object)
  const { slice } = scope
  const next = assumeValid(object)
  const tracked = parts.trackUpdate({ type, live: undefined, next, manager, subresource, now: how.now, slice })
  return andThen(tracked, (known) => afterPause(slice, () => afterMutation(parts, scope, unvalidated(known))))
}

function afterMutation(parts: RegistryParts, scope: WriteScope, tracked: Unvalidated): Eventual<Unvalidated> {
  const { type } = scope
  const attributes = attributesOf(scope, 'CREATE', tracked.metadata.name ?? '', tracked, undefined)
  const settle = (mutated: Unvalidated | undefined): Unvalidated => {
    // `object` is a copy of ours (see ownMetadata), and so is what tracking made of it.
    if (mutated === undefined || mutated === tracked) return tracked
    // What a client may not set, admission may not set for it.
    if (hasVersion(mutated)) refuseVersion(scope)
    return ownCopy(keepManagers(scope, parts.applyDefaults(type, ownMetadata(scope, mutated)), tracked))
  }
  return andThen(parts.chain.mutate(attributes), (mutated) => afterPause(scope.slice, () => settle(mutated)))
}

/** The plugin that made the object last may still hold its metadata. */
const ownCopy = (object: Unvalidated): Unvalidated => ({ ...object, metadata: { ...object.metadata } })

function withoutStatus(object: Unvalidated, drop: boolean): Unvalidated {
  if (!drop || object['status'] === undefined) return object
  const { status: _, ...rest } = object
  return rest
}

/** What a client said of the status of a new object is nothing; Go prints the struct all the same. */
function withNewStatus(parts: RegistryParts, type: ResourceType, object: Unvalidated): Unvalidated {
  const bare = withoutStatus(object, true)
  const status = newStatusOf(parts, type)
  return status === undefined ? bare : { ...bare, status: cloneJson(status) }
}

const newStatuses = new WeakMap<ResourceType, { readonly status: JsonValue | undefined }>()

/** What defaults make of nothing. Undefined for custom resources: what they have is what was written. */
function newStatusOf(parts: RegistryParts, type: ResourceType): JsonValue | undefined {
  if (type.custom) return undefined
  let known = newStatuses.get(type)
  if (known === undefined) {
    const { status } = parts.applyDefaults(type, { metadata: {} })
    known = { status: status as JsonValue | undefined }
    newStatuses.set(type, known)
  }
  return known.status
}
