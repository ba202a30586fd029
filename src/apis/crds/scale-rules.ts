/**
 * What the paths of a scale sub-resource lead to, in an instance. Its schema need not say so, therefore this does.
 * @see k8s.io/apiextensions-apiserver/pkg/registry/customresource/validator.go v0.36
 */
import { append } from '../../base/append.ts'
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { goTypeOf, printGoValue } from '../../kube/go-quote.ts'
import { isExactNumber } from '../../kube/json-value.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type ScaleSubresource, valueAt } from './types.ts'

const maxReplicas = 2 ** 31 - 1

/** Writes of the status are judged by the status alone. */
export function scaleErrors(object: KubeObject, paths: ScaleSubresource, subresource: string): FieldError[] {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = paths
  const errors = subresource === 'status' ? [] : replicasErrors(object, specReplicasPath)
  append(errors, replicasErrors(object, statusReplicasPath))
  const selector = labelSelectorPath ? valueAt(object, labelSelectorPath) : undefined
  if (labelSelectorPath && selector !== undefined && typeof selector !== 'string') {
    errors.push(fieldInvalid(labelSelectorPath, '', accessorFault(labelSelectorPath, selector, 'string')))
  }
  return errors
}

function replicasErrors(object: KubeObject, path: string): FieldError[] {
  const value = valueAt(object, path)
  if (value === undefined) return []
  if (goTypeOf(value) !== 'int64') return [fieldInvalid(path, 0, accessorFault(path, value, 'int64'))]
  // Comparing needs no exactness: what a double can't hold is far beyond both bounds.
  const replicas = Number(isExactNumber(value) ? value.rawJSON : value)
  if (replicas < 0) return [fieldInvalid(path, value, 'should be a non-negative integer')]
  return replicas > maxReplicas ? [fieldInvalid(path, value, `should be less than or equal to ${maxReplicas}`)] : []
}

function accessorFault(path: string, value: unknown, wanted: 'int64' | 'string'): string {
  const type = value === null ? '<nil>' : goTypeOf(value)
  return `${path} accessor error: ${printGoValue(value)} is of the type ${type}, expected ${wanted}`
}
