/**
 * For long work in the background: between two steps of it the process does other things for several times as long as
 * the step took, so that it never has more than a fifth of the processor.
 */
import { setTimeout as sleep } from 'node:timers/promises'

const restShare = 4

/** Call it after each step. The first step begins now. */
export function restBetween(
  wait: (ms: number) => Promise<unknown> = (ms) => sleep(ms, undefined, { ref: false }),
  now: () => number = () => performance.now(),
): () => Promise<void> {
  let began = now()
  return async () => {
    await wait((now() - began) * restShare)
    began = now()
  }
}
