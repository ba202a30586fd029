/**
 * What is there of what templates made, as the population controller asks for it. Two answer: `PopulatedIndex` from
 * watches, against any cluster, and `StoredIndex` from the store of this process.
 */
import type { ServedKind } from '../../client/client.ts'
import { apiVersionOf, type GroupVersionResource } from '../../kube/gvk.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { AppliedObject, RecordListener } from './applied-records.ts'
import type { Holdings } from './holdings.ts'

/** One object with a template label, as it is now. */
export interface PopulatedObject {
  readonly resource: GroupVersionResource
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** resourceVersion as last seen or written. */
  readonly revision: string
  /** As its label says. */
  readonly template: string
  /** See `isMarked` in `marks.ts`. */
  readonly isMarked: boolean
  /** See `contentDigest`. */
  readonly digest: string
  /** For plans: the same without the texts that are its namespace's own (`place-texts.ts`), where they are in it. */
  readonly unplaced?: { readonly digest: string; readonly marks: readonly number[] }
  /** What we applied last (`Rendered.config`), if nothing changed since. */
  readonly applied?: string
  /** The same, as the object itself tells it: see `held-config.ts`. Only of what the record does not tell. */
  readonly held?: string
  /** It holds more than was applied, and what; only as long as it says the same. */
  readonly extended?: string
}

/** Ends the time in which changes of one object are not listened to. `applied`: what the server answered. */
export type Written = (written?: {
  readonly object: KubeObject
  readonly config: string
  readonly extended?: string | undefined
}) => void

/** Objects of one namespace that are marked as a template's. */
export interface MarkedObjects {
  readonly namespace: string
  readonly objects: readonly AppliedObject[]
}

/** What an index of populated objects tells of. */
export interface PopulatedChanges {
  /** A writer other than us changed or removed a populated object. */
  readonly onDrift: (namespace: string) => void
  /** One appeared that is as the record says: it was created with its namespace. */
  readonly onRecorded: (namespace: string) => void
  /** A template holds nothing any more in a namespace where it did. */
  readonly onLeft: (template: string) => void
}

export interface PopulatedObjects {
  /** Of what is ours. */
  readonly holdings: Holdings
  /** A record is told: at the start each that exists, then each change. */
  readonly recorded: RecordListener
  /** Each record that existed at the start has been told. */
  recordsRead(): void
  /** While the controller runs. */
  run(signal: AbortSignal): Promise<void>
  /**
   * From now on changes of this kind are noticed. Resolves with true when what exists of it is known, with false when
   * the server refuses to say (no right to read it, an API that is gone or down): that must not keep other kinds
   * waiting. Ask again then.
   */
  watchKind(kind: ServedKind, signal: AbortSignal): Promise<boolean>
  find(resource: GroupVersionResource, namespace: string, name: string): PopulatedObject | undefined
  /** What is ours in a namespace: it is there or not, changed or not. */
  claimsIn(namespace: string): readonly AppliedObject[]
  /** Everything that is marked as ours, of these kinds (`v1/ConfigMap`). */
  marked(kinds: ReadonlySet<string>): AsyncIterable<MarkedObjects>
  /** What carries the label there, or is recorded. */
  livesIn(namespace: string): Iterable<PopulatedObject>
  /** Of something there only the object itself tells what was applied. */
  mustAsk(namespace: string): boolean
  /**
   * We are about to write it: until the answer is in hand, our change can't be told from another client's. Call what
   * comes back exactly once.
   */
  writing(kind: ServedKind, namespace: string, name: string): Written
  /** Applying `config` would change nothing. */
  upToDate(object: PopulatedObject, config: string): void
}

/** What the marks of an object claim, if it has them. */
export function believed(object: PopulatedObject): AppliedObject[] {
  const { isMarked, resource, kind, name, uid, template, digest } = object
  if (!isMarked) return []
  const apiVersion = apiVersionOf(resource)
  return [{ apiVersion, kind, name, uid, template, generation: 0, digest: '', content: digest }]
}

export const objectPlace = ({ group, resource }: GroupVersionResource, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`
