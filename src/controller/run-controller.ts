/**
 * The whole loop: sources fill the queue, workers empty it, failures come back later. One controller, one promise.
 */
import { Backoff } from '../base/backoff.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { Turns } from '../base/turns.ts'
import { type ControllerSpec, type ObjectKey, Terminal } from './controller.ts'
import { FailureLog } from './failure-log.ts'
import { WorkQueue } from './queue.ts'

export interface ControllerRuntime {
  readonly clock: Clock
  readonly log: Log
  /** Of the process: where what is reconciled waits for nothing, a thousand keys would be one piece of work. */
  readonly turns?: Turns
  /** Counts what happened, for metrics. */
  readonly observe?: (controller: string, outcome: 'done' | 'requeued' | 'failed', durationMs: number) => void
}

/** As client-go: 5 ms, doubling, at most a minute. */
const retryBaseMs = 5
const retryMaxMs = 60_000
/** Failures in a row after which a problem is worth the operator's attention. */
const quietFailures = 5

const keyText = (key: ObjectKey): string => `${key.namespace}/${key.name}`

function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/')
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}

/** Runs until `signal` aborts, and resolves when every worker and source has stopped. Never rejects. */
export async function runController(
  spec: ControllerSpec,
  { clock, log, turns = new Turns(), observe }: ControllerRuntime,
  signal: AbortSignal,
): Promise<void> {
  const queue = new WorkQueue<string>(clock)
  const backoff = new Backoff<string>(retryBaseMs, retryMaxMs)
  const failures = new FailureLog(clock)
  const tell = (level: 'error' | 'warn' | 'debug', key: string, fields: object, message: string): void => {
    const said = level === 'debug' ? {} : failures.next(key)
    if (said !== undefined) log[level]({ controller: spec.name, key, ...fields, ...said }, message)
  }
  if (signal.aborted) return
  signal.addEventListener('abort', () => queue.close(), { once: true })

  const work = async (): Promise<void> => {
    const owner = { controller: spec.name }
    let slice = spec.givesWay ? undefined : turns.slice(owner)
    for (;;) {
      const key = await queue.take()
      if (key === undefined) return
      // What came while it waited has come for other workers too.
      if (slice === undefined || (spec.givesWay && slice.isOver)) slice = await turns.begin(owner)
      else slice.goOn()
      const began = clock.monotonic()
      try {
        const result = await spec.reconciler.reconcile(parseKey(key), signal)
        backoff.forget(key)
        if (result) queue.addAfter(key, result.requeueAfterMs)
        observe?.(spec.name, result ? 'requeued' : 'done', clock.monotonic() - began)
      } catch (error) {
        observe?.(spec.name, 'failed', clock.monotonic() - began)
        if (signal.aborted) return
        if (error instanceof Terminal) {
          backoff.forget(key)
          tell('error', key, { error }, 'gave up until something changes')
        } else {
          const delayMs = backoff.next(key)
          const say = backoff.failures(key) > quietFailures ? 'warn' : 'debug'
          tell(say, key, { error, delayMs }, 'failed, will try again')
          queue.addAfter(key, delayMs)
        }
      } finally {
        queue.done(key)
      }
      const pause = spec.givesWay ? undefined : slice.pause()
      if (pause) await pause
    }
  }

  const sources = spec.sources.map((source) => source.run((key) => queue.add(keyText(key)), signal))
  const workers = Array.from({ length: spec.workers }, work)
  await Promise.all([
    ...workers,
    ...sources.map((run) =>
      run.catch((error: unknown) => {
        if (!signal.aborted) log.error({ controller: spec.name, error }, 'a source of the controller stopped')
      }),
    ),
  ])
}
