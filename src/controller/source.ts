/**
 * What feeds a controller, declared: which changes, and which keys they make work of.
 *
 *   changesOf(feed).map((next, old) => keys)
 *
 * Sources run from the moment the controller starts until it stops; a feed tells what exists at first, then each
 * change.
 */
import { aborted } from '../base/aborted.ts'
import { restBetween } from '../base/rest-between.ts'
import type { ObjectKey, Source } from './controller.ts'

/** Calls back for everything that exists (`old` undefined), then for each change (`next` undefined = removed). */
export type Feed<T> = (listener: (next: T | undefined, old: T | undefined) => void) => () => void

/** What needs work; undefined = nothing. */
export type Keys = Iterable<ObjectKey> | ObjectKey | undefined

export interface Changes<T> {
  /** Several feeds may share state: each has its own `map`. */
  map(toKeys: (next: T | undefined, old: T | undefined) => Keys): Source
}

export function changesOf<T>(feed: Feed<T>): Changes<T> {
  return {
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

/** How many should be looked at in one step. */
export const sweptAtOnce = 200

/**
 * Everything that there is at the start, step by step with a bounded share of the processor; what changes meanwhile is
 * another source's.
 */
export function sweep<T>(steps: () => Iterable<readonly T[]>, toKeys: (one: T) => Keys): Source {
  return {
    async run(enqueue, signal) {
      const rest = restBetween()
      for (const step of steps()) {
        for (const one of step) enqueueAll(enqueue, toKeys(one))
        if (step.length >= sweptAtOnce) await rest()
        if (signal.aborted) return
      }
    },
  }
}

export function enqueueAll(enqueue: (key: ObjectKey) => void, keys: Keys): void {
  if (keys === undefined) return
  if (Symbol.iterator in keys) for (const key of keys) enqueue(key)
  else enqueue(keys)
}
