/** Faults to be planted, one at a time, to see whether a suite finds them. The key is text: line numbers go stale. */
export interface Edit {
  /** From the root of the repository. */
  readonly file: string
  /** Must be there exactly once. */
  readonly find: string
  readonly replace: string
}

export interface Plant extends Edit {
  /** What the server does wrong with it, in a few words: the row's name in the table. */
  readonly why: string
  /** The suite that must find it: a path that vitest takes. */
  readonly suite: string
  /** Where one place is not enough. */
  readonly also?: readonly Edit[]
}
