/** What a template says of one of its objects, beside its content. Pure. */
import type { Rendered } from '../../../apis/templates/render.ts'

export function sayingsOf({ cloneFrom, protect, drift, yieldTo = [] }: Rendered['held']): readonly string[] {
  return [
    ...(cloneFrom === undefined
      ? []
      : [`a copy of ${cloneFrom.kind} ${cloneFrom.name} in namespace ${cloneFrom.namespace}`]),
    ...(protect ? ['protected: others may not write it'] : []),
    ...(drift === undefined ? [] : [`drift: ${drift}`]),
    ...(yieldTo.length === 0 ? [] : [`fields that ${yieldTo.join(', ')} set are left to them`]),
  ]
}
