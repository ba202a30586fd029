/** What is said of a namespace that is not ready or not gone, for people and for programs. */
import type { LeftContent } from './remaining-content.ts'
import type { NamespacePhase } from './types.ts'

export interface Help {
  readonly command: string
  /** What it does, or when to use it. */
  readonly effect: string
}

/** One thing that must happen. */
export interface Obstacle {
  readonly what: string
  /** Who must act. */
  readonly who: string
  /** RFC 3339 */
  readonly since?: string
  /** RFC 3339: when it ends by itself. */
  readonly until?: string
  /** What who must act says of how far it is. */
  readonly progress?: string
  readonly helps: readonly Help[]
}

export interface Explanation {
  readonly namespace: string
  readonly state: NamespacePhase
  /** RFC 3339: when this state began. */
  readonly since?: string
  /** True = not ready, or not gone. */
  readonly held: boolean
  /** Of a namespace that is not held: what its deletion would meet. */
  readonly obstacles: readonly Obstacle[]
  /** What its templates could not give it, as condition `Populated` tells, or have not yet. Absent = nothing. */
  readonly lacking?: readonly Obstacle[]
  /** Content of a namespace that is being deleted. */
  readonly left?: LeftContent
  /** What the server reports as wrong, in its own words. */
  readonly reports: readonly { readonly type: string; readonly reason: string; readonly message: string }[]
  readonly notes: readonly string[]
}
