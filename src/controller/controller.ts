/**
 * The controller contract: a key and a signal, nothing else. A reconciler looks at the world as it is now (level), not
 * at what happened (edge); being called once too often must do no harm.
 */

export interface ObjectKey {
  /** '' for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

export interface Reconciler {
  /**
   * undefined = done; `requeueAfterMs` = look again then; throw = retry with backoff; throw `Terminal` = never retry
   * until something changes. Never runs twice at once for one key.
   */
  reconcile(key: ObjectKey, signal: AbortSignal): Promise<{ readonly requeueAfterMs: number } | undefined>
}

/** A failure that retrying can't mend; it is logged once. */
export class Terminal extends Error {
  override readonly name = 'Terminal'
}

/** Feeds a controller: calls `enqueue` for every key that may need work, until `signal` aborts. */
export interface Source {
  run(enqueue: (key: ObjectKey) => void, signal: AbortSignal): Promise<void>
}

export interface ControllerSpec {
  /** `namespace-controller` */
  readonly name: string
  /** The service account it acts as. Default: its name. */
  readonly account?: string
  readonly workers: number
  /** One key may take long before it waits for anything: no two begin in one turn of the loop. */
  readonly givesWay?: boolean
  readonly sources: readonly Source[]
  readonly reconciler: Reconciler
}
