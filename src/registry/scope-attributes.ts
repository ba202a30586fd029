/** From a write to what admission is asked, and to where it is stored. */
import type { Attributes, Operation } from '../admission/admission.ts'
import { objectKey } from '../kube/object-key.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import type { WriteScope } from './registry.ts'

const isNamespaces = (type: ResourceType): boolean => type.group === '' && type.resource === 'namespaces'

export function attributesOf(
  scope: WriteScope,
  operation: Operation,
  name: string,
  object: KubeObject | undefined,
  oldObject: KubeObject | undefined,
): Attributes {
  return {
    operation,
    type: scope.type,
    subresource: scope.subresource,
    namespace: isNamespaces(scope.type) ? name : scope.namespace,
    name,
    object,
    oldObject,
    user: scope.user,
    dryRun: scope.dryRun,
    options: scope.options,
    warn: (text) => scope.warn(text),
    annotate: (key, value) => scope.annotate?.(key, value),
    caller: scope.caller,
    deadlineMs: scope.deadlineMs,
  }
}

export const keyOf = (scope: WriteScope, name: string): string =>
  objectKey(scope.type.storageName, scope.namespace, name)
