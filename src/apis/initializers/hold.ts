/**
 * A create of a namespace is answered when the namespace is ready. Waiting costs one closure: nothing polls.
 */
import type { Clock } from '../../base/clock.ts'
import { StatusError, type StatusReason } from '../../kube/status-error.ts'
import { isInitializing, type Namespace, namespaceResource } from '../namespaces/types.ts'

/** `waited`: time ran out, the namespace is still initializing. */
export type HoldOutcome = 'ready' | 'waited'

/** All that is kept of what was created: there may be ten thousand of them, waiting for minutes. */
export interface HeldNamespace {
  readonly name: string
  readonly uid: string
}

interface Waiter {
  readonly settle: (next: Namespace | undefined) => void
  readonly giveUp: () => void
}

export class NamespaceHold {
  readonly #clock: Clock
  readonly #waiters = new Map<string, Set<Waiter>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Creates that wait right now. */
  get waiting(): number {
    let n = 0
    for (const waiters of this.#waiters.values()) n += waiters.size
    return n
  }

  /**
   * Fed with every change of a namespace; answers undefined for one that was removed. Asked only while a create waits.
   */
  changed(name: string, next: () => Namespace | undefined): void {
    const waiters = this.#waiters.get(name)
    if (waiters === undefined) return
    const namespace = next()
    for (const waiter of [...waiters]) waiter.settle(namespace)
  }

  /** Answers every held create as it stands: the server is going away. */
  release(): void {
    for (const waiters of this.#waiters.values()) for (const waiter of [...waiters]) waiter.giveUp()
  }

  /**
   * Waits until `current()` is initialized, has failed (throws what the initializer reported), is being deleted or gone
   * (throws 409, ADR 0029), `timeoutMs` has passed or `signal` aborts. `current` is asked first, so a change before the
   * call is not missed.
   */
  wait(
    { name, uid }: HeldNamespace,
    current: () => Namespace | undefined,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<HoldOutcome> {
    return new Promise((resolve, reject) => {
      const finish = (outcome: HoldOutcome | Error): void => {
        timer.cancel()
        signal.removeEventListener('abort', giveUp)
        const waiters = this.#waiters.get(name)
        waiters?.delete(waiter)
        if (waiters?.size === 0) this.#waiters.delete(name)
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
      const giveUp = (): void => finish('waited')
      const settle = (next: Namespace | undefined): void => {
        const verdict = judge(next, { name, uid })
        if (verdict !== 'waiting') finish(verdict)
      }
      const waiter: Waiter = { settle, giveUp }
      const timer = this.#clock.after(timeoutMs, giveUp)
      signal.addEventListener('abort', giveUp, { once: true })
      const waiters = this.#waiters.get(name) ?? new Set()
      waiters.add(waiter)
      this.#waiters.set(name, waiters)
      settle(current())
    })
  }
}

function judge(next: Namespace | undefined, { name, uid }: HeldNamespace): 'ready' | 'waiting' | StatusError {
  const isThere = next?.metadata.uid === uid
  // Before its deletion, which a failure brings about: the failure says more.
  const result = isThere ? next.spec?.initializers?.result : undefined
  if (result !== undefined) {
    return new StatusError(result.message ?? 'initialization of the namespace failed', {
      ...(result.reason === undefined ? {} : { reason: result.reason as StatusReason }),
      code: result.code ?? 500,
      ...(result.details === undefined ? {} : { details: result.details }),
    })
  }
  if (!isThere || next.metadata.deletionTimestamp !== undefined) return deletedMeanwhile(name)
  return isInitializing(next) ? 'waiting' : 'ready'
}

/** With the cause by which clients of upstream recognise a namespace that is going. */
const deletedMeanwhile = (name: string): StatusError =>
  new StatusError(
    `Operation cannot be fulfilled on namespaces ${JSON.stringify(name)}: it was deleted while it was being ` +
      'initialized',
    {
      reason: 'Conflict',
      details: {
        name,
        kind: namespaceResource.resource,
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${name} is being terminated`,
            field: 'metadata.deletionTimestamp',
          },
        ],
      },
    },
  )
