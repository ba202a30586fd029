/** Annotations of a template that stand there and do nothing, for want of the one word that they know. */
import { quote } from '../../kube/go-quote.ts'
import type { KubeObject } from '../../kube/types.ts'
import { applyAnnotation, requirePermissionAnnotation } from './types.ts'

const words = [
  [applyAnnotation, 'disable'],
  [requirePermissionAnnotation, 'true'],
] as const
/** Who writes these means no. */
const plainNo: ReadonlySet<string> = new Set(['', 'false'])

type Annotated = Pick<KubeObject, 'metadata'>

/** Of those that the write brings: who disables a template in an emergency must not take `disabled` for done. */
export function annotationWarnings(next: Annotated, old: Annotated | undefined): string[] {
  return words.flatMap(([key, word]) => {
    const said = next.metadata.annotations?.[key]
    if (said === undefined || said === word || plainNo.has(said) || said === old?.metadata.annotations?.[key]) return []
    return [`annotation ${key} is ${quote(said)}, which does nothing: only ${quote(word)} does`]
  })
}
