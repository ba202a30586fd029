/**
 * A create up to its decision: metadata, field ownership, admission, preparation, validation, the bytes. What a client
 * creates (`create.ts`) and what admission adds to it (`create-also.ts`) comes this way.
 */
import type { Attributes } from '../admission/admission.ts'
import { andThen, type Eventual, isPending } from '../base/eventual.ts'
import { runAtOnce, runInSlices } from '../base/resumable.ts'
import { cloneJson } from '../kube/clone-json.ts'
import type { FieldError } from '../kube/field-error.ts'
import { finalizerWarnings, judgeMetadata, keepDistinctOwners } from '../kube/metadata.ts'
import { objectKey } from '../kube/object-key.ts'
import { badRequest, invalid, StatusError } from '../kube/status-error.ts'
import type { KubeObject, ObjectMeta, Unvalidated } from '../kube/types.ts'
import { assumeValid, unvalidated } from '../kube/unvalidated.ts'
import type { OtherWrites, Outcome } from './commits.ts'
import { encodeWithinLimit } from './encode-within-limit.ts'
import { keepManagers } from './keep-managers.ts'
import type { KindRules } from './kind-rules.ts'
import type { ObjectWrite } from './object-write.ts'
import type { RegistryParts } from './parts.ts'
import type { WriteScope } from './registry.ts'
import { attributesOf, sliceOf } from './scope-attributes.ts'
import { encodeForStorage } from './served-version.ts'

const none: readonly FieldError[] = []

/** What a client may not set of a new object. */
const setByServer = [
  'resourceVersion',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
] as const satisfies readonly (keyof ObjectMeta)[]

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

/** What a client creates, and how. */
export interface NewObject {
  readonly scope: WriteScope
  readonly valid: Valid
  readonly how: HowToCreate
}

/** Nothing is missing but the decision. */
export interface PreparedWrite extends ObjectWrite {
  readonly value: Uint8Array
}

/** Not done: the name is taken. */
export type CreateOutcome = Outcome<PreparedWrite>

/** As admission makes it, with what the server gives every object but its name. @throws StatusError */
export async function admitNew(
  parts: RegistryParts,
  scope: WriteScope,
  object: KubeObject | Unvalidated,
  how: Pick<HowToCreate, 'now' | 'tracked'>,
): Promise<Unvalidated> {
  const { type, subresource, fieldManager: manager } = scope
  const slice = sliceOf(scope)
  const { now } = how
  const given = ownCopy(scope, object)
  if (parts.rulesOf(type).dropsNewStatus) delete given['status']
  const next = assumeValid(given)
  const owned = how.tracked
    ? next
    : parts.trackUpdate({ type, live: undefined, next, manager, subresource, now, slice })
  const tracked = unvalidated(isPending(owned) ? await owned : owned)
  if (slice !== undefined) await slice.pause()
  const attributes = attributesOf(scope, 'CREATE', tracked.metadata.name ?? '', tracked, undefined)
  const answer = parts.chain.mutate(attributes)
  const mutated = isPending(answer) ? await answer : answer
  if (slice !== undefined) await slice.pause()
  const admitted =
    mutated === undefined || mutated === tracked ? tracked : await settleMutated(parts, scope, mutated, tracked)
  admitted.metadata.uid = parts.ids.uid()
  admitted.metadata.creationTimestamp = now
  // What the client repeated is gone by now, except from a patch.
  if (admitted.metadata.ownerReferences) keepDistinctOwners(admitted, (text) => scope.warn(text), true)
  return admitted
}

