/**
 * The applied record: what templates made in a namespace, kept where the tenants of the namespace can't write. It alone
 * says what is a template's: the controller corrects, prunes and counts an object because it is recorded, whatever its
 * label and its managedFields say, and never touches an object that is not recorded for the sake of a label.
 *
 * A recorded object has a claim on its place (kind and name). If a tenant deletes it and creates another one there
 * before the controller looks, that counts as a change: the controller applies the template's object to that place
 * again. It deletes only an object with the recorded uid.
 */
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { identityOf } from './render.ts'

export interface AppliedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** '' = recorded ahead of its apply: it may be there or not, and is ours only if it is marked as ours too. */
  readonly uid: string
  readonly template: string
  /** Of the template, when it was applied last. */
  readonly generation: number
  /** Of what was applied: `Rendered.config`. */
  readonly digest: string
  /** Of what the apply left there: `contentDigest`. '' = not as it should be: it is looked at by each new process. */
  readonly content: string
}

/** `rbac.authorization.k8s.io/Role/admin`, as `identityOf` says it of what is wanted. */
export const identityOfApplied = ({ apiVersion, kind, name }: AppliedObject): string =>
  identityOf({ apiVersion, kind, metadata: { name } })

export interface RecordChange {
  readonly applied: readonly AppliedObject[]
  /** Identities of what is gone, or let go. */
  readonly released: readonly string[]
}

/** Which record was told. */
export interface RecordVersion {
  /** Of the namespace that it is about. */
  readonly namespaceUid: string
  /** Of its change; 0 where that is not known. */
  readonly revision: number
  /** It existed before. */
  readonly isFirst: boolean
}

export type RecordListener = (
  namespace: string,
  next: readonly AppliedObject[],
  old: readonly AppliedObject[],
  record: RecordVersion,
) => void

/**
 * Where records are kept. One process at a time writes them by `announce`, `settle` and `release`: the one that runs
 * the population controller.
 */
export interface AppliedRecords {
  /**
   * Tells every record, then each change, until `signal` aborts. Resolves when all records are known; nothing else may
   * be asked before.
   */
  follow(told: RecordListener, signal: AbortSignal): Promise<void>
  of(namespace: string): readonly AppliedObject[]
  /**
   * Before the applies of one pass: what they will make. Afterwards no apply can succeed without a trace in the record,
   * whatever happens to this process.
   */
  announce(namespace: Namespace, objects: readonly AppliedObject[], signal: AbortSignal): Promise<void>
  /** After the pass, whatever came of it. */
  settle(namespace: Namespace, change: RecordChange, signal: AbortSignal): Promise<void>
  /** The namespace of this uid is gone. */
  release(namespace: string, uid: string, signal: AbortSignal): Promise<void>
  /** False where templates were applied before there were records: what is marked as ours is to be recorded once. */
  readonly isComplete: boolean
  complete(signal: AbortSignal): Promise<void>
}

/** What the record says afterwards; undefined = the same. `withContent`: another content alone is worth a write. */
export function changedRecord(
  objects: readonly AppliedObject[],
  { applied, released }: RecordChange,
  withContent = false,
): readonly AppliedObject[] | undefined {
  const next = new Map(objects.map((o) => [identityOfApplied(o), o]))
  let isChanged = false
  for (const identity of released) isChanged = next.delete(identity) || isChanged
  for (const object of applied) {
    const identity = identityOfApplied(object)
    const old = next.get(identity)
    const isSame = old?.uid === object.uid && old.template === object.template && old.digest === object.digest
    // Whether it is as it should be is always told.
    const isSameContent = withContent
      ? old?.content === object.content
      : (old?.content === '') === (object.content === '')
    if (isSame && isSameContent) continue
    next.set(identity, object)
    isChanged = true
  }
  return isChanged ? [...next.values()] : undefined
}

/** Of those that are to be applied: what must be recorded ahead. */
export function selectUnclaimed(
  objects: readonly AppliedObject[],
  recorded: readonly AppliedObject[],
): readonly AppliedObject[] {
  const known = new Set(recorded.map(identityOfApplied))
  return objects.filter((o) => !known.has(identityOfApplied(o)))
}

export const isFound = ({ uid }: AppliedObject, { metadata }: KubeObject): boolean => uid !== '' && uid === metadata.uid
