/**
 * Watches that are behind keep the events that wait for them alive. Many watchers of one type wait for the same events,
 * so an event counts once in all and once for each flow, however many watches share it. What is beyond the bound ends
 * the watches of the flow that has most, those first that are furthest behind; their clients go on from what they saw
 * last.
 *
 * Looked at now and then: what waits grows no faster than the store is written to. The limit of a single watch
 * (`SessionLimits`) holds at once.
 */
import type { Slice, Turns } from '../base/turns.ts'
import type { WatchCache } from './watch-cache.ts'
import type { ObjectEvent } from './watch-event.ts'
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

type End = (session: WatchSession) => void

/**
 * Answers the flows whose watches it ended. Thousands may wait for thousands of events, so this is done in slices; what
 * comes to wait meanwhile may count next time only.
 */
export async function endThoseBehind(
  sessions: Iterable<WatchSession>,
  { totalBytes, flowBytes }: PendingLimits,
  turns: Turns,
): Promise<readonly string[]> {
  const slice = turns.slice()
  const behind = new Map<string, WatchSession[]>()
  let atMost = 0
  for (const session of sessions) {
    const pause = slice.pause()
    if (pause) await pause
    if (session.pendingBytes === 0) continue
    atMost += session.pendingBytes * copies
    const ofFlow = behind.get(session.flow)
    if (ofFlow === undefined) behind.set(session.flow, [session])
    else ofFlow.push(session)
  }
  // No flow can have more than all have together, each event counted as often as it waits.
  if (atMost <= Math.min(totalBytes, flowBytes)) return []
  const ended: string[] = []
  const end: End = (session) => {
    session.cutOff()
    ended.push(session.flow)
  }
  const flows: Kept[] = []
  for (const of of behind.values()) {
    const leastBehindFirst = of.toSorted((a, b) => a.pendingBytes - b.pendingBytes)
    flows.push(await keptWithin(flowBytes, leastBehindFirst, end, slice))
  }
  // All have no more than this together, or less where flows wait for the same.
  if (flows.reduce((sum, { bytes }) => sum + bytes, 0) <= totalBytes) return ended
  // The smallest first: what is left of the whole is for the largest.
  const smallestFirst = flows.sort((a, b) => a.bytes - b.bytes).flatMap(({ sessions: kept }) => kept)
  await keptWithin(totalBytes, smallestFirst, end, slice)
  return ended
}

interface Kept {
  readonly bytes: number
  readonly sessions: readonly WatchSession[]
}

/** As many, in this order, as there is room for. The others are ended. */
async function keptWithin(
  limitBytes: number,
  sessions: readonly WatchSession[],
  end: End,
  slice: Slice,
): Promise<Kept> {
  const pending = new Pending(limitBytes)
  const kept: WatchSession[] = []
  for (const session of sessions) {
    if (session.closed) continue
    if (pending.add(session)) kept.push(session)
    else end(session)
    const pause = slice.pause()
    if (pause) await pause
  }
  return { bytes: pending.bytes, sessions: kept }
}

/** What waits for some watches, each event counted once. */
class Pending {
  readonly #limitBytes: number
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Answers whether there is room for what waits for `session`. */
  add(session: WatchSession): boolean {
    const others: ObjectEvent[] = []
    let bytes = this.#bytes
    for (const events of session.pending) {
      for (const event of events) {
        // A mark, since a set of them costs ten times as much to ask, for each event of each watch.
        if (event.type === 'BOOKMARK' || event.countedBy === this) continue
        event.countedBy = this
        others.push(event)
        bytes += event.stored.storedSizeBytes * copies
      }
    }
    const hasRoom = bytes <= this.#limitBytes
    if (hasRoom) this.#bytes = bytes
    else for (const event of others) event.countedBy = undefined
    return hasRoom
  }
}
