/**
 * What is there at once, or later. `await` costs a turn of the queue even for what is there; on the path that every
 * request takes most things are, so there it is asked first.
 */
export type Eventual<T> = T | Promise<T>

/** `next` of the value, now if it is here. What `next` throws is thrown, or rejects, accordingly. */
export function andThen<T, R>(value: Eventual<T>, next: (value: T) => Eventual<R>): Eventual<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** `work`, and `end` once it is over, whichever way. */
export function andFinally<T>(work: () => Eventual<T>, end: () => void): Eventual<T> {
  let value: Eventual<T>
  try {
    value = work()
  } catch (error) {
    end()
    throw error
  }
  if (!(value instanceof Promise)) {
    end()
    return value
  }
  return value.then(
    (v) => {
      end()
      return v
    },
    (error: unknown) => {
      end()
      throw error
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
