/**
 * What differs by kind. Everything else (naming, versions, finalizers, dry-run, conflicts) is the registry's.
 */
import { isResumable, type MaybeResumable, type Resumable, resumed } from '../base/resumable.ts'
import type { FieldError } from '../kube/field-error.ts'
import type { NameRule } from '../kube/names.ts'
import type { KubeObject, ObjectMeta, Unvalidated } from '../kube/types.ts'

/** What is wrong with an object. To judge a large one may take long: then it is worked out in slices. */
export type Verdict = MaybeResumable<readonly FieldError[]>

export interface StrategyContext {
  /** '' for the main resource. */
  readonly subresource: string
  /** RFC 3339, seconds. */
  readonly now: string
}

export interface Strategy {
  /**
   * Called with a private copy: fields the client may not set are reset here (from `old` on update), defaults that
   * depend on other fields are filled.
   */
  prepare?(next: Unvalidated, old: KubeObject | undefined, context: StrategyContext): Unvalidated
  /**
   * Beyond schema and metadata, which are checked for every kind and reported together with this.
   *
   * It may rely on what the decoder has made sure of: a field of `next` that is there has the type of its schema. It
   * may not rely on a field being there, whatever the TypeScript type says: required fields are read with a default,
   * or through the checked readers of `kinds/report.ts`. `old` is a stored object, so it was valid once. Where neither
   * schema, metadata nor this report an error, `Unvalidated` ends and `next` is an object of its kind.
   */
  validate?(next: KubeObject, old: KubeObject | undefined, context: StrategyContext): Verdict
  warnings?(next: KubeObject): readonly string[]
  /** Types that are given time to end (pods). Absent: DELETE removes as soon as nothing holds the object. */
  readonly graceful?: GracefulDeletion
  /**
   * Applied in the commit that sets deletionTimestamp (namespaces become Terminating). If nothing holds the marked
   * object afterwards (asked again, from a cache that shows the mark), the same DELETE removes it in a second commit.
   */
  beginDeletion?(object: KubeObject, context: StrategyContext): KubeObject
  /**
   * What keeps an object with a deletionTimestamp in the store besides metadata.finalizers; empty lets it go.
   * While something does, repeated DELETEs change nothing.
   */
  heldBy?(object: KubeObject): readonly string[]
  /** False = propagation policies mean nothing for it (events). Default true. */
  readonly garbageCollected?: boolean
  /** True = a DELETE that says nothing leaves the dependents behind. Default: they go in the background. */
  readonly orphansDependents?: boolean
  /** Words failed DELETE preconditions as upstream does for namespaces. */
  readonly storageWordedPreconditions?: boolean
  /** Name rule; default: DNS-1123 subdomain. */
  readonly validateName?: NameRule
  /** True = finalizers need no domain, as those of custom resources. Default: they do. */
  readonly plainFinalizers?: boolean
  /** False = an update must carry a resourceVersion. Default true. */
  readonly unconditionalUpdate?: boolean
  /** True = PUT creates what is missing (leases, events, ...). */
  readonly createOnUpdate?: boolean
  /** Each is removed in a transaction of its own, also from a collection. */
  readonly removedAlone?: boolean
  /** DELETE answers with the object instead of a Status. */
  readonly returnsDeleted?: boolean
  /**
   * Of types with a `status` sub-resource. True = the client that creates the object sets its first status too, as a
   * kubelet does that of its node. Default: the status of a create is dropped.
   */
  readonly keepsNewStatus?: boolean
  /** By sub-resource: metadata that its writes leave as it was. Default: none of it. */
  readonly keptMetadata?: Readonly<Record<string, readonly (keyof ObjectMeta)[]>>
  /**
   * metadata.generation: 1 on create, +1 when spec changes. Default true for types with a spec, false for namespaces.
   */
  readonly tracksGeneration?: boolean
  /** Of a built-in type: what generation counts, where it is not the spec alone. */
  readonly generationCounts?: (object: KubeObject | Unvalidated) => unknown
  /** Selectable fields beyond metadata.name and metadata.namespace: label → value. */
  readonly selectableFields?: Readonly<Record<string, SelectableField>>
}

export type SelectableField = ((object: KubeObject) => string) & {
  /**
   * What it answers of an object that does not have the field: any other answer stands in the object as it is. Absent:
   * no such promise.
   */
  readonly absent?: string
}

export interface GracefulDeletion {
  /** Seconds until it may be removed; 0 = now. `requested` is never negative. */
  graceSeconds(object: KubeObject, requested: number | undefined): number
}

/**
 * The strategy of a built-in kind with what a feature adds. Both prepare, the kind first; the errors of both count; of
 * everything else, what the feature says replaces what the kind says.
 */
export function extendStrategy(kind: Strategy, added: Strategy): Strategy {
  return {
    ...kind,
    ...added,
    ...oneAfterTheOther(kind.prepare, added.prepare),
    ...bothErrors(kind.validate, added.validate),
  }
}

function* bothInSteps(a: Verdict, b: Verdict): Resumable<readonly FieldError[]> {
  return [...(yield* resumed(a)), ...(yield* resumed(b))]
}

function oneAfterTheOther(first: Strategy['prepare'], second: Strategy['prepare']): Pick<Strategy, 'prepare'> {
  if (first === undefined || second === undefined) return {}
  return { prepare: (next, old, context) => second(first(next, old, context), old, context) }
}

function bothErrors(first: Strategy['validate'], second: Strategy['validate']): Pick<Strategy, 'validate'> {
  if (first === undefined || second === undefined) return {}
  return {
    validate(next, old, context) {
      const [a, b] = [first(next, old, context), second(next, old, context)]
      return isResumable(a) || isResumable(b) ? bothInSteps(a, b) : [...a, ...b]
    },
  }
}
