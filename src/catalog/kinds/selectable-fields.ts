/**
 * How kinds declare the fields that field selectors know besides metadata.name and metadata.namespace.
 * @see AddFieldLabelConversionFunc in pkg/apis/<group>/<version>/conversion.go of Kubernetes 1.36
 */
import type { KubeObject } from '../../kube/types.ts'
import type { SelectableField, Strategy } from '../strategy.ts'

/** `a.b` as upstream prints it for selection: absent numbers are 0, absent booleans false. */
export const selectableAt = (path: string, absent = ''): SelectableField => {
  const steps = path.split('.')
  const read = (object: KubeObject): string => {
    let value: unknown = object
    for (const step of steps) {
      value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined
    }
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : absent
  }
  return Object.assign(read, { absent })
}

export const selectableFields = (...paths: readonly string[]): NonNullable<Strategy['selectableFields']> =>
  Object.fromEntries(paths.map((path) => [path, selectableAt(path)]))

export function firstOf(...paths: readonly string[]): SelectableField {
  const fields = paths.map((path) => selectableAt(path))
  const read = (object: KubeObject): string => fields.map((field) => field(object)).find((value) => value !== '') ?? ''
  return Object.assign(read, { absent: '' })
}
