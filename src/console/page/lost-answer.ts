/**
 * Writes whose answer was lost: the console or the server went away amid them. Whether one was stored is read then, as
 * soon as there is an answer: a user who is told of an error alone would write it twice, or not at all.
 */
import { Backoff } from '../../base/backoff.ts'
import { type Clock, sleep } from '../../base/clock.ts'
import { isUnreached } from './unreached.ts'

export interface LostAnswer<T> {
  readonly clock: Clock
  /** Told when it is lost: until it is known, nothing else is. */
  readonly onLost?: () => void
  /** What is stored now, if that is what was sent; undefined if it was not stored. */
  readonly look: () => Promise<T | undefined>
}

const retryBaseMs = 500
const retryMaxMs = 5000
/** Five minutes, nearly. */
const mostLooks = 60

/** What was sent is not there. */
export class NotStored extends Error {
  override readonly name = 'NotStored'
}

/** @throws what `write` throws, but where no answer came; NotStored; Error where that can't be known */
export async function writeOrLook<T>(write: () => Promise<T>, { clock, onLost, look }: LostAnswer<T>): Promise<T> {
  try {
    return await write()
  } catch (lost) {
    if (!isUnreached(lost)) throw lost
    onLost?.()
    const stored = await untilAnswered(clock, look)
    if (stored !== undefined) return stored
    const why = lost instanceof Error ? lost.message : String(lost)
    throw new NotStored(`it was not stored, and can be sent again: the connection was lost (${why})`, { cause: lost })
  }
}

async function untilAnswered<T>(clock: Clock, look: () => Promise<T>): Promise<T> {
  const backoff = new Backoff<'look'>(retryBaseMs, retryMaxMs)
  for (let looks = 1; ; looks++) {
    await sleep(clock, backoff.next('look'))
    try {
      return await look()
    } catch (cause) {
      if (!isUnreached(cause)) throw cause
      if (looks < mostLooks) continue
      throw new Error('whether it was stored is not known: the server can’t be reached', { cause })
    }
  }
}
