/**
 * Work that may have to wait, for a conversion between versions or for the next slice of the loop (`turns.ts`), as a
 * generator: where nothing has to be waited for, nothing is awaited.
 */
import { isResumable, type MaybeResumable, runAtOnce } from '../../base/resumable.ts'
import type { Slice } from '../../base/turns.ts'
import type { JsonValue, KubeObject } from '../types.ts'

/** Yields what may have to be waited for, a conversion or a pause, and is given what came of it; or other steps. */
export type Steps<T> = Generator<Awaited | Called, T, KubeObject>

type Awaited = KubeObject | Promise<KubeObject | undefined>

class Called {
  readonly steps: Steps<unknown>

  constructor(steps: Steps<unknown>) {
    this.steps = steps
  }
}

/**
 * What `steps` come to. As `yield*`, but for what calls itself for each level of an object: these would be resumed one
 * within the other, and a thousand levels of several each are more than the stack holds.
 */
export function* called<T>(steps: Steps<T>): Steps<T> {
  return (yield new Called(steps)) as unknown as T
}

/** Between two passes over a large object. */
export function* pausing(slice: Slice | undefined): Steps<void> {
  const pause = slice?.pause()
  if (pause) yield pause.then(() => undefined)
}

/** Other work that is resumable. */
export function* stepsOf<T>(work: MaybeResumable<T>, slice: Slice | undefined): Steps<T> {
  if (slice === undefined || !isResumable(work)) return runAtOnce(work)
  for (let step = work.next(); ; step = work.next()) {
    if (step.done === true) return step.value
    yield* pausing(slice)
  }
}

/** A map or a list of more members is large. */
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

/** How members are gone through that may themselves be large. */
export interface Weighed<T> {
  /** How much there is to do for a member: see `weightOf`. */
  weigh(member: T): number
  /** Those that are small, some at a time. */
  some(part: readonly T[]): void
  /** One that is large, with pauses of its own. */
  large(member: T): Steps<void>
}

/**
 * How many values are in it. Beyond `manyMembers` it is not counted how many more; what has anything in it that may
 * have members itself is not looked into and counts as large: each level would go through all below it.
 */
export function weightOf(value: JsonValue | undefined): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  if (Array.isArray(value)) return value.some(hasMembers) ? manyMembers + 1 : value.length + 1
  for (const key in value) {
    const member = value[key]
    if (hasMembers(member)) return manyMembers + 1
    if (++count > manyMembers) return count
  }
  return count
}

const hasMembers = (value: unknown): boolean => typeof value === 'object' && value !== null

/** In parts of so many values, however few members they are: 290 maps of 99 keys are as much as one of 29,000. */
export function* inWeighedParts<T>(
  members: readonly T[],
  { weigh, some, large }: Weighed<T>,
  slice: Slice | undefined,
): Steps<void> {
  let from = 0
  let weight = 0
  for (let i = 0; i < members.length; i++) {
    const member = members[i] as T
    const more = weigh(member)
    const isLarge = more > manyMembers
    weight += more
    if (!isLarge && weight < membersAtOnce) continue
    const end = isLarge ? i : i + 1
    if (end > from) some(members.slice(from, end))
    from = i + 1
    weight = 0
    yield* pausing(slice)
    if (isLarge) yield* called(large(member))
  }
  if (from < members.length) some(members.slice(from))
  yield* pausing(slice)
}

/** Runs steps: at once if none of them has to be waited for. */
export function settled<T>(steps: Steps<T>): T | Promise<T> {
  const run = new Run(steps)
  let step = run.next()
  while (!step.done) {
    if (step.value instanceof Promise) return settledLater(run, step.value)
    step = run.next(step.value)
  }
  return step.value
}

async function settledLater<T>(run: Run<T>, first: Promise<KubeObject | undefined>): Promise<T> {
  let awaited: Awaited = first
  for (;;) {
    const [outcome]: readonly [PromiseSettledResult<KubeObject | undefined>] = await Promise.allSettled([awaited])
    const step: IteratorResult<Awaited, T> =
      outcome.status === 'fulfilled' ? run.next(outcome.value as KubeObject) : run.throw(outcome.reason)
    if (step.done) return step.value
    awaited = step.value
  }
}

/** Steps, and those that they call, with a stack of its own. */
class Run<T> {
  readonly #stack: Steps<unknown>[]

  constructor(steps: Steps<T>) {
    this.#stack = [steps]
  }

  next(given?: KubeObject): IteratorResult<Awaited, T> {
    return this.#go((top) => top.next(given as KubeObject))
  }

  throw(error: unknown): IteratorResult<Awaited, T> {
    return this.#go((top) => top.throw(error))
  }

  /** `resume`: the topmost. */
  #go(resume: (top: Steps<unknown>) => IteratorResult<Awaited | Called, unknown>): IteratorResult<Awaited, T> {
    for (let next = resume; ; ) {
      const top = this.#stack.at(-1)
      if (top === undefined) throw new TypeError('steps are resumed that are over')
      let step: IteratorResult<Awaited | Called, unknown>
      try {
        step = next(top)
      } catch (error) {
        this.#stack.pop()
        if (this.#stack.length === 0) throw error
        next = (caller) => caller.throw(error)
        continue
      }
      if (step.done) {
        const { value } = step
        this.#stack.pop()
        if (this.#stack.length === 0) return { done: true, value: value as T }
        next = (caller) => caller.next(value as KubeObject)
      } else if (step.value instanceof Called) {
        this.#stack.push(step.value.steps)
        next = (begun) => begun.next()
      } else return { done: false, value: step.value }
    }
  }
}
