/** Where manifests come from, as the controller sees it. */
import type { Pod } from '../pods/types.ts'
import type { SourceKind } from './manifest.ts'

export interface FoundPod {
  readonly pod: Pod
  /** The file or URL it was found in. */
  readonly from: string
}

export interface Manifests {
  /** All that the source holds now; of what can't be read any more, what it held last. */
  readonly pods: readonly FoundPod[]
  /** What could not be read, one line each. */
  readonly faults: readonly { readonly from: string; readonly problem: string }[]
  /** It has never been read: what it holds is unknown. */
  readonly unread?: boolean
}

export interface ManifestSource {
  readonly kind: SourceKind
  /**
   * Calls back when it has been read for the first time, and after every change, until `signal` aborts. Never rejects.
   */
  run(found: (manifests: Manifests) => void, signal: AbortSignal): Promise<void>
}

export const problemOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
