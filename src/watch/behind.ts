/**
 * Watches that are behind keep the events that wait for them alive. Many watchers of one type wait for the same events,
 * so an event counts once in all and once for each flow, however many watches share it. What is beyond the bound ends
 * the watches of the flow that has most, those first that are furthest behind; their clients go on from what they saw
 * last.
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
  const behind = new Map<string, WatchSession[]>()
  let atMost = 0
  for (const session of sessions) {
    if (session.pendingBytes === 0) continue
    atMost += session.pendingBytes * copies
    const ofFlow = behind.get(session.flow)
    if (ofFlow === undefined) behind.set(session.flow, [session])
    else ofFlow.push(session)
  }
  // No flow can have more than all have together, each event counted as often as it waits.
  if (atMost <= Math.min(totalBytes, flowBytes)) return []
  const ended: string[] = []
  const end = (session: WatchSession): void => {
    session.cutOff()
    ended.push(session.flow)
  }
  const flows = [...behind.values()].map((of) => keptWithin(of, flowBytes, end))
  // The smallest first: what is left of the whole is for the largest.
  const all = new Pending()
  for (const { sessions: kept } of flows.sort((a, b) => a.bytes - b.bytes)) {
    for (const session of kept) {
      if (all.with(session) <= totalBytes) all.add(session)
      else end(session)
    }
  }
  return ended
}

/** Of one flow, those that are behind least first: as many as its share has room for. The others are ended. */
function keptWithin(
  sessions: readonly WatchSession[],
  flowBytes: number,
  end: (session: WatchSession) => void,
): { readonly bytes: number; readonly sessions: readonly WatchSession[] } {
  const pending = new Pending()
  const kept: WatchSession[] = []
  for (const session of sessions.toSorted((a, b) => a.pendingBytes - b.pendingBytes)) {
    if (pending.with(session) > flowBytes) end(session)
    else {
      pending.add(session)
      kept.push(session)
    }
  }
  return { bytes: pending.bytes, sessions: kept }
}

class Pending {
  readonly #events = new Set<WatchEvent>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

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
