import type { Attributes, ContentChange } from '../admission/admission.ts'
import type { Revision } from '../storage/storage.ts'

/** One object as it is to be written, but for the decision. */
export interface ObjectWrite {
  /** For the plugins' `decide`; absent where no admission is asked (a collection's items are asked one by one). */
  readonly attributes: Attributes
  readonly change: ContentChange
  readonly key: string
  /** undefined = remove. */
  readonly value: Uint8Array | undefined
  readonly expect: Revision | 'absent'
  /** On the monotonic clock: when to stop trying. */
  readonly deadlineMs: number
}
