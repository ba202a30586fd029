/**
 * Delete, of one object and of a collection.
 *
 *   read → preconditions → admission → plan → decide and commit → (again: marked objects that nothing holds go at once)
 */

import { isPending } from '../base/eventual.ts'
import type { Strategy } from '../catalog/strategy.ts'
import { type FieldError, fieldInvalid } from '../kube/field-error.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { StatusError } from '../kube/status-error.ts'
import { conflict, invalidOptions, isNotFound, notFound } from '../kube/status-error.ts'
import { type DeletionPlan, planDeletion } from './deletion-plan.ts'
import { isHeld } from './kind-rules.ts'
import { listObjects } from './list.ts'
import type { ObjectWrite } from './object-write.ts'
import type { RegistryParts } from './parts.ts'
import type {
  DeleteOptions,
  DeleteResult,
  ListPage,
  ListQuery,
  Preconditions,
  StoredObject,
  WriteScope,
} from './registry.ts'
import { attributesOf, isLarge, keyOf, sliceFor, sliceOf, withTurn } from './scope-attributes.ts'
import { encodeForStorage, toServedVersion } from './served-version.ts'
import { untilSettled } from './until-settled.ts'
import { storedAs, storedBytesOf } from './written-version.ts'

/**
 * Objects of a collection that go in one transaction: it holds a hundred operations, and accounts are charged in it.
 */
const togetherAtMost = 50
/** And their bytes, as stored: what is large is parsed, judged and copied by itself. One object may have more. */
const togetherAtMostBytes = 256 * 1024
/** Such groups under way at once: enough for the store to be busy, little enough to be fair. */
const groupsAtOnce = 3

const policies = ['Foreground', 'Background', 'Orphan', 'nil']

/** @throws StatusError */
function checkDeleteOptions(options: DeleteOptions): void {
  const { propagationPolicy: policy, orphanDependents } = options
  const errors: FieldError[] = []
  if (policy !== undefined && orphanDependents !== undefined) {
    errors.push(
      fieldInvalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    )
  } else if (policy !== undefined && (policy === 'nil' || !policies.includes(policy))) {
    errors.push({
      type: 'FieldValueNotSupported',
      field: 'propagationPolicy',
      body:
        `Unsupported value: ${JSON.stringify(policy)}: supported values: ` +
        `${policies.map((p) => `"${p}"`).join(', ')}`,
    })
  }
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors)
}

export async function deleteObject(
  parts: RegistryParts,
  given: WriteScope,
  options: DeleteOptions,
): Promise<DeleteResult> {
  checkDeleteOptions(options)
  const turn = withTurn(parts, given)
  const scope = isPending(turn) ? await turn : turn
  const { type, name } = scope
  return untilSettled(parts, scope, 'DELETE', async (version, deadlineMs) => {
    if (!version) throw notFound(type, name)
    return deleteVersion(parts, scope, options, await toServedVersion(type, version, scope.caller), deadlineMs)
  })
}

/** undefined = look at it again: another request changed it, or this call marked it and now nothing holds it. */
async function deleteVersion(
  parts: RegistryParts,
  given: WriteScope,
  options: DeleteOptions,
  current: StoredObject,
  deadlineMs: number,
): Promise<DeleteResult | undefined> {
  const { type, name, namespace } = given
  const slice = sliceOf(given) ?? sliceFor(parts, given, current, 'delete')
  const scope = slice === sliceOf(given) ? given : { ...given, ownSlice: slice }
  const strategy = parts.strategyOf(type)
  const before = slice === undefined ? current.object : await current.read(slice)
  await slice?.pause()
  if (options.preconditions) checkPreconditions(type, strategy, current, options.preconditions)
  const attributes = attributesOf<never>(scope, 'DELETE', name, undefined, before)
  if (!options.isAdmitted) {
    await parts.chain.mutate(attributes)
    await parts.chain.validate(attributes)
  }

  const { uid } = before.metadata
  const plan = planDeletion(before, strategy, options, parts.clock.now())
  if (plan.action === 'keep') return { stored: current, removed: false, uid }
  const after = plan.action === 'mark' ? plan.object : undefined
  await slice?.pause()
  const bytes = plan.object ? await encodeForStorage(plan.object, type, scope.caller, slice) : storedBytesOf(current)
  const write = {
    attributes,
    change: { type, namespace, name, before, after },
    key: keyOf(scope, name),
    value: after && bytes,
    expect: current.revision,
    deadlineMs,
  }
  await slice?.pause()
  const outcome = scope.dryRun ? await parts.commits.dryRun(write) : await parts.commits.write(write)
  if (!outcome.done) return undefined
  await slice?.pause()
  if (goesNow(plan, strategy) && !scope.dryRun) return undefined
  const revision = scope.dryRun ? current.revision : outcome.revision
  return { stored: storedAs(scope, name, revision, bytes), removed: plan.action === 'remove', uid }
}

/** Marked, so nothing can get in any more: if nothing is left that holds it, the same request removes it. */
function goesNow(plan: DeletionPlan, strategy: Strategy): boolean {
  if (plan.action !== 'mark' || !strategy.beginDeletion) return false
  return (plan.object.metadata.finalizers ?? []).length === 0 && !isHeld(strategy, plan.object)
}

