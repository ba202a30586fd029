import type { EventRecord } from '../events/recorder.ts'
import type { Namespace } from './types.ts'

/**
 * A namespace as the subject of an event that lives inside it, where its users look. An event must live where its
 * subject does, and a subject without a namespace counts as living in `default`; so the namespace is said to be in
 * itself.
 */
export function inItself({ metadata }: Namespace): EventRecord['object'] {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { ...metadata, namespace: metadata.name ?? '' } }
}
