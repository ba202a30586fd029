export interface SeedOptions {
  readonly seed: number
  /** Numbers of faults that are left out. */
  readonly without?: readonly number[]
  readonly keepsTrace?: boolean
}

export interface Outcome {
  readonly seed: number
  /** Of the trace, line for line. */
  readonly hash: string
  readonly trace: readonly string[]
  readonly steps: number
  readonly operations: number
  readonly faults: readonly string[]
  /** Those that were left out. */
  readonly without: readonly number[]
  /** Empty: all is as it should be. */
  readonly problems: readonly string[]
}
