/**
 * Update: every PUT, PATCH and apply, on the object and its sub-resources. The order is upstream's (v1.36):
 *
 *   read → preconditions → transform → keep what this endpoint can't change → track fields → mutating admission
 *   → resourceVersion → prepare → validate → validating admission → decide and commit (or remove, or nothing at all)
 *
 * A lost race on the object starts from the transform again; a refusal on the grounds of a cached state is believed
 * only if that state is still current.
 * @see k8s.io/apiserver/pkg/registry/generic/registry/store.go (Update), pkg/registry/rest/update.go v0.36
 */
import { append } from '../base/append.ts'
import { afterPause, andThen, type Eventual } from '../base/eventual.ts'
import type { Slice } from '../base/turns.ts'
import type { Strategy, StrategyContext } from '../catalog/strategy.ts'
import { sameOwnership } from '../kube/apply/managed-fields.ts'
import { fieldInvalid } from '../kube/field-error.ts'
import { jsonEqual } from '../kube/json-value.ts'
import { finalizerWarnings, keepDistinctOwners } from '../kube/metadata.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { conflict, invalid, objectModified, type StatusError } from '../kube/status-error.ts'
import { encodeStored, parseStored } from '../kube/stored-form.ts'
import { formatTime } from '../kube/time.ts'
import type { KubeObject, ObjectMeta, Unvalidated } from '../kube/types.ts'
import { assumeValid, unvalidated } from '../kube/unvalidated.ts'
import type { ObjectVersion } from '../watch/stored-object.ts'
import { checkIdentity } from './check-identity.ts'
import { encodeWithinLimit, refuseGrowth } from './encode-within-limit.ts'
import { keepManagers } from './keep-managers.ts'
import { hasStatus, isHeld, metadataUpdateErrors, tracksGeneration } from './kind-rules.ts'
import type { RegistryParts } from './parts.ts'
import type { Preconditions, StoredObject, Transform, UpdateOptions, UpdateResult, WriteScope } from './registry.ts'
import { attributesOf, keyOf } from './scope-attributes.ts'
import { toServedVersion } from './served-version.ts'
import { untilSettled } from './until-settled.ts'
import { committedAs, storedAs, storedBytesOf } from './written-version.ts'

/** What an update does where there is nothing. undefined = it exists after all, and the cache shows it. */
export type CreateMissing = (
  parts: RegistryParts,
  scope: WriteScope,
  options: UpdateOptions,
) => Promise<UpdateResult | undefined>

export async function updateObject(
  parts: RegistryParts,
  scope: WriteScope,
  transform: Transform,
  createMissing: CreateMissing,
  options: UpdateOptions = {},
): Promise<UpdateResult> {
  return untilSettled(parts, scope, 'UPDATE', (version, deadlineMs) =>
    version
      ? replaceVersion(parts, scope, version, { transform, options, deadlineMs })
      : createMissing(parts, scope, options),
  )
}

/** An object of more bytes takes long enough to make pauses. */
const largeBytes = 64 * 1024
const isLarge = ({ storedBytes }: StoredObject): boolean => storedBytes.length > largeBytes

/** Whose work it is, as a request is known. */
const ownerOf = ({ type, namespace, name, subresource, user }: WriteScope): object => ({
  resolution: { type, verb: 'update', namespace, name, subresource },
  user,
})

interface Replacement {
  readonly current: StoredObject
  readonly transform: Transform
  readonly options: UpdateOptions
  readonly deadlineMs: number
}

async function replaceVersion(
  parts: RegistryParts,
  scope: WriteScope,
  version: ObjectVersion,
  how: Omit<Replacement, 'current'>,
): Promise<UpdateResult | undefined> {
  return replace(parts, scope, { ...how, current: await toServedVersion(scope.type, version) })
}

