/** Classes of one kind, as admission sees them. */
import type { Eventual } from '../../base/eventual.ts'
import type { KubeObject } from '../../kube/types.ts'

export interface ClassLookup {
  /** Shared: never change it. */
  find(name: string): KubeObject | undefined
  /** By name. */
  all(): readonly KubeObject[]
  /** Sees everything acknowledged anywhere before the call. */
  refresh(): Promise<void>
}

/** That there is none is believed only from a cache that has caught up with the request. */
export function findClass(classes: ClassLookup, name: string): Eventual<KubeObject | undefined> {
  return classes.find(name) ?? classes.refresh().then(() => classes.find(name))
}
