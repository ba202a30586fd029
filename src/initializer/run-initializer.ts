/**
 * The whole of an initializer but its work: sees whose turn it is, does the work, removes itself from the list.
 *
 *   turn begins ──▶ initialize() ──┬─ returns ──────────────────▶ removed from the list, the next one's turn
 *                     ▲            ├─ throws InitializationFailed ▶ `result` is set: the server deletes the namespace
 *                     └─ backoff ──┴─ throws anything else        (the condition says why, and that it is tried again)
 *   turn is over (skipped, released, deleted) ──▶ `signal` aborts, nothing is written
 *
 * A turn is found in the namespaces themselves, by list and watch. So a process that dies midway loses nothing: the
 * next one finds the turn still open and calls `initialize` again, which must therefore do no harm when it runs twice.
 *
 * Knows nothing private: it needs the verbs below and works over any `Client`.
 */

import { type Namespace, namespaceResource } from '../apis/namespaces/types.ts'
import { aborted } from '../base/aborted.ts'
import { type Clock, systemClock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Client } from '../client/client.ts'
import { findObject } from '../client/find-object.ts'
import { Informer } from '../client/informer.ts'
import type { ObjectKey, Reconciler, Source } from '../controller/controller.ts'
import { runController } from '../controller/run-controller.ts'
import { isConflict, isNotFound } from '../kube/status-error.ts'
import type { KubeObject, Status } from '../kube/types.ts'
import { InitializationFailed } from './initialization-failed.ts'
import { progressReporter } from './progress.ts'
import { stderrLog } from './stderr-log.ts'
import { turnOf } from './turn.ts'

export interface InitializeContext {
  /**
   * Aborts when the run stops, and when the namespace waits no more: the namespace is being deleted, or was let go
   * without us.
   */
  readonly signal: AbortSignal
  /**
   * Says in condition `Initializing` what is being done; needs `patch` on `namespaces/status`. Resolves when it is
   * written; never rejects, since work must not fail for want of words.
   */
  progress(message: string): Promise<void>
}

export interface InitializerOptions {
  /** As in a NamespaceInitializerConfiguration: `log-index.example.com`. */
  readonly name: string
  /** Needs `get`, `list`, `watch`, `patch` and `initialize` on namespaces. */
  readonly client: Client
  /**
   * Makes a namespace ready. May be called again for the same namespace, after an error or a restart; never twice at
   * once by one process.
   * @throws InitializationFailed when it can not succeed: the namespace is deleted. Anything else thrown is tried
   *   again.
   */
  initialize(namespace: Namespace, client: Client, context: InitializeContext): Promise<void>
  /** Ends the run: no new work is begun, work under way is told by its own signal. */
  readonly signal: AbortSignal
  /** Namespaces worked on at once; default 8. */
  readonly concurrency?: number
  /** Default: warnings and errors, as JSON lines on stderr. */
  readonly log?: Log
  readonly clock?: Clock
}

const defaultConcurrency = 8
const hourMs = 3_600_000
/**
 * Others may label or annotate the namespace meanwhile; each time it is read again. More often than this is no
 * accident.
 */
const maxConflicts = 10

interface Turn {
  readonly id: string
  /** As it was seen last. */
  namespace: Namespace
  readonly over: AbortController
  /** Work is done; only the server does not know yet. */
  outcome?: 'initialized' | InitializationFailed | undefined
}

/**
 * Runs until `signal` aborts and all work under way has ended. Never rejects: whatever goes wrong is logged and tried
 * again.
 */
export async function runInitializer(options: InitializerOptions): Promise<void> {
  const { clock = systemClock, log = stderrLog, concurrency = defaultConcurrency, name, signal } = options
  const turns = new Turns({ ...options, clock, log })
  const controller = { name, workers: concurrency, sources: [turns], reconciler: turns }
  // Timers of a clock let the process end. This one has work until it is told to stop, also while no server is there.
  const alive = setInterval(() => {}, hourMs)
  try {
    await runController(controller, { clock, log }, signal)
  } finally {
    clearInterval(alive)
  }
}

