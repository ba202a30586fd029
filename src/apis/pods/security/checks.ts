/** What a check is. Those of each level stand in a table of their own. */
import type { JudgedPod } from './judged-pod.ts'

/** What a pod does that it must not. */
export interface Finding {
  /** A few words, always told. */
  readonly reason: string
  /** Where it does so; told of a single pod. */
  readonly detail: string
}

/** Pure. Undefined if there is nothing to find. */
export type Find = (pod: JudgedPod) => Finding | undefined

export interface Check {
  /** Upstream's name of it. */
  readonly name: string
  /** The check of the level below that has nothing to add where this one holds. */
  readonly replaces?: string
  /** From which minor version on each is asked, ascending: the last that has begun is. */
  readonly since: readonly (readonly [minor: number, find: Find])[]
}
