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
import type { ObjectKey, Source } from '../controller/controller.ts'
import { runController } from '../controller/run-controller.ts'
import { isConflict, isNotFound } from '../kube/status-error.ts'
import type { Status } from '../kube/types.ts'
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
  readonly over: AbortController
  /** Work is done; only the server does not know yet. */
  outcome?: 'initialized' | InitializationFailed | undefined
}

/**
 * Runs until `signal` aborts and all work under way has ended. Never rejects: whatever goes wrong is logged and tried
 * again.
 */
export async function runInitializer(options: InitializerOptions): Promise<void> {
  const { name: initializer, client, initialize, signal, clock = systemClock, log = stderrLog } = options
  const turns = new Map<string, Turn>()
  let enqueue: (name: string) => void = () => {}

  const waiting = new Informer({
    client,
    clock,
    resource: namespaceResource,
    fieldSelector: 'status.phase=Initializing',
    includeUninitialized: true,
    onError: (error) => log.warn({ error, initializer }, 'namespaces can not be watched; it is tried again'),
    onChange(next, old) {
      const name = (next ?? old)?.metadata.name ?? ''
      const id = next === undefined ? undefined : turnOf(next, initializer)
      const known = turns.get(name)
      // Only a turn that begins is work: our own report of progress must not call us before the backoff is over.
      if (known?.id === id) return
      known?.over.abort()
      turns.delete(name)
      if (id === undefined) return
      turns.set(name, { id, over: new AbortController() })
      enqueue(name)
    },
  })

  const reconcile = async ({ name }: ObjectKey): Promise<undefined> => {
    const turn = turns.get(name)
    const namespace = waiting.find('', name)
    if (turn === undefined || namespace === undefined) return undefined
    turn.outcome ??= await work(namespace, turn)
    if (turn.outcome !== undefined) await settle(namespace, turn, turn.outcome)
    return undefined
  }

  /** Undefined: the namespace waits for it no more. */
  const work = async (namespace: Namespace, turn: Turn): Promise<Turn['outcome']> => {
    const report = progressReporter({ client, namespace, initializer, turn: turn.id, log })
    const stop = AbortSignal.any([signal, turn.over.signal])
    try {
      await initialize(namespace, client, { signal: stop, progress: report })
      return 'initialized'
    } catch (error) {
      if (turn.over.signal.aborted) return undefined
      if (error instanceof InitializationFailed) return error
      if (!signal.aborted) await report(`the last attempt failed: ${messageOf(error)}; it is tried again`)
      throw error
    }
  }

  const settle = async (seen: Namespace, turn: Turn, outcome: NonNullable<Turn['outcome']>): Promise<void> => {
    let namespace = seen
    for (let conflicts = 0; ; conflicts++) {
      if (turn.over.signal.aborted || turnOf(namespace, initializer) !== turn.id) return
      try {
        // The version goes along: only what was looked at may be changed.
        const { name = '', resourceVersion } = namespace.metadata
        const initializers = outcome === 'initialized' ? withoutFirst(namespace) : { result: resultOf(outcome) }
        const patch = { metadata: { resourceVersion }, spec: { initializers } }
        await client.patch(namespaceResource, { name }, patch, { fieldManager: initializer })
        return
      } catch (error) {
        if (isNotFound(error)) return
        if (!isConflict(error) || conflicts >= maxConflicts) throw error
      }
      const again = await find(namespace.metadata.name ?? '')
      if (again === undefined) return
      namespace = again
    }
  }

  const find = async (name: string): Promise<Namespace | undefined> =>
    (await findObject(client, namespaceResource, { name })) as Namespace | undefined

  const source: Source = {
    async run(add, stop) {
      enqueue = (name) => add({ namespace: '', name })
      await Promise.all([waiting.run(stop), aborted(stop)])
    },
  }
  const workers = options.concurrency ?? defaultConcurrency
  const controller = { name: initializer, workers, sources: [source], reconciler: { reconcile } }
  // Timers of a clock let the process end. This one has work until it is told to stop, also while no server is there.
  const alive = setInterval(() => {}, hourMs)
  try {
    await runController(controller, { clock, log }, signal)
  } finally {
    clearInterval(alive)
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
