/** Whose turn it is in a namespace. Pure. */
import type { Namespace } from '../apis/namespaces/types.ts'
import type { KubeObject } from '../kube/types.ts'

/** Names one turn of an initializer: the same as long as it lasts. Undefined when it is not its turn. */
export function turnOf(object: KubeObject, initializer: string): string | undefined {
  const { metadata, spec } = object as Namespace
  const { pending = [], result } = spec?.initializers ?? {}
  if (pending[0]?.name !== initializer || result !== undefined || metadata.deletionTimestamp !== undefined) {
    return undefined
  }
  // A list that was written by hand may name one twice.
  return `${metadata.uid} ${pending.length}`
}