/** Of an object that has its name. @throws StatusError */
export async function validateForCreate(
  parts: RegistryParts,
  scope: WriteScope,
  object: Unvalidated,
  how: HowToCreate,
): Promise<Valid> {
  const { type } = scope
  const slice = sliceOf(scope)
  const rules = parts.rulesOf(type)
  const { strategy } = rules
  const context = { subresource: scope.subresource, now: how.now }
  let next = object
  if (rules.tracksGeneration) next.metadata.generation = 1
  if (rules.dropsNewStatus) next = withNewStatus(rules, next)
  next = strategy.prepare?.(next, undefined, context) ?? next

  const name = next.metadata.name ?? ''
  const candidate = assumeValid(next)
  if (slice !== undefined) await slice.pause()
  const metadataVerdict = judgeMetadata(next.metadata, rules.metadata)
  const wrong = slice === undefined ? runAtOnce(metadataVerdict) : await runInSlices(metadataVerdict, slice)
  if (slice !== undefined) await slice.pause()
  const malformed = rules.validateSchema ? await rules.validateSchema(candidate, scope.user.username) : none
  if (slice !== undefined) await slice.pause()
  const verdict = strategy.validate?.(candidate, undefined, context) ?? none
  const refused = slice === undefined ? runAtOnce(verdict) : await runInSlices(verdict, slice)
  if (wrong.length + malformed.length + refused.length > 0) {
    throw invalid(type, name, [...wrong, ...malformed, ...refused])
  }
  if (strategy.warnings) for (const text of strategy.warnings(candidate)) scope.warn(text)
  if (type.custom) for (const text of finalizerWarnings(next.metadata)) scope.warn(text)

  const attributes = attributesOf(scope, 'CREATE', name, candidate, undefined)
  if (slice !== undefined) await slice.pause()
  const asked = parts.chain.validate(attributes)
  if (isPending(asked)) await asked
  if (how.versioned) refuseVersion(scope)
  return { attributes, object: candidate }
}

/** A promise only where a webhook converts what is stored. @throws StatusError if it is too large */
export function prepareWrite(
  scope: WriteScope,
  { attributes, object }: Valid,
  { deadlineMs, tracked }: HowToCreate,
): Eventual<PreparedWrite> {
  const { type, namespace, caller } = scope
  const slice = sliceOf(scope)
  const encode = (one: KubeObject): Eventual<Uint8Array> => encodeForStorage(one, type, caller, slice)
  const encoded = encodeWithinLimit(object, { encode, keepsOwners: tracked, slice })
  return andThen(encoded, ({ object: after, bytes }) => {
    const { name } = attributes
    return {
      attributes,
      change: { type, namespace, name, before: undefined, after },
      key: objectKey(type.storageName, namespace, name),
      value: bytes,
      expect: 'absent',
      deadlineMs,
    }
  })
}

/** Decides and commits it, with `others` in its transaction. @throws StatusError */
export async function commitNew(
  { commits }: Pick<RegistryParts, 'commits'>,
  { scope, valid, how }: NewObject,
  others?: OtherWrites,
): Promise<CreateOutcome> {
  const slice = sliceOf(scope)
  if (slice !== undefined) await slice.pause()
  const prepared = prepareWrite(scope, valid, how)
  const write = isPending(prepared) ? await prepared : prepared
  if (slice !== undefined) await slice.pause()
  return await (scope.dryRun ? commits.dryRun(write, others) : commits.write(write, others))
}

/** A copy without what a client may not set; the namespace is that of the request. */
function ownCopy(scope: WriteScope, object: KubeObject | Unvalidated): Unvalidated {
  const metadata = { ...object.metadata }
  // Mostly none of them is there, and what a field was deleted from is slow from then on.
  for (const field of setByServer) if (field in metadata) delete metadata[field]
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

/** What admission changes after field ownership was recorded belongs to no manager. */
async function settleMutated(
  parts: RegistryParts,
  scope: WriteScope,
  mutated: Unvalidated,
  tracked: Unvalidated,
): Promise<Unvalidated> {
  // What a client may not set, admission may not set for it.
  if (hasVersion(mutated)) refuseVersion(scope)
  const defaulted = parts.applyDefaults(scope.type, ownCopy(scope, mutated))
  const slice = sliceOf(scope)
  if (slice !== undefined) await slice.pause()
  const settled = keepManagers(scope, defaulted, tracked)
  // The plugin that made the object may still hold its metadata.
  return { ...settled, metadata: { ...settled.metadata } }
}

/** What a client said of the status of a new object is nothing; Go prints the struct all the same. */
function withNewStatus({ newStatus }: KindRules, object: Unvalidated): Unvalidated {
  const { status: _, ...rest } = object
  return newStatus === undefined ? rest : { ...rest, status: cloneJson(newStatus) }
}
