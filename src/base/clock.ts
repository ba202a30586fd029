/**
 * Time, injected. Nothing outside `base/` calls `Date.now` or `setTimeout`: tests move time by hand.
 */

export interface Timer {
  /** Safe to call twice and after the timer has fired. */
  cancel(): void
}

export interface Clock {
  /** Milliseconds since the Unix epoch; may jump when the wall clock is set. */
  now(): number
  /** Milliseconds that only grow; for measuring durations. */
  monotonic(): number
  /** The timer never keeps the process alive. */
  after(ms: number, run: () => void): Timer
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    let handle: NodeJS.Timeout
    const wait = (left: number): void => {
      handle = setTimeout(
        left > longestTimerMs ? () => wait(left - longestTimerMs) : run,
        Math.min(left, longestTimerMs),
      )
      handle.unref()
    }
    wait(ms)
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Node takes what is longer for no time at all. */
const longestTimerMs = 2 ** 31 - 1

/** Resolves after `ms`, or as soon as `signal` aborts (never rejects: the caller looks at the signal). */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.after(ms, done)
    signal?.addEventListener('abort', done, { once: true })
  })
}
