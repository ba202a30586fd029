/**
 * What is there at once, or later. `await` costs a turn of the queue even for what is there; on the path that every
 * request takes most things are, so there it is asked first.
 */
export type Eventual<T> = T | Promise<T>

/**
 * Which way of waiting where:
 *
 * - An `async` function says `await`. It costs a turn of the queue, which is little beside what such a function does.
 * - A function on the path of every read answers an `Eventual` and says `andThen`, `andFinally` or `afterPause`.
 * - Nothing else asks what it was given: `isPending` is for the few places that stand where both ways meet.
 */
export const isPending = <T>(value: Eventual<T>): value is Promise<T> => value instanceof Promise

/** `next` of the value, now if it is here. What `next` throws is thrown, or rejects, accordingly. */
export function andThen<T, R>(value: Eventual<T>, next: (value: T) => Eventual<R>): Eventual<R> {
  return isPending(value) ? value.then(next) : next(value)
}

const rethrow = (error: unknown): never => {
  throw error
}

/**
 * `work`, and `end` once it is over, whichever way; it is told the value, if there is one. What `failed` answers to an
 * error, behind `end`, takes its place.
 */
export function andFinally<T>(
  work: () => Eventual<T>,
  end: (value?: T) => void,
  failed: (error: unknown) => Eventual<T> = rethrow,
): Eventual<T> {
  let value: Eventual<T>
  try {
    value = work()
  } catch (error) {
    end()
    return failed(error)
  }
  if (!isPending(value)) {
    end(value)
    return value
  }
  return value.then(
    (v) => {
      end(v)
      return v
    },
    (error: unknown) => {
      end()
      return failed(error)
    },
  )
}

/** Now, or when the slice (`turns.ts`) that is used up has its next turn. Without a slice: now. */
export function afterPause<T>(
  slice: { pause(): Promise<void> | undefined } | undefined,
  run: () => Eventual<T>,
): Eventual<T> {
  const pause = slice?.pause()
  return pause === undefined ? run() : pause.then(run)
}

/** One piece of work after the other, with a pause between two where the slice is used up. */
export function inTurn(
  slice: { pause(): Promise<void> | undefined } | undefined,
  work: readonly (() => void)[],
): Eventual<void> {
  for (const [i, run] of work.entries()) {
    run()
    const pause = slice?.pause()
    if (pause !== undefined) return pause.then(() => inTurn(slice, work.slice(i + 1)))
  }
}
