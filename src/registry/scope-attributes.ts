/** From a write to what admission is asked, and to where it is stored. */
import type { Attributes, Operation } from '../admission/admission.ts'
import { objectKey } from '../kube/object-key.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import type { WriteScope } from './registry.ts'

/** Of the operation that is carried out: a patch is an update, or a create where there was nothing. */
const optionsKinds: Readonly<Record<Operation, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: 'CreateOptions',
}

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
    options: { ...scope.options, kind: optionsKinds[operation], apiVersion: 'meta.k8s.io/v1' },
    ...(scope.ofCollection === true ? { ofCollection: true } : {}),
    warn: (text) => scope.warn(text),
    annotate: (key, value) => scope.annotate?.(key, value),
    caller: scope.caller,
    deadlineMs: scope.deadlineMs,
    pendingScope: scope.pendingScope,
  }
}

export const keyOf = (scope: WriteScope, name: string): string =>
  objectKey(scope.type.storageName, scope.namespace, name)
