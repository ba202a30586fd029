/**
 * The places that a request takes among those that are worked on, and how it waits without them.
 *
 * A place stands for a share of the processor. A request that waits for its body, for a revision or for an initializer
 * needs none: it leaves its places and takes them again before it goes on. Otherwise a client that sends half a body
 * would stop every other writer.
 */
import type { Eventual } from '../base/eventual.ts'
import type { ApiRequest, RequestContext } from './api.ts'

/** What a request that waits is counted as: its headers, its promises, its part of the connection. */
export const waitingBytes: number = 16 * 1024

/**
 * What `wait` answers, without a place for as long as that takes. What is there at once costs nothing.
 * @throws StatusError TooManyRequests if the flow has too much waiting, or no place is free afterwards
 */
export function awaitOutside<T>(request: ApiRequest, context: RequestContext, wait: () => Eventual<T>): Eventual<T> {
  const waited = wait()
  return waited instanceof Promise ? waitOutside(request, context, waited) : waited
}

async function waitOutside<T>({ account }: ApiRequest, { places }: RequestContext, waited: Promise<T>): Promise<T> {
  // What fails below is answered; how the wait ends is then of no interest.
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
