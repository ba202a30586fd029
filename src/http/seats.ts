/**
 * The seats that a request takes among those that are worked on, and how it waits without them.
 *
 * A seat stands for a share of the processor. A request that waits for its body, for a revision or for an initializer
 * needs none: it leaves its seats and takes them again before it goes on. Otherwise a client that sends half a body
 * would stop every other writer.
 */
import { isPending } from '../base/eventual.ts'
import type { ApiRequest, HeldSeat, RequestContext } from './api.ts'

/** What a request that waits is counted as: its headers, its promises, its part of the connection. */
export const waitingBytes: number = 16 * 1024

/**
 * What `waited` answers; the request is without its seats for as long as that takes.
 * @throws StatusError TooManyRequests if the flow has too much waiting, or no seat is free afterwards
 */
export async function awaitOutside<T>(
  { account }: ApiRequest,
  { seats }: RequestContext,
  waited: Promise<T>,
): Promise<T> {
  // The failures below are answered; how the wait ends is then of no interest.
  waited.catch(() => {})
  account?.charge(waitingBytes)
  for (const seat of seats) seat.leave()
  try {
    const value = await waited
    await retakeAll(seats)
    return value
  } finally {
    account?.give(waitingBytes)
  }
}

/** One after the other: those that it has rest while it waits for the next. */
async function retakeAll(seats: readonly HeldSeat[]): Promise<void> {
  const taken: HeldSeat[] = []
  for (const seat of seats) {
    const retaking = seat.retake()
    if (isPending(retaking)) await whileResting(taken, retaking)
    taken.push(seat)
  }
}

async function whileResting(taken: readonly HeldSeat[], retaking: Promise<void>): Promise<void> {
  for (const seat of taken) seat.rest?.()
  try {
    await retaking
  } finally {
    for (const seat of taken) seat.resume?.()
  }
}

/** For a request whose work is done: only its answer is still to come. */
export function leaveSeats({ seats }: RequestContext): void {
  for (const seat of seats) seat.leave()
}
