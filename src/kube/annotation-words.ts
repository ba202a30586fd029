/** Annotations that stand there and do nothing, for want of the one word that they know. */
import { quote } from './go-quote.ts'
import type { KubeObject } from './types.ts'

/** Who writes these means no. */
const plainNo: ReadonlySet<string> = new Set(['', 'false'])

type Annotated = Pick<KubeObject, 'metadata'>

/**
 * Of those that the write brings: who disables a template in an emergency must not take `disabled` for done.
 * @param words each key with the word that it knows
 */
export function wordWarnings(
  words: readonly (readonly [key: string, word: string])[],
  next: Annotated,
  old: Annotated | undefined,
): string[] {
  return words.flatMap(([key, word]) => {
    const said = next.metadata.annotations?.[key]
    if (said === undefined || said === word || plainNo.has(said) || said === old?.metadata.annotations?.[key]) return []
    return [`annotation ${key} is ${quote(said)}, which does nothing: only ${quote(word)} does`]
  })
}