function checkPreconditions(
  type: ResourceType,
  strategy: Strategy,
  current: StoredObject,
  preconditions: Preconditions,
): void {
  const { uid, resourceVersion } = preconditions
  const storedUid = current.object.metadata.uid ?? ''
  const storedVersion = String(current.revision)
  const refuse = (ours: string, generic: string): StatusError =>
    strategy.storageWordedPreconditions
      ? conflict(type, current.name, `Precondition failed: ${ours}`)
      : conflict({ group: type.group, resource: type.kind }, current.name, generic)
  if (uid !== undefined && uid !== storedUid) {
    throw refuse(
      `UID in precondition: ${uid}, UID in object meta: ${storedUid}`,
      `the UID in the precondition (${uid}) does not match the UID in record (${storedUid}). The object ` +
        'might have been deleted and then recreated',
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== storedVersion) {
    throw refuse(
      `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${storedVersion}`,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in ` +
        `record (${storedVersion}). The object might have been modified`,
    )
  }
}

/** Admission is asked about each object. Those that vanish meanwhile are no error. */
export async function deleteCollection(
  parts: RegistryParts,
  scope: WriteScope,
  query: ListQuery,
  options: DeleteOptions,
): Promise<ListPage> {
  checkDeleteOptions(options)
  const page = await listObjects(parts, scope.type, query)
  // One for all of them: however many are under way, they take one piece of each turn.
  const long = page.items.some(isLarge) ? scope.caller.beginLong?.() : undefined
  const slice = (isPending(long) ? await long : long) ?? query.slice ?? parts.turns.slice()
  await deleteAll(groupsOf(page.items), groupsAtOnce, async (group) => {
    const pause = slice.pause()
    if (pause) await pause
    await deleteGroup(parts, group.some(isLarge) ? { ...scope, ownSlice: slice } : scope, group, options)
    // Where nothing is waited for (a dry run), all groups would be one piece of work.
    await slice.pause()
  })
  return page
}

function groupsOf(items: readonly StoredObject[]): readonly (readonly StoredObject[])[] {
  const groups: StoredObject[][] = []
  let group: StoredObject[] = []
  let bytes = 0
  for (const item of items) {
    const sizeBytes = item.storedSizeBytes
    if (group.length === togetherAtMost || (group.length > 0 && bytes + sizeBytes > togetherAtMostBytes)) {
      groups.push(group)
      group = []
      bytes = 0
    }
    group.push(item)
    bytes += sizeBytes
  }
  if (group.length > 0) groups.push(group)
  return groups
}

/** What can simply go goes together; the rest, and what turned out not to be so simple, one by one. */
async function deleteGroup(
  parts: RegistryParts,
  scope: WriteScope,
  group: readonly StoredObject[],
  options: DeleteOptions,
): Promise<void> {
  const scopeOf = (item: StoredObject): WriteScope => ({
    ...scope,
    namespace: item.namespace,
    name: item.name,
    ofCollection: true,
  })
  const deleteOne = async (item: StoredObject): Promise<void> => {
    try {
      await deleteObject(parts, scopeOf(item), options)
    } catch (e) {
      if (!isNotFound(e)) throw e
    }
  }
  const faults: unknown[] = []
  const prepared = await Promise.all(
    group.map(async (item) => {
      try {
        return { item, write: await removalOf(parts, scopeOf(item), options, item) }
      } catch (e) {
        // Who is refused stays; it must not keep the others.
        faults.push(e)
        return undefined
      }
    }),
  )
  const admitted = prepared.filter((p) => p !== undefined)
  const together = admitted.flatMap(({ item, write }) => (write ? [{ item, write }] : []))
  if (together.length > 0 && (await parts.commits.tryAll(together.map((t) => t.write)))?.done !== true) {
    // Admission was asked already: only of an object that has changed it is asked again.
    await deleteAll(together, togetherAtMost, async ({ item, write }) => {
      const outcome = await parts.commits.write(write)
      if (!outcome.done) await deleteOne(item)
    })
  }
  const rest = admitted.filter(({ write }) => write === undefined)
  await deleteAll(rest, togetherAtMost, ({ item }) => deleteOne(item))
  if (faults.length > 0) throw faults[0]
}

/** The write that removes the object as it was listed, admitted; undefined = there is more to it than that. */
async function removalOf(
  parts: RegistryParts,
  scope: WriteScope,
  options: DeleteOptions,
  item: StoredObject,
): Promise<ObjectWrite | undefined> {
  const { type, namespace, name } = scope
  const strategy = parts.strategyOf(type)
  if (scope.dryRun || options.preconditions || strategy.removedAlone) return undefined
  const slice = sliceOf(scope)
  const before = slice === undefined ? item.object : await item.read(slice)
  await slice?.pause()
  if (planDeletion(before, strategy, options, parts.clock.now()).action !== 'remove') return undefined
  const attributes = attributesOf<never>(scope, 'DELETE', name, undefined, before)
  await parts.chain.mutate(attributes)
  await parts.chain.validate(attributes)
  return {
    attributes,
    change: { type, namespace, name, before, after: undefined },
    key: keyOf(scope, name),
    value: undefined,
    expect: item.revision,
    deadlineMs: parts.clock.monotonic() + parts.giveUpAfterMs,
  }
}

/** Some at a time; stops taking new ones at the first error, and throws it when those under way are through. */
async function deleteAll<T>(items: readonly T[], width: number, deleteOne: (item: T) => Promise<void>): Promise<void> {
  const faults: unknown[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (faults.length === 0) {
      const item = items[next++]
      if (!item) return
      try {
        await deleteOne(item)
      } catch (e) {
        faults.push(e)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work))
  if (faults.length > 0) throw faults[0]
}