/** The turns of this initializer, as the namespaces tell of them. */
class Turns implements Source, Reconciler {
  readonly #options: InitializerOptions & Required<Pick<InitializerOptions, 'clock' | 'log'>>
  readonly #turns = new Map<string, Turn>()

  constructor(options: InitializerOptions & Required<Pick<InitializerOptions, 'clock' | 'log'>>) {
    this.#options = options
  }

  async run(add: (key: ObjectKey) => void, stop: AbortSignal): Promise<void> {
    const { client, clock, log, name: initializer } = this.#options
    const waiting = new Informer({
      client,
      clock,
      resource: namespaceResource,
      fieldSelector: 'status.phase=Initializing',
      includeUninitialized: true,
      onError: (error) => log.warn({ error, initializer }, 'namespaces can not be watched; it is tried again'),
      onChange: (next, old) => this.#onChange(next, old, add),
    })
    await Promise.all([waiting.run(stop), aborted(stop)])
  }

  #onChange(next: KubeObject | undefined, old: KubeObject | undefined, add: (key: ObjectKey) => void): void {
    const name = (next ?? old)?.metadata.name ?? ''
    const id = next === undefined ? undefined : turnOf(next, this.#options.name)
    const known = this.#turns.get(name)
    if (known !== undefined && known.id === id && next !== undefined) known.namespace = next as Namespace
    // Only a turn that begins is work: our own report of progress must not call us before the backoff is over.
    if (known?.id === id) return
    known?.over.abort()
    this.#turns.delete(name)
    if (id === undefined || next === undefined) return
    this.#turns.set(name, { id, namespace: next as Namespace, over: new AbortController() })
    add({ namespace: '', name })
  }

  async reconcile({ name }: ObjectKey): Promise<undefined> {
    const turn = this.#turns.get(name)
    if (turn === undefined) return
    const { namespace } = turn
    turn.outcome ??= await this.#work(namespace, turn)
    if (turn.outcome !== undefined) await this.#settle(namespace, turn, turn.outcome)
  }

  /** Undefined: the namespace waits for it no longer. */
  async #work(namespace: Namespace, turn: Turn): Promise<Turn['outcome']> {
    const { client, signal, log, name: initializer } = this.#options
    const report = progressReporter({ client, namespace, initializer, turn: turn.id, log })
    const stop = AbortSignal.any([signal, turn.over.signal])
    try {
      await this.#options.initialize(namespace, client, { signal: stop, progress: report })
      return 'initialized'
    } catch (error) {
      if (turn.over.signal.aborted) return undefined
      if (error instanceof InitializationFailed) return error
      if (!signal.aborted) await report(`the last attempt failed: ${messageOf(error)}; it is tried again`)
      throw error
    }
  }

  async #settle(seen: Namespace, turn: Turn, outcome: NonNullable<Turn['outcome']>): Promise<void> {
    const { client, name: initializer } = this.#options
    let namespace = seen
    for (let conflicts = 0; ; conflicts++) {
      if (turn.over.signal.aborted || turnOf(namespace, initializer) !== turn.id) return
      const { name = '', resourceVersion } = namespace.metadata
      try {
        // The version goes along: only what was looked at may be changed.
        const initializers = outcome === 'initialized' ? withoutFirst(namespace) : { result: resultOf(outcome) }
        const patch = { metadata: { resourceVersion }, spec: { initializers } }
        await client.patch(namespaceResource, { name }, patch, { fieldManager: initializer })
        return
      } catch (error) {
        if (isNotFound(error)) return
        if (!isConflict(error) || conflicts >= maxConflicts) throw error
      }
      const again = (await findObject(client, namespaceResource, { name })) as Namespace | undefined
      if (again === undefined) return
      namespace = again
    }
  }
}

const withoutFirst = ({ spec }: Namespace): { pending: { name: string }[] } => ({
  pending: (spec?.initializers?.pending ?? []).slice(1),
})

const resultOf = ({ message, reason, code }: InitializationFailed): Status => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code,
})

/** With what is behind it: `fetch failed` says nothing, its cause does. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause.message : ''
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
}
