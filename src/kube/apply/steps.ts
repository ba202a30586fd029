/**
 * Work that may have to wait, for a conversion between versions or for the next slice of the loop (`turns.ts`), as a
 * generator: where nothing has to be waited for, nothing is awaited.
 */
import { isResumable, type MaybeResumable } from '../../base/resumable.ts'
import type { Slice } from '../../base/turns.ts'
import type { KubeObject } from '../types.ts'

/** Yields what may have to be waited for, a conversion or a pause; is given what came of it. */
export type Steps<T> = Generator<KubeObject | Promise<KubeObject | undefined>, T, KubeObject>

/** Between two passes over a large object. */
export function* pausing(slice: Slice | undefined): Steps<void> {
  const pause = slice?.pause()
  if (pause) yield pause.then(() => undefined)
}

/** Other work that is resumable. */
export function* stepsOf<T>(work: MaybeResumable<T>, slice: Slice | undefined): Steps<T> {
  if (!isResumable(work)) return work
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value
    yield* pausing(slice)
  }
}

/** Of a map or a list of more members parts are gone through, with pauses between them. */
export const manyMembers = 100
const membersAtOnce = 2048

export function* inParts<T>(
  members: readonly T[],
  work: (part: readonly T[]) => void,
  slice: Slice | undefined,
): Steps<void> {
  for (let from = 0; from < members.length; from += membersAtOnce) {
    work(members.slice(from, from + membersAtOnce))
    yield* pausing(slice)
  }
}

/** Runs steps: at once if none of them has to be waited for. */
export function settled<T>(steps: Steps<T>): T | Promise<T> {
  let step = steps.next()
  while (!step.done) {
    if (step.value instanceof Promise) return settledLater(steps, step.value)
    step = steps.next(step.value)
  }
  return step.value
}

async function settledLater<T>(steps: Steps<T>, first: Promise<KubeObject | undefined>): Promise<T> {
  let awaited: KubeObject | Promise<KubeObject | undefined> = first
  for (;;) {
    let step: IteratorResult<KubeObject | Promise<KubeObject | undefined>, T>
    try {
      step = steps.next((await awaited) as KubeObject)
    } catch (error) {
      step = steps.throw(error)
    }
    if (step.done) return step.value
    awaited = step.value
  }
}
