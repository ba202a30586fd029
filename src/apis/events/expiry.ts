/**
 * Events are forgotten an hour after they were last written. They come in the order of their age, so the oldest stands
 * at the head of a queue and one timer waits for it.
 */
import type { Clock, Timer } from '../../base/clock.ts'
import type { ObjectKey, Source } from '../../controller/controller.ts'

export const eventTtlMs = 3_600_000

/** An Event as it was written: which, and when. */
export interface WrittenEvent extends ObjectKey {
  readonly revision: number
  readonly writtenAtMs: number
}

export interface EventFeed {
  /** First for every Event there is, oldest first, then for each write. */
  subscribe(written: (event: WrittenEvent) => void): () => void
  /** Its present revision; undefined if it is gone. */
  revisionOf(key: ObjectKey): number | undefined
}

/** Enqueues each Event when its time is over, unless it was written again or is gone. */
export function expiredEvents(feed: EventFeed, clock: Clock): Source {
  return {
    run(enqueue, signal) {
      let queue: WrittenEvent[] = []
      let head = 0
      let timer: Timer | undefined
      const expire = (): void => {
        timer = undefined
        const now = clock.now()
        while (head < queue.length) {
          const event = queue[head] as WrittenEvent
          const leftMs = event.writtenAtMs + eventTtlMs - now
          if (leftMs > 0) {
            timer = clock.after(leftMs, expire)
            break
          }
          head++
          if (feed.revisionOf(event) === event.revision) enqueue({ namespace: event.namespace, name: event.name })
        }
        if (head > 1024 && head * 2 > queue.length) {
          queue = queue.slice(head)
          head = 0
        }
      }
      const stop = feed.subscribe((event) => {
        queue.push(event)
        if (timer === undefined) expire()
      })
      return new Promise((resolve) => {
        const end = (): void => {
          stop()
          timer?.cancel()
          resolve()
        }
        if (signal.aborted) end()
        else signal.addEventListener('abort', end, { once: true })
      })
    },
  }
}
