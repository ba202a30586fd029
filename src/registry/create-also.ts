/**
 * A create to which admission adds others (`AdmissionPlugin.createAlso`), as one transaction. Each of them comes the
 * way of a create of its own, as the user whom admission names.
 *
 *   required      one is refused ──▶ the whole is refused
 *   best effort   one is refused, or can't be judged or decided yet ──▶ the object and what is required are created
 *                 without them; the controller that wants them creates them afterwards, and hears why not
 */
import { type AlsoCreate, NeedsStoredScope, type PendingScope } from '../admission/admission.ts'
import { append } from '../base/append.ts'
import type { Eventual } from '../base/eventual.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { findStatusError } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { assumeValid, unvalidated } from '../kube/unvalidated.ts'
import type { ObjectWrite } from './object-write.ts'
import type { RegistryParts } from './parts.ts'
import {
  admitNew,
  type CreateOutcome,
  commitNew,
  type NewObject,
  type PreparedWrite,
  prepareWrite,
  validateForCreate,
} from './prepare-create.ts'
import type { WriteScope } from './registry.ts'
import { sliceOf } from './scope-attributes.ts'

/** @throws StatusError of the object, or of one that is required */
export async function createWithOthers(
  parts: RegistryParts,
  first: NewObject,
  others: readonly AlsoCreate[],
): Promise<CreateOutcome> {
  const required: ObjectWrite[] = []
  let opens: string | undefined
  let tried: BestEffortCreate | undefined
  for (const also of others) {
    opens ??= also.opens
    if (isBestEffort(also)) tried = also
    else append(required, await prepareObjects(parts, first, also))
  }
  if (tried !== undefined && !first.scope.dryRun) {
    const outcome = await tryWith(parts, first, required, tried)
    if (outcome !== undefined) return outcome
  }
  return commitNew(parts, first, required.length === 0 ? undefined : { writes: required, opens })
}

type BestEffortCreate = AlsoCreate & Required<Pick<AlsoCreate, 'bestEffort'>>

const isBestEffort = (also: AlsoCreate): also is BestEffortCreate => also.bestEffort !== undefined

/** undefined = not with these: one was refused, or can't be judged yet. @throws what is no refusal */
async function tryWith(
  parts: RegistryParts,
  { scope, valid, how }: NewObject,
  required: readonly ObjectWrite[],
  also: BestEffortCreate,
): Promise<CreateOutcome | undefined> {
  try {
    await sliceOf(scope)?.pause()
    const write = await prepareUpdated(parts, { scope, valid, how }, also.bestEffort.first)
    const updated = { scope, valid: { ...valid, attributes: write.attributes }, how }
    const objects = await prepareObjects(parts, updated, also)
    const outcome = await parts.commits.tryAll([write, ...required, ...objects], also)
    return outcome?.done ? { ...outcome, value: outcome.value ?? write.value } : outcome
  } catch (error) {
    if (error instanceof NeedsStoredScope || findStatusError(error) !== undefined) return undefined
    throw error
  }
}

/** The first object as an update makes it. */
function prepareUpdated(
  parts: RegistryParts,
  { scope, valid, how }: NewObject,
  next: KubeObject,
): Eventual<PreparedWrite> {
  const context = { subresource: '', now: how.now }
  const prepared = parts.strategyOf(scope.type).prepare?.(unvalidated(next), valid.object, context)
  // It was validated before; what admission makes of it for the sake of the others is the server's own.
  const object = prepared === undefined ? next : assumeValid(prepared)
  return prepareWrite(scope, { attributes: { ...valid.attributes, object }, object }, how)
}

/** One after the other: the first that is refused spares the rest the trouble. */
async function prepareObjects(parts: RegistryParts, first: NewObject, also: AlsoCreate): Promise<ObjectWrite[]> {
  const how = { ...first.how, tracked: true, versioned: false }
  const { object } = first.valid.attributes
  const pendingScope = object && { object, mayWait: also.bestEffort !== undefined }
  const writes: ObjectWrite[] = []
  for (const { type, object: given } of also.objects) {
    const namespace = type.namespaced ? (given.metadata.namespace ?? also.opens ?? '') : ''
    const isInside = namespace !== '' && namespace === also.opens
    const scope = scopeOf(first.scope, also, type, namespace, isInside ? pendingScope : undefined)
    const valid = await validateForCreate(parts, scope, await admitNew(parts, scope, given, how), how)
    writes.push(await prepareWrite(scope, valid, how))
  }
  return writes
}

/** Warnings have no reader: the client did not write these objects. */
const scopeOf = (
  { caller, deadlineMs, dryRun }: WriteScope,
  { user, fieldManager }: Pick<AlsoCreate, 'user' | 'fieldManager'>,
  type: ResourceType,
  namespace: string,
  pendingScope: PendingScope | undefined,
): WriteScope => ({
  type,
  namespace,
  name: '',
  subresource: '',
  user,
  dryRun,
  fieldManager,
  options: { fieldManager },
  warn: () => {},
  caller,
  ...(deadlineMs === undefined ? {} : { deadlineMs }),
  ...(pendingScope === undefined ? {} : { pendingScope }),
})
