/**
 * Work on one large value, as a generator: it yields where it may be interrupted, and answers its result. Where nothing
 * waits it runs at once; with a slice (`turns.ts`) a pause comes at the first yield after the slice is used up.
 *
 *   function* check(items: readonly Item[]): Resumable<void> {
 *     for (const item of items) {
 *       checkItem(item)
 *       yield
 *     }
 *   }
 */
import type { Eventual } from './eventual.ts'

export type Resumable<T> = Generator<undefined, T, undefined>

/** The result itself, where there is little work: a generator costs more than a call. */
export type MaybeResumable<T> = T | Resumable<T>

/** What may be asked for a pause. */
interface Pausing {
  pause(): Promise<void> | undefined
}

export const isResumable = <T>(work: MaybeResumable<T>): work is Resumable<T> =>
  typeof work === 'object' && work !== null && 'next' in work

/** In one piece. */
export function runAtOnce<T>(work: MaybeResumable<T>): T {
  if (!isResumable(work)) return work
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}

/** Without a slice: in one piece. What `work` throws is thrown, or rejects. */
export function runInSlices<T>(work: MaybeResumable<T>, slice: Pausing | undefined): Eventual<T> {
  if (slice === undefined) return runAtOnce(work)
  if (!isResumable(work)) return work
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    const pause = slice.pause()
    if (pause !== undefined) return pause.then(() => runInSlices(work, slice))
  }
}

/** As a part of other work that is resumable. */
export function* resumed<T>(work: MaybeResumable<T>): Resumable<T> {
  return isResumable(work) ? yield* work : work
}

/** Visits all items, with a place for a pause after every `count`. */
export function* inBatches<T>(
  items: Iterable<T>,
  count: number,
  visit: (item: T, index: number) => void,
): Resumable<void> {
  let index = 0
  for (const item of items) {
    visit(item, index)
    index++
    if (index % count === 0) yield
  }
}
