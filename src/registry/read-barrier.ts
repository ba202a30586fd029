/** How fresh a read must be, and waiting until the cache is. */
import type { Clock } from '../base/clock.ts'
import type { Revision } from '../storage/storage.ts'
import type { WatchCache } from '../watch/watch-cache.ts'
import { tooLargeVersion } from './errors.ts'
import type { ReadOptions } from './registry.ts'

/** As upstream: how long a read waits for a revision that the cache has not seen yet. */
const futureWaitMs = 3000

/**
 * Resolves when the cache shows `revision` or later.
 * @throws StatusError Timeout if the store does not get there in 3 s, or the reader leaves before.
 */
export function waitForRevision(
  cache: WatchCache,
  clock: Clock,
  revision: Revision,
  { signal, outside = (wait) => wait }: Pick<ReadOptions, 'signal' | 'outside'>,
): Promise<void> {
  if (cache.reached(revision)) return Promise.resolve()
  return outside(awaitRevision(cache, clock, revision, signal))
}

async function awaitRevision(
  cache: WatchCache,
  clock: Clock,
  revision: Revision,
  left: AbortSignal | undefined,
): Promise<void> {
  // Another process may have acknowledged it: then the store knows, and catching up is enough.
  await cache.refresh()
  if (cache.reached(revision)) return
  const late = new AbortController()
  const giveUp = (): void => late.abort()
  const timer = clock.after(futureWaitMs, giveUp)
  left?.addEventListener('abort', giveUp, { once: true })
  if (left?.aborted) giveUp()
  try {
    await cache.applied(revision, late.signal)
  } catch (e) {
    throw late.signal.aborted ? tooLargeVersion(revision, cache.revision) : e
  } finally {
    timer.cancel()
    left?.removeEventListener('abort', giveUp)
  }
}
