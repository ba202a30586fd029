/**
 * What a DELETE does to an object, decided from the object alone. Pure: `delete.ts` carries it out.
 *
 *   something but finalizers holds it (namespaces)   first DELETE marks it, later ones change nothing
 *   given time to end (pods)                         marked with a deadline; later DELETEs can only shorten it
 *   finalizers                                       marked, grace 0
 *   nothing                                          removed
 *
 * @see k8s.io/apiserver/pkg/registry/rest/delete.go, pkg/registry/generic/registry/store.go v0.36
 */

import type { Strategy } from '../catalog/strategy.ts'
import { jsonEqual } from '../kube/json-value.ts'
import { increment } from '../kube/metadata.ts'
import { formatTime, parseTime } from '../kube/time.ts'
import type { KubeObject, ObjectMeta } from '../kube/types.ts'
import { isHeld } from './kind-rules.ts'
import type { DeleteOptions } from './registry.ts'

export type DeletionPlan =
  | { readonly action: 'keep' }
  | { readonly action: 'mark'; readonly object: KubeObject }
  /** `object`: as the answer shows it; undefined = as it was stored. */
  | { readonly action: 'remove'; readonly object: KubeObject | undefined }

/** The end of the last year that RFC 3339 has: who gives an object longer to end gives it until then. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59)

const orphan = 'orphan'
const foreground = 'foregroundDeletion'

export function planDeletion(
  object: KubeObject,
  strategy: Strategy,
  options: DeleteOptions,
  nowMs: number,
): DeletionPlan {
  const { deletionTimestamp } = object.metadata
  const held = isHeld(strategy, object)
  if (held && deletionTimestamp) return { action: 'keep' }
  if ((held || strategy.beginDeletion) && !deletionTimestamp) {
    const marked = marking(object, strategy, options)
    const now = formatTime(nowMs)
    marked.metadata.deletionTimestamp = now
    return { action: 'mark', object: strategy.beginDeletion?.(marked, { subresource: '', now }) ?? marked }
  }
  if (strategy.graceful) {
    const plan = planGraceful(object, strategy, options, nowMs)
    if (plan) return plan
  }
  if (finalizersFor(object, strategy, options).length === 0) return { action: 'remove', object: undefined }
  const next = marking(object, strategy, options)
  setDeadline(next.metadata, Math.min(nowMs, parseTime(deletionTimestamp ?? '') ?? nowMs), 0)
  return jsonEqual(next, object) ? { action: 'keep' } : { action: 'mark', object: next }
}

/** undefined = being deleted without a deadline: as if it were not graceful. */
function planGraceful(
  object: KubeObject,
  strategy: Strategy,
  options: DeleteOptions,
  nowMs: number,
): DeletionPlan | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: graceSeconds } = object.metadata
  const asked = options.gracePeriodSeconds
  const requested = asked !== undefined && asked < 0 ? 1 : asked
  let seconds: number
  let fromMs = nowMs
  if (deletionTimestamp) {
    if (graceSeconds === undefined) return undefined
    if (requested === undefined || requested >= graceSeconds) return { action: 'keep' }
    seconds = requested
    fromMs = begunAt(deletionTimestamp, graceSeconds, nowMs)
  } else seconds = strategy.graceful?.graceSeconds(object, requested) ?? 0
  const next = marking(object, strategy, options)
  setDeadline(next.metadata, Math.min(fromMs + seconds * 1000, lastMs), seconds)
  const remove = seconds === 0 && (next.metadata.finalizers ?? []).length === 0
  return { action: remove ? 'remove' : 'mark', object: next }
}

/** When it was first deleted: not known of one whose time to end goes on beyond the last time there is. */
function begunAt(deletionTimestamp: string, graceSeconds: number, nowMs: number): number {
  const deadlineMs = parseTime(deletionTimestamp) ?? lastMs
  return deadlineMs === lastMs ? nowMs : deadlineMs - graceSeconds * 1000
}

/** Sets both fields; the first time it also counts as a change of what is wanted. */
function setDeadline(metadata: ObjectMeta, atMs: number, graceSeconds: number): void {
  if (!metadata.deletionTimestamp && metadata.generation) metadata.generation = increment(metadata.generation)
  metadata.deletionTimestamp = formatTime(atMs)
  metadata.deletionGracePeriodSeconds = graceSeconds
}

/** With the finalizers that the propagation policy asks for. Its metadata is a copy; the rest may be large: shared. */
function marking(object: KubeObject, strategy: Strategy, options: DeleteOptions): KubeObject {
  const next: KubeObject = { ...object, metadata: { ...object.metadata } }
  const finalizers = finalizersFor(object, strategy, options)
  if (finalizers.length > 0) next.metadata.finalizers = finalizers
  else delete next.metadata.finalizers
  return next
}

function finalizersFor(object: KubeObject, strategy: Strategy, options: DeleteOptions): string[] {
  const given = object.metadata.finalizers ?? []
  return strategy.garbageCollected === false ? given : propagationFinalizers(given, strategy, options)
}

/** Options first, then what the object says already, then what is usual for its kind. */
function propagationFinalizers(given: readonly string[], strategy: Strategy, options: DeleteOptions): string[] {
  const policy = policyOf(given, strategy, options)
  const others = given.filter((f) => f !== orphan && f !== foreground)
  if (policy === 'Orphan') return [...others, orphan]
  if (policy === 'Foreground') return [...others, foreground]
  return others
}

function policyOf(given: readonly string[], strategy: Strategy, options: DeleteOptions): string {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? 'Orphan' : 'Background'
  if (options.propagationPolicy) return options.propagationPolicy
  if (given.includes(orphan)) return 'Orphan'
  if (given.includes(foreground)) return 'Foreground'
  return strategy.orphansDependents ? 'Orphan' : 'Background'
}
