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
import { andThen, type Eventual, isPending } from '../base/eventual.ts'
import { runInSlices } from '../base/resumable.ts'
import type { Strategy, StrategyContext } from '../catalog/strategy.ts'
import { fieldInvalid } from '../kube/field-error.ts'
import { jsonEqual } from '../kube/json-value.ts'
import { finalizerWarnings, judgeMetadataUpdate, keepDistinctOwners } from '../kube/metadata.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { conflict, invalid, objectModified, type StatusError } from '../kube/status-error.ts'
import { formatTime } from '../kube/time.ts'
import type { KubeObject, ObjectMeta, Unvalidated } from '../kube/types.ts'
import { assumeValid, unvalidated } from '../kube/unvalidated.ts'
import type { ObjectVersion } from '../watch/stored-object.ts'
import { checkIdentity } from './check-identity.ts'
import { encodeUnlessSame } from './encode-unless-same.ts'
import { encodeWithinLimit, refuseGrowth } from './encode-within-limit.ts'
import { keepManagers } from './keep-managers.ts'
import { hasStatus, isHeld, tracksGeneration } from './kind-rules.ts'
import type { RegistryParts } from './parts.ts'
import type { Preconditions, StoredObject, Transform, UpdateOptions, UpdateResult, WriteScope } from './registry.ts'
import { attributesOf, keyOf, sliceFor, sliceOf, withTurn } from './scope-attributes.ts'
import { toServedVersion, toStoredVersion, whileConverting } from './served-version.ts'
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
  given: WriteScope,
  transform: Transform,
  createMissing: CreateMissing,
  options: UpdateOptions = {},
): Promise<UpdateResult> {
  const turn = withTurn(parts, given)
  const scope = isPending(turn) ? await turn : turn
  return untilSettled(parts, scope, 'UPDATE', (version, deadlineMs) =>
    version
      ? replaceVersion(parts, scope, version, { transform, options, deadlineMs })
      : createMissing(parts, scope, options),
  )
}

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
  return replace(parts, scope, { ...how, current: await toServedVersion(scope.type, version, scope.caller) })
}

/** undefined = lost to another write, which the cache shows. */
async function replace(parts: RegistryParts, given: WriteScope, how: Replacement): Promise<UpdateResult | undefined> {
  const { type, name } = given
  const { current, options } = how
  const strategy = parts.strategyOf(type)
  let slice = sliceOf(given) ?? sliceFor(parts, given, current)
  const scope = slice === sliceOf(given) ? given : { ...given, ownSlice: slice }
  if (slice) await slice.pause()
  const old = slice === undefined ? current.object : await current.read(slice)
  const context: StrategyContext = { subresource: scope.subresource, now: formatTime(parts.clock.now()) }

  if (options.preconditions) checkPreconditions(scope, current, options.preconditions)
  if (slice) await slice.pause()
  const asked = unvalidated(await whileConverting(type, how.transform(old, slice), scope.caller))
  checkIdentity(scope, asked.metadata)
  if (slice) await slice.pause()
  const askedVersion = asked.metadata.resourceVersion ?? ''
  let next = await trackAndMutate(parts, scope, ownHalf(scope, strategy, asked, old), old, {
    now: context.now,
    tracked: options.ownsManagedFields === true,
  })
  // Admission may have made it large.
  slice ??= sliceOf(scope)
  if (slice) await slice.pause()
  checkVersion(scope, strategy, current, askedVersion)

  keepDistinctOwners(next, (text) => scope.warn(text), true)
  next = strategy.prepare?.(next, old, context) ?? next
  if (tracksGeneration(type, strategy) && desiredDiffers(scope, strategy, next, old)) {
    next.metadata.generation = (old.metadata.generation ?? 0) + 1
  }
  const candidate = assumeValid(next)
  if (slice) await slice.pause()
  await requireValid(parts, scope, candidate, old, context)

  const attributes = attributesOf(scope, 'UPDATE', name, candidate, old)
  if (slice) await slice.pause()
  await parts.chain.validate(attributes)
  if (slice) await slice.pause()

  const removed = endsDeletion(strategy, old, candidate)
  const encode = (object: KubeObject): Eventual<Uint8Array | undefined> =>
    andThen(toStoredVersion(object, type, scope.caller), (stored) => encodeUnlessSame(stored, current, slice))
  const keepsOwners = options.ownsManagedFields === true
  const { object: after, bytes } = await encodeWithinLimit(candidate, { encode, keepsOwners, slice })
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
  if (slice) await slice.pause()
  const outcome = scope.dryRun ? await parts.commits.dryRun(write) : await parts.commits.write(write)
  if (!outcome.done) return undefined
  const value = outcome.value ?? kept
  const stored =
    removed || scope.dryRun
      ? storedAs(scope, name, current.revision, value)
      : committedAs(parts, scope, name, outcome.revision, value)
  return { stored, created: false, removed }
}

/** @throws StatusError Invalid, RequestEntityTooLarge */
async function requireValid(
  parts: RegistryParts,
  scope: WriteScope,
  next: KubeObject,
  old: KubeObject,
  context: StrategyContext,
): Promise<void> {
  const { type, name } = scope
  const slice = sliceOf(scope)
  const { strategy, metadata, validateSchema } = parts.rulesOf(type)
  if (slice) refuseGrowth(next, old)
  if (slice) await slice.pause()
  const errors = [...(await runInSlices(judgeMetadataUpdate(next.metadata, old.metadata, metadata), slice))]
  if (slice) await slice.pause()
  if (validateSchema) append(errors, (await validateSchema(next, scope.user.username, { ...scope, old })) ?? [])
  if (slice) await slice.pause()
  append(errors, await runInSlices(strategy.validate?.(next, old, context) ?? [], slice))
  if (errors.length > 0) throw invalid(type, name, errors)
  for (const text of strategy.warnings?.(next) ?? []) scope.warn(text)
  if (type.custom) for (const text of finalizerWarnings(next.metadata, old.metadata)) scope.warn(text)
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
  how: { readonly now: string; readonly tracked: boolean },
): Promise<Unvalidated> {
  const { type, subresource, fieldManager: manager } = scope
  const slice = sliceOf(scope)
  const { now } = how
  let tracked = object
  if (!how.tracked) {
    const next = assumeValid(object)
    tracked = unvalidated(
      await whileConverting(
        type,
        parts.trackUpdate({ type, live: old, next, manager, subresource, now, slice }),
        scope.caller,
      ),
    )
  }
  if (slice) await slice.pause()
  const mutated = await parts.chain.mutate(attributesOf(scope, 'UPDATE', scope.name, tracked, old))
  let next = tracked
  if (mutated !== undefined && mutated !== tracked) {
    if (slice) await slice.pause()
    const defaulted = parts.applyDefaults(type, mutated)
    if (slice) await slice.pause()
    next = keepManagers(scope, ownHalf(scope, parts.strategyOf(type), defaulted, old), tracked)
  }
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
function desiredDiffers(scope: WriteScope, strategy: Strategy, next: Unvalidated, old: KubeObject): boolean {
  const { type, subresource } = scope
  if (subresource === 'status') return false
  const { generationCounts: counted = ({ spec }) => spec } = strategy
  if (!type.custom) return !jsonEqual(counted(next), counted(old))
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