/** undefined = lost to another write, which the cache shows. */
async function replace(parts: RegistryParts, scope: WriteScope, how: Replacement): Promise<UpdateResult | undefined> {
  const { type, name } = scope
  const { current, options } = how
  const strategy = parts.strategyOf(type)
  const slice = scope.slice ?? (isLarge(current) ? parts.turns.slice(ownerOf(scope)) : undefined)
  await slice?.pause()
  const old = current.object
  const context: StrategyContext = { subresource: scope.subresource, now: formatTime(parts.clock.now()) }

  if (options.preconditions) checkPreconditions(scope, current, options.preconditions)
  await slice?.pause()
  const given = unvalidated(await how.transform(old, slice))
  checkIdentity(scope, given.metadata)
  await slice?.pause()
  const askedVersion = given.metadata.resourceVersion ?? ''
  let next = await trackAndMutate(parts, scope, ownHalf(scope, strategy, given, old), old, {
    now: context.now,
    tracked: options.ownsManagedFields === true,
    slice,
  })
  await slice?.pause()
  checkVersion(scope, strategy, current, askedVersion)

  keepDistinctOwners(next, (text) => scope.warn(text), true)
  next = strategy.prepare?.(next, old, context) ?? next
  if (tracksGeneration(type, strategy) && specDiffers(scope, strategy, next, old)) {
    next.metadata.generation = (old.metadata.generation ?? 0) + 1
  }
  const candidate = assumeValid(next)
  await slice?.pause()
  if (slice) refuseGrowth(candidate, old)
  await slice?.pause()
  const errors = [...metadataUpdateErrors(type, strategy, next, old)]
  await slice?.pause()
  append(errors, parts.rulesOf(type).validateSchema?.(candidate, { ...scope, old }) ?? [])
  await slice?.pause()
  append(errors, strategy.validate?.(candidate, old, context) ?? [])
  if (errors.length > 0) throw invalid(type, name, errors)
  for (const text of strategy.warnings?.(candidate) ?? []) scope.warn(text)
  if (type.custom) for (const text of finalizerWarnings(next.metadata, old.metadata)) scope.warn(text)

  const attributes = attributesOf(scope, 'UPDATE', name, candidate, old)
  await slice?.pause()
  await parts.chain.validate(attributes)
  await slice?.pause()

  const removed = endsDeletion(strategy, old, candidate)
  const remote = type.conversion?.remote
  const encode = (object: KubeObject): Eventual<Uint8Array | undefined> =>
    andThen(remote ? remote.stored(object) : object, (stored) => encodeUnlessSame(stored, current, slice))
  const { object: after, bytes } = await encodeWithinLimit(candidate, encode, options.ownsManagedFields === true)
  const change = {
    type,
    namespace: scope.namespace,
    name,
    subresource: scope.subresource,
    before: old,
    after: removed ? undefined : after,
  }
  if (bytes === undefined && !removed && !parts.commits.owes(change)) {
    return { stored: current, created: false, removed: false }
  }
  const kept = bytes ?? storedBytesOf(current)
  const write = {
    attributes,
    change,
    key: keyOf(scope, name),
    value: removed ? undefined : kept,
    expect: current.revision,
    deadlineMs: how.deadlineMs,
  }
  const outcome = scope.dryRun ? await parts.commits.dryRun(write) : await parts.commits.write(write)
  if (!outcome.done) return undefined
  const value = outcome.value ?? kept
  const stored =
    removed || scope.dryRun
      ? storedAs(scope, name, current.revision, value)
      : committedAs(parts, scope, name, outcome.revision, value)
  return { stored, created: false, removed }
}

