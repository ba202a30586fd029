/**
 * What one caller may see of a cluster-scoped type, name by name, and how that changes: the words in which
 * authorization tells watches. Everything is synchronous, and as of the change that is being applied.
 */

/** At `revision` a name came into view or went out of it. */
export interface ViewChange {
  /** Of the change of rights. */
  readonly revision: number
  /** '' = every name. */
  readonly name: string
  readonly gained: boolean
}

/** As told while it happens. */
export interface LiveViewChange extends ViewChange {
  /** For a change of every name: false for those that stay as they are, being seen by their own name as well. */
  concerns(name: string): boolean
}

export interface ViewListener {
  changed(change: LiveViewChange): void
  /** All changes of this revision were told. */
  settled(revision: number): void
}

export interface PastView {
  /** As of that revision. */
  sees(name: string): boolean
  /** What changed since, in order; never of every name. */
  readonly changes: readonly ViewChange[]
}

export interface NameView {
  sees(name: string): boolean
  /** All names in view, in no order, whether or not such objects exist; undefined = every name. */
  names(): readonly string[] | undefined
  /** undefined = not remembered so far back, or every name came or went since. */
  past(revision: number): PastView | undefined
  /** Returns how to stop. */
  follow(listener: ViewListener): () => void
}
