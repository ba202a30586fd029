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
  /** The suites that must find it: paths that vitest takes. They run together. */
  readonly suites: readonly string[]
  /** Of upstream's security advisory with the same fault. */
  readonly advisory?: string
  /** Chosen without knowledge of the tests. */
  readonly isBlind?: boolean
  /** Where one place is not enough. */
  readonly also?: readonly Edit[]
}