/** What no client may change by an update is as stored, and what the other endpoint owns too. */
function ownHalf(scope: WriteScope, strategy: Strategy, given: Unvalidated, old: KubeObject): Unvalidated {
  const { type, subresource } = scope
  const metadata: ObjectMeta = { ...given.metadata, uid: given.metadata.uid || (old.metadata.uid ?? '') }
  delete metadata.selfLink
  delete metadata.resourceVersion
  keep(metadata, old.metadata, ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'])
  if (subresource !== '') keep(metadata, old.metadata, strategy.keptMetadata?.[subresource] ?? [])
  if (subresource === 'status') {
    const { status: _, ...rest } = old
    const status = given['status'] === undefined ? {} : { status: given['status'] }
    if (!type.custom) return unvalidated({ ...rest, metadata, ...status })
    // The status of a custom resource is just that: its metadata is the main endpoint's.
    const { resourceVersion: __, ...kept } = old.metadata
    const { managedFields } = metadata
    return unvalidated({
      ...rest,
      metadata: managedFields === undefined ? kept : { ...kept, managedFields },
      ...status,
    })
  }
  if (subresource !== '' || !hasStatus(type)) return { ...given, metadata }
  const { status: _, ...rest } = given
  return old['status'] === undefined ? { ...rest, metadata } : { ...rest, metadata, status: old['status'] }
}

function keep(metadata: ObjectMeta, old: ObjectMeta, fields: readonly (keyof ObjectMeta)[]): void {
  for (const field of fields) {
    const value = old[field]
    if (value === undefined) delete metadata[field]
    else Object.assign(metadata, { [field]: value })
  }
}

async function trackAndMutate(
  parts: RegistryParts,
  scope: WriteScope,
  object: Unvalidated,
  old: KubeObject,
  how: { readonly now: string; readonly tracked: boolean; readonly slice: Slice | undefined },
): Promise<Unvalidated> {
  const { type, subresource, fieldManager: manager } = scope
  const { now, slice } = how
  let tracked = object
  if (!how.tracked) {
    const next = assumeValid(object)
    tracked = unvalidated(await parts.trackUpdate({ type, live: old, next, manager, subresource, now, slice }))
  }
  await slice?.pause()
  const mutated = await parts.chain.mutate(attributesOf(scope, 'UPDATE', scope.name, tracked, old))
  const next =
    mutated === undefined || mutated === tracked
      ? tracked
      : keepManagers(scope, ownHalf(scope, parts.strategyOf(type), parts.applyDefaults(type, mutated), old), tracked)
  return { ...next, metadata: { ...next.metadata } }
}

function checkPreconditions(scope: WriteScope, current: StoredObject, { uid, resourceVersion }: Preconditions): void {
  const { type, name } = scope
  const refuse = (why: string): StatusError =>
    conflict(
      type,
      name,
      `StorageError: invalid object, Code: 4, Key: ${keyOf(scope, name)}, ResourceVersion: 0, ` +
        `AdditionalErrorMsg: Precondition failed: ${why}`,
    )
  const storedUid = current.object.metadata.uid ?? ''
  if (uid !== undefined && uid !== storedUid) {
    throw refuse(`UID in precondition: ${uid}, UID in object meta: ${storedUid}`)
  }
  const stored = String(current.revision)
  if (resourceVersion !== undefined && resourceVersion !== stored) {
    throw refuse(`ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${stored}`)
  }
}

/** @throws StatusError Conflict, or Invalid where it is no version */
function checkVersion(scope: WriteScope, strategy: Strategy, current: StoredObject, askedVersion: string): void {
  const { type, name } = scope
  if (askedVersion === '' || askedVersion === '0') {
    if (strategy.unconditionalUpdate ?? true) return
    throw invalid({ group: type.group, kind: type.resource }, name, [
      fieldInvalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ])
  }
  if (!/^[0-9]+$/.test(askedVersion)) {
    throw invalid(type, name, [fieldInvalid('metadata.resourceVersion', askedVersion, 'must be a decimal number')])
  }
  if (askedVersion !== String(current.revision)) throw conflict(type, name, objectModified)
}

/** What generation counts: the spec, or all a custom resource has besides metadata and a separate status. */
function specDiffers(scope: WriteScope, strategy: Strategy, next: Unvalidated, old: KubeObject): boolean {
  const { type, subresource } = scope
  if (subresource === 'status') return false
  if (!type.custom) return !jsonEqual(next['spec'], old['spec'])
  return !jsonEqual(desiredState(type, strategy, next), desiredState(type, strategy, old))
}

function desiredState(type: ResourceType, strategy: Strategy, object: KubeObject | Unvalidated): object {
  const { metadata: _, apiVersion: __, kind: ___, status, ...rest } = object
  return hasStatus(type) || status === undefined ? rest : { ...rest, status }
}

/** True if this write takes away the last thing that kept an object in deletion. */
function endsDeletion(strategy: Strategy, old: KubeObject, next: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = old.metadata
  if (!deletionTimestamp || deletionGracePeriodSeconds > 0) return false
  return (next.metadata.finalizers ?? []).length === 0 && !isHeld(strategy, next)
}

/**
 * `next` in the version that is stored. undefined = nothing changes, so nothing is written. New times in managedFields
 * alone are no change; neither is another order of keys, which can only be the case when both forms are equally long.
 */
function encodeUnlessSame(
  next: KubeObject,
  current: StoredObject,
  slice: Slice | undefined,
): Eventual<Uint8Array | undefined> {
  const old = current.object.metadata.managedFields
  const given = next.metadata.managedFields
  if (old && given && given !== old && sameOwnership(given, old)) {
    return afterPause(slice, () => {
      const timeless = encodeStored({ ...next, metadata: { ...next.metadata, managedFields: old } }, current.type)
      return andThen(sameState(timeless, current, slice), (same) =>
        same ? undefined : afterPause(slice, () => encodeStored(next, current.type)),
      )
    })
  }
  return afterPause(slice, () => {
    const bytes = encodeStored(next, current.type)
    return andThen(sameState(bytes, current, slice), (same) => (same ? undefined : bytes))
  })
}

function sameState(bytes: Uint8Array, current: StoredObject, slice: Slice | undefined): Eventual<boolean> {
  const before = storedBytesOf(current)
  if (bytes.byteLength !== before.byteLength) return false
  if (Buffer.compare(bytes, before) === 0) return true
  return afterPause(slice, () => {
    const after = parseStored(bytes, current.type, current.revision)
    return afterPause(slice, () => jsonEqual(after, presentForm(current, before)))
  })
}

/** To compare with: as stored, where the store holds another version than the client sees. */
const presentForm = (current: StoredObject, before: Uint8Array): KubeObject =>
  current.type.conversion?.remote ? parseStored(before, current.type, current.revision) : current.object
