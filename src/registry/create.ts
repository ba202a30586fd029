/**
 * Create. The order is upstream's (SEMANTICS of a create, v1.36):
 *
 *   clean metadata → track fields → mutating admission → uid, time, name → prepare → validate → validating admission
 *   → decide and commit
 *
 * So a refusal by mutating admission is answered before one by validation, and both before AlreadyExists.
 * @see k8s.io/apiserver/pkg/registry/rest/create.go, pkg/endpoints/handlers/create.go v0.36
 */
import { andThen, type Eventual } from '../base/eventual.ts'
import { cloneJson } from '../kube/clone-json.ts'
import { finalizerWarnings, keepDistinctOwners } from '../kube/metadata.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { alreadyExists, badRequest, invalid, StatusError } from '../kube/status-error.ts'
import { encodeStored, parseStored } from '../kube/stored-form.ts'
import { formatTime } from '../kube/time.ts'
import type { JsonValue, KubeObject } from '../kube/types.ts'
import type { Entry, Revision } from '../storage/storage.ts'
import { ObjectVersion, TypedVersion } from '../watch/stored-object.ts'
import { withManagers } from './admitted-managers.ts'
import { fitting } from './fitting.ts'
import { dropsNewStatus, metadataErrors, tracksGeneration } from './kind-rules.ts'
import type { RegistryParts } from './parts.ts'
import type { StoredObject, WriteScope } from './registry.ts'
import { attributesOf, keyOf } from './scope-attributes.ts'
import { encoded } from './shown.ts'

/** As upstream: a name with five random characters that is taken eight times in a row is no accident. */
const generatedNameTries = 8
const generatedBaseLength = 58

/**
 * Takes `object` over. `tracked`: its managedFields are right already (server-side apply).
 * @throws StatusError
 */
export async function createObject(
  parts: RegistryParts,
  scope: WriteScope,
  object: KubeObject,
  tracked = false,
): Promise<StoredObject> {
  const deadlineMs = parts.clock.monotonic() + parts.giveUpAfterMs
  const now = formatTime(parts.clock.now())
  const versioned = hasVersion(object)
  const given = withoutStatus(ownMetadata(scope, object), dropsNewStatus(scope.type, parts.strategyOf(scope.type)))
  const admitting = admitted(parts, scope, given, { now, tracked })
  const next = admitting instanceof Promise ? await admitting : admitting
  const { metadata } = next
  metadata.uid = parts.ids.uid()
  metadata.creationTimestamp = now
  // What the client repeated is gone by now, except from a patch.
  keepDistinctOwners(next, (text) => scope.warn(text), true)
  const generateName = metadata.name ? '' : (metadata.generateName ?? '')
  for (let tries = 1; ; tries++) {
    if (generateName !== '') {
      metadata.name = generateName.slice(0, generatedBaseLength) + parts.ids.nameSuffix()
    }
    const outcome = await createNamed(parts, scope, next, { now, deadlineMs, tracked, versioned })
    if ('stored' in outcome) return outcome.stored
    if (generateName === '') throw existsAlready(scope, metadata.name ?? '', outcome.current)
    if (tries >= generatedNameTries) throw noUniqueName(scope, metadata.name ?? '')
  }
}

/** What a client may not set is wiped; the namespace is the one of the request. */
function ownMetadata(scope: WriteScope, object: KubeObject): KubeObject {
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
  return { ...object, metadata }
}

const hasVersion = ({ metadata }: KubeObject): boolean => /^0*[1-9][0-9]*$/.test(metadata?.resourceVersion ?? '')

/**
 * Said when the object would be stored, so after everything else that is wrong with it; a dry run stores nothing.
 * @see k8s.io/apiserver/pkg/storage/etcd3/store.go (Create), pkg/registry/generic/registry/dryrun.go v0.36
 */
function refuseVersion(scope: WriteScope): void {
  if (!scope.dryRun) throw new StatusError('resourceVersion should not be set on objects to be created')
}

/** Field tracking, then mutating admission; what admission changed belongs to nobody. */
function admitted(
  parts: RegistryParts,
  scope: WriteScope,
  object: KubeObject,
  how: { readonly now: string; readonly tracked: boolean },
): Eventual<KubeObject> {
  const { type, subresource, fieldManager: manager } = scope
  const tracked = how.tracked
    ? object
    : parts.trackUpdate({ type, live: undefined, next: object, manager, subresource, now: how.now })
  return andThen(tracked, (known) => afterMutation(parts, scope, known))
}

function afterMutation(parts: RegistryParts, scope: WriteScope, tracked: KubeObject): Eventual<KubeObject> {
  const { type } = scope
  const attributes = attributesOf(scope, 'CREATE', tracked.metadata.name ?? '', tracked, undefined)
  const settle = (mutated: KubeObject | undefined): KubeObject => {
    // `object` is a copy of ours (see ownMetadata), and so is what tracking made of it.
    if (mutated === undefined || mutated === tracked) return tracked
    // What a client may not set, admission may not set for it.
    if (hasVersion(mutated)) refuseVersion(scope)
    return ownCopy(withManagers(scope, parts.applyDefaults(type, ownMetadata(scope, mutated)), tracked))
  }
  return andThen(parts.chain.mutate(attributes), settle)
}

