/** What every operation of the registry works with. Given once, by `app/wire.ts`. */
import type { Accountant, AdmissionPlugin } from '../admission/admission.ts'
import type { Clock } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Slice, Turns } from '../base/turns.ts'
import type { Strategy } from '../catalog/strategy.ts'
import type { ResourceType, ResourceTypes } from '../kube/resource-type.ts'
import type { KubeObject, Unvalidated } from '../kube/types.ts'
import type { Storage } from '../storage/storage.ts'
import type { WatchCache } from '../watch/watch-cache.ts'
import type { SessionLimits } from '../watch/watch-session.ts'
import type { AdmissionChain } from './admission-chain.ts'
import type { Commits } from './commits.ts'
import type { FoldedCommits } from './folded-commits.ts'
import type { KindRules } from './kind-rules.ts'
import type { Projections } from './registry.ts'
import type { WatchPermits } from './watch-permits.ts'

export interface TrackedWrite {
  readonly type: ResourceType
  /** undefined on create. */
  readonly live: KubeObject | undefined
  readonly next: KubeObject
  readonly manager: string
  readonly subresource: string
  /** RFC 3339, seconds. */
  readonly now: string
  /** Where the object is large: to be asked between two passes over it. */
  readonly slice?: Slice | undefined
}

export interface RegistryDeps {
  readonly storage: Storage
  /** Started on the same storage. */
  readonly cache: WatchCache
  readonly types: ResourceTypes
  readonly clock: Clock
  /** What passes over many objects does so in slices. */
  readonly turns: Turns
  readonly ids: Ids
  strategyOf(type: ResourceType): Strategy
  /** Defaults of the schema and of the kind, idempotent. Needed here only after admission changed an object. */
  applyDefaults(type: ResourceType, object: KubeObject | Unvalidated): Unvalidated
  rulesOf(type: ResourceType): KindRules
  /** Answers `next` with its managedFields as they must be stored; later, where another version must be asked for. */
  trackUpdate(write: TrackedWrite): KubeObject | Promise<KubeObject>
  /** In the order of `admission/admission-order.ts`. */
  readonly admission: readonly AdmissionPlugin[]
  /** Each answers for kinds of its own, or never completes the object. */
  readonly accountants?: readonly Accountant[]
  /**
   * Of types whose objects show what is kept elsewhere: stores what they have to show now. Asked before each get and
   * each list of the most recent; '' = of all objects.
   */
  readonly beforeRead?: ReadonlyMap<ResourceType, (name: string) => Promise<void>>
  /** Types whose objects are made, when they are read, from those of another type. */
  readonly projections?: Projections
  /** Where other processes write to the store as well. */
  readonly folded?: FoldedCommits | undefined
  /** How long a write may try again after lost races. Default 10 s, as upstream. */
  readonly giveUpAfterMs?: number
  readonly watchLimits?: SessionLimits
  /** Told of new namespaces by whom it comes from. */
  readonly watchPermits?: WatchPermits
}

export interface RegistryParts extends RegistryDeps {
  readonly chain: AdmissionChain
  readonly commits: Commits
  readonly giveUpAfterMs: number
}
