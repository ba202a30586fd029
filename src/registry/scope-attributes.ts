/** From a write to what admission is asked, to where it is stored, and to the slice in which it is worked on. */
import type { Attributes, Operation } from '../admission/admission.ts'
import { andThen, type Eventual } from '../base/eventual.ts'
import type { Slice } from '../base/turns.ts'
import { objectKey } from '../kube/object-key.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import type { RegistryParts } from './parts.ts'
import type { StoredObject, WriteScope } from './registry.ts'

const optionsOf = (kind: string): Attributes['options'] => ({ kind, apiVersion: 'meta.k8s.io/v1' })

/**
 * Of a request that gives none. Of the operation that is carried out: a patch is an update, or a create where there
 * was nothing.
 */
const bareOptions: Readonly<Record<Operation, Attributes['options']>> = {
  CREATE: optionsOf('CreateOptions'),
  UPDATE: optionsOf('UpdateOptions'),
  DELETE: optionsOf('DeleteOptions'),
  CONNECT: optionsOf('CreateOptions'),
}

const annotateNothing = (): void => {}

const isNamespaces = (type: ResourceType): boolean => type.group === '' && type.resource === 'namespaces'

export function attributesOf<O extends KubeObject | Unvalidated>(
  scope: WriteScope,
  operation: Operation,
  name: string,
  object: O | undefined,
  oldObject: KubeObject | undefined,
): Attributes<O> {
  return {
    operation,
    type: scope.type,
    subresource: scope.subresource,
    namespace: !scope.type.namespaced && isNamespaces(scope.type) ? name : scope.namespace,
    name,
    object,
    oldObject,
    user: scope.user,
    dryRun: scope.dryRun,
    options: scope.options === undefined ? bareOptions[operation] : { ...scope.options, ...bareOptions[operation] },
    ofCollection: scope.ofCollection,
    warn: scope.warn,
    annotate: scope.annotate ?? annotateNothing,
    caller: scope.caller,
    slice: sliceOf(scope),
    deadlineMs: scope.deadlineMs,
    pendingScope: scope.pendingScope,
  }
}

/** The slice in which the work on a write goes on, as it is known by now. */
export const sliceOf = ({ ownSlice, caller }: Pick<WriteScope, 'ownSlice' | 'caller'>): Slice | undefined =>
  ownSlice ?? caller.slice

export const keyOf = (scope: WriteScope, name: string): string =>
  objectKey(scope.type.storageName, scope.namespace, name)

/** A write that begins with an object of more bytes makes pauses, also where its body is small. */
const largeBytes = 64 * 1024

export const isLarge = ({ storedSizeBytes }: Pick<StoredObject, 'storedSizeBytes'>): boolean =>
  storedSizeBytes > largeBytes

/**
 * Before the object is read: where the caller waits for its turn, the object may change meanwhile. The scope has a
 * slice where there is a client, and the object is large.
 */
export function withTurn(parts: Pick<RegistryParts, 'cache'>, scope: WriteScope): Eventual<WriteScope> {
  const { type, namespace, name, caller } = scope
  if (sliceOf(scope) !== undefined || caller.beginLong === undefined) return scope
  const sizeBytes = parts.cache.type(type.storageName).find(namespace, name)?.sizeBytes ?? 0
  const begun = sizeBytes > largeBytes ? caller.beginLong() : undefined
  return begun === undefined ? scope : andThen(begun, (own) => ({ ...scope, ownSlice: own }))
}

export function sliceFor(
  { turns }: Pick<RegistryParts, 'turns'>,
  { type, namespace, name, subresource, user }: WriteScope,
  current: StoredObject,
  verb: 'update' | 'delete' = 'update',
): Slice | undefined {
  if (!isLarge(current)) return undefined
  // Whose work it is, as a request is known.
  return turns.slice({ resolution: { type, verb, namespace, name, subresource }, user })
}
