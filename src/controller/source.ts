/**
 * What feeds a controller, declared: which changes, and which keys they make work of.
 *
 *   changesOf(feed).map((next, old) => keys)
 *
 * Sources run from the moment the controller starts until it stops; a feed tells what exists at first, then each
 * change.
 */
import { setImmediate } from 'node:timers/promises'
import { aborted } from '../base/aborted.ts'
import type { ObjectKey, Source } from './controller.ts'

/** Calls back for everything that exists (`old` undefined), then for each change (`next` undefined = removed). */
export type Feed<T> = (listener: (next: T | undefined, old: T | undefined) => void) => () => void

/** What needs work; undefined = nothing. */
export type Keys = Iterable<ObjectKey> | ObjectKey | undefined

export interface Changes<T> {
  /** Several feeds may share state: each has its own `map`. */
  map(toKeys: (next: T | undefined, old: T | undefined) => Keys): Source
  /** What exists at first is another source's (`sweep`). */
  later(): Changes<T>
}

export function changesOf<T>(feed: Feed<T>): Changes<T> {
  return {
    later: () =>
      changesOf((listener) => {
        let exists = true
        const stop = feed((next, old) => {
          if (!exists) listener(next, old)
        })
        exists = false
        return stop
      }),
    map: (toKeys) => ({
      async run(enqueue, signal) {
        const stop = feed((next, old) => enqueueAll(enqueue, toKeys(next, old)))
        await aborted(signal)
        stop()
      },
    }),
  }
}

/** Keys alone: a feed that says what may need work. */
export function keysOf(feed: (enqueue: (key: ObjectKey) => void) => () => void): Source {
  return {
    async run(enqueue, signal) {
      const stop = feed(enqueue)
      await aborted(signal)
      stop()
    },
  }
}

/** So many are looked at before other work has a turn. */
const lookedAtOnce = 200

/** Everything that there is at the start, a few at a time; what changes meanwhile is another source's. */
export function sweep<T>(all: () => Iterable<T>, toKeys: (one: T) => Keys): Source {
  return {
    async run(enqueue, signal) {
      let looked = 0
      for (const one of all()) {
        if (++looked % lookedAtOnce === 0) await setImmediate()
        if (signal.aborted) return
        enqueueAll(enqueue, toKeys(one))
      }
    },
  }
}

export function enqueueAll(enqueue: (key: ObjectKey) => void, keys: Keys): void {
  if (keys === undefined) return
  if (Symbol.iterator in keys) for (const key of keys) enqueue(key)
  else enqueue(keys)
}
