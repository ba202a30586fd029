/**
 * Watches that are behind keep the events that wait for them alive. Many watchers of one type wait for the same events,
 * so an event counts once in all and once for each flow, however many watches share it. What is beyond the bound ends
 * the watches that are furthest behind; their clients go on from what they saw last.
 *
 * Looked at now and then: what waits grows no faster than the store is written to. The limit of a single watch
 * (`SessionLimits`) holds at once.
 */
import type { WatchCache } from './watch-cache.ts'
import type { WatchEvent } from './watch-event.ts'
import type { WatchSession } from './watch-session.ts'

export interface PendingLimits {
  readonly totalBytes: number
  readonly flowBytes: number
}

/** All that are open. */
export function* sessionsOf(cache: Pick<WatchCache, 'storageNames' | 'type'>): Iterable<WatchSession> {
  for (const name of cache.storageNames()) {
    const { watchers } = cache.type(name)
    if (watchers.size > 0) yield* watchers.all()
  }
}

/** An event is its object and the frame made of it. */
const copies = 2

/** Answers the flows whose watches it ended. */
export function endThoseBehind(
  sessions: Iterable<WatchSession>,
  { totalBytes, flowBytes }: PendingLimits,
): readonly string[] {
  const behind: WatchSession[] = []
  let atMost = 0
  for (const session of sessions) {
    if (session.pendingBytes === 0) continue
    atMost += session.pendingBytes * copies
    behind.push(session)
  }
  // No flow can have more than all have together, each event counted as often as it waits.
  if (atMost <= Math.min(totalBytes, flowBytes)) return []
  const all = new Pending()
  const byFlow = new Map<string, Pending>()
  const ended: string[] = []
  for (const session of behind.sort((a, b) => a.pendingBytes - b.pendingBytes)) {
    const ofFlow = byFlow.get(session.flow) ?? new Pending()
    byFlow.set(session.flow, ofFlow)
    if (all.with(session) <= totalBytes && ofFlow.with(session) <= flowBytes) {
      all.add(session)
      ofFlow.add(session)
    } else {
      session.cutOff()
      ended.push(session.flow)
    }
  }
  return ended
}

class Pending {
  readonly #events = new Set<WatchEvent>()
  #bytes = 0

  /** How much it would be with the events of `session`. */
  with(session: WatchSession): number {
    let bytes = this.#bytes
    for (const event of session.pending()) if (!this.#events.has(event)) bytes += bytesOf(event)
    return bytes
  }

  add(session: WatchSession): void {
    for (const event of session.pending()) {
      if (this.#events.has(event)) continue
      this.#events.add(event)
      this.#bytes += bytesOf(event)
    }
  }
}

const bytesOf = (event: WatchEvent): number => (event.type === 'BOOKMARK' ? 0 : event.stored.storedSizeBytes * copies)
