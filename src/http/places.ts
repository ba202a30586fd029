/**
 * The places that a request takes among those that are worked on, and how it waits without them.
 *
 * A place stands for a share of the processor. A request that waits for its body, for a revision or for an initializer
 * needs none: it leaves its places and takes them again before it goes on. Otherwise a client that sends half a body
 * would stop every other writer.
 */
import type { ApiRequest, RequestContext } from './api.ts'

/** What a request that waits is counted as: its headers, its promises, its part of the connection. */
export const waitingBytes: number = 16 * 1024

/**
 * What `waited` answers; the request is without its places for as long as that takes.
 * @throws StatusError TooManyRequests if the flow has too much waiting, or no place is free afterwards
 */
export async function awaitOutside<T>(
  { account }: ApiRequest,
  { places }: RequestContext,
  waited: Promise<T>,
): Promise<T> {
  // The failures below are answered; how the wait ends is then of no interest.
  waited.catch(() => {})
  account?.charge(waitingBytes)
  for (const place of places) place.leave()
  try {
    const value = await waited
    for (const place of places) await place.retake()
    return value
  } finally {
    account?.give(waitingBytes)
  }
}

/** For a request whose work is done: only its answer is still to come. */
export function leavePlaces({ places }: RequestContext): void {
  for (const place of places) place.leave()
}