/** Whoever made the object last may still hold its metadata. */
const ownCopy = (object: KubeObject): KubeObject => ({ ...object, metadata: { ...object.metadata } })

function withoutStatus(object: KubeObject, drop: boolean): KubeObject {
  if (!drop || object['status'] === undefined) return object
  const { status: _, ...rest } = object
  return rest
}

/** What a client said of the status of a new object is nothing; Go prints the struct all the same. */
function withNewStatus(parts: RegistryParts, type: ResourceType, object: KubeObject): KubeObject {
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

async function createNamed(
  parts: RegistryParts,
  scope: WriteScope,
  object: KubeObject,
  how: {
    readonly now: string
    readonly deadlineMs: number
    readonly tracked: boolean
    readonly versioned: boolean
  },
): Promise<{ readonly stored: StoredObject } | { readonly current: Entry | undefined }> {
  const { type } = scope
  const { now, deadlineMs } = how
  const strategy = parts.strategyOf(type)
  let next = object
  if (tracksGeneration(type, strategy)) next.metadata.generation = 1
  if (dropsNewStatus(type, strategy)) next = withNewStatus(parts, type, next)
  next = strategy.prepare?.(next, undefined, { subresource: scope.subresource, now }) ?? next

  const name = next.metadata.name ?? ''
  const wrong = metadataErrors(type, strategy, next)
  const malformed = parts.validateSchema(type, next)
  const refused = strategy.validate?.(next, undefined, { subresource: scope.subresource, now }) ?? []
  if (wrong.length + malformed.length + refused.length > 0) {
    throw invalid(type, name, [...wrong, ...malformed, ...refused])
  }
  for (const text of strategy.warnings?.(next) ?? []) scope.warn(text)
  if (type.custom) for (const text of finalizerWarnings(next.metadata)) scope.warn(text)

  const attributes = attributesOf(scope, 'CREATE', name, next, undefined)
  const asked = parts.chain.validate(attributes)
  if (asked) await asked
  if (how.versioned) refuseVersion(scope)

  const fitted = fitting(next, (one) => encoded(one, type), how.tracked)
  const { object: after, bytes } = fitted instanceof Promise ? await fitted : fitted
  const write = {
    attributes,
    change: { type, namespace: scope.namespace, name, before: undefined, after },
    key: keyOf(scope, name),
    value: bytes,
    expect: 'absent' as const,
    deadlineMs,
  }
  const outcome = scope.dryRun ? await parts.commits.rehearse(write) : await parts.commits.write(write)
  if (!outcome.done) return { current: outcome.current }
  if (scope.dryRun) return { stored: storedAs(scope, name, 0, outcome.value ?? bytes) }
  return { stored: committedAs(parts, scope, name, outcome.revision, outcome.value ?? bytes) }
}

/** What is kept of it: what it is shown as is another form for some types. */
export function storedBytesOf(object: StoredObject): Uint8Array {
  const { conversion } = object.type
  if (conversion === undefined || conversion.remote !== undefined) return object.storedBytes
  return encodeStored(object.object, object.type)
}

/** A version that is not (or not known to be) the cache's. `bytes` are those in the store. */
export function storedAs(scope: WriteScope, name: string, revision: Revision, bytes: Uint8Array): StoredObject {
  const { type, namespace } = scope
  const key = namespace === '' ? name : `${namespace}/${name}`
  return new TypedVersion(type, new ObjectVersion(key, namespace, revision, bytes))
}

/** What was just written. Mostly it is the cache's present version: then it is parsed once, for us and for watchers. */
export function committedAs(
  parts: RegistryParts,
  scope: WriteScope,
  name: string,
  revision: Revision,
  bytes: Uint8Array,
): StoredObject {
  const shown = parts.cache.type(scope.type.storageName).find(scope.namespace, name)
  return shown?.revision === revision ? shown.as(scope.type) : storedAs(scope, name, revision, bytes)
}

function existsAlready(scope: WriteScope, name: string, current: Entry | undefined): StatusError {
  const error = alreadyExists(scope.type, name)
  if (!current || !parseStored(current.value, scope.type, current.revision).metadata.deletionTimestamp) return error
  return new StatusError(`object is being deleted: ${error.message}`, {
    reason: 'AlreadyExists',
    ...(error.details ? { details: error.details } : {}),
  })
}

function noUniqueName(scope: WriteScope, name: string): StatusError {
  const { message, details } = alreadyExists(scope.type, name)
  return new StatusError(`${message}, the server was not able to generate a unique name for the object`, {
    reason: 'AlreadyExists',
    details: { ...details, retryAfterSeconds: 1 },
  })
}
