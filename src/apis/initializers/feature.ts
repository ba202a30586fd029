/** Namespace initializers: who acts on a new namespace before it may be used, and the creates that wait for it. */
import { topic } from '../../base/diagnostics.ts'
import type { Feature, FeatureContext, Instruments } from '../../feature/feature.ts'
import { recorderOf } from '../events/recorder.ts'
import { namespaceLookup } from '../namespaces/lookup.ts'
import type { Namespace } from '../namespaces/types.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { namespaceInitializers } from './admission.ts'
import { NamespaceHold } from './hold.ts'
import { InitializerConfigurations } from './initializer-configurations.ts'
import { initializerController, initializerControllerName } from './reconcile.ts'
import { initializerConfigurationStrategy } from './strategy.ts'
import { TurnObserver, type TurnOutcome } from './turn-observer.ts'
import { initializerConfigurationProperties } from './types.ts'

export { InitializerConfigurations, NamespaceHold }

export interface InitializersOptions {
  /** Without it the kind is served and nothing is ever pending. */
  readonly enabled: boolean
  readonly configurations: InitializerConfigurations
  readonly hold: NamespaceHold
  /** Templates match the namespace: population is its first initializer. */
  isPopulated(namespace: Namespace): boolean
}

interface EndedTurn {
  readonly initializer: string
  readonly outcome: TurnOutcome
  readonly durationMs: number
}

const turnEnded = topic<EndedTurn>('initializers.turnEnded')

export const initializers = ({ enabled, configurations, hold, isPopulated }: InitializersOptions): Feature => ({
  name: 'initializers',
  kinds: [
    {
      group: 'admissionregistration.k8s.io',
      version: 'v1alpha1',
      resource: 'namespaceinitializerconfigurations',
      kind: 'NamespaceInitializerConfiguration',
      namespaced: false,
      properties: Object.fromEntries(initializerConfigurationProperties),
      description: 'NamespaceInitializerConfiguration names those who act on a new namespace before it may be used.',
    },
  ],
  controllerRules: {
    // Watches the deadlines of initializers: skips one, or fails and deletes the namespace.
    [initializerControllerName]: [
      may([...read, 'delete', 'initialize', 'patch', 'update'], '', 'namespaces'),
      may('patch update', '', 'namespaces/status'),
      may(read, 'admissionregistration.k8s.io', 'namespaceinitializerconfigurations'),
      events,
    ],
  },
  open(context) {
    const { authorizer, clock, lister } = context
    const lookup = namespaceLookup(context)
    configurations.follow(context)
    lister.follow(lookup.type, (next, old) => hold.changed(next?.name ?? old?.name ?? '', () => next?.object))
    const strategies = {
      'namespaceinitializerconfigurations.admissionregistration.k8s.io': initializerConfigurationStrategy,
    }
    const turns = observeTurns(context, enabled)
    const metrics = (instruments: Instruments): void => {
      initializerMetrics(context, instruments, { hold, turns })
    }
    if (!enabled) return { strategies, metrics }
    return {
      strategies,
      admission: [
        namespaceInitializers({
          lookup,
          authorizer,
          pendingFor: (namespace) => configurations.pendingFor(namespace, isPopulated(namespace)),
        }),
      ],
      controllers: (run) => [
        initializerController({
          client: run.client(initializerControllerName, true),
          clock,
          events: recorderOf(context, run, initializerControllerName),
          onError: run.onError(initializerControllerName),
          announce: (uid, outcome) => turns.announce(uid, outcome),
          seen: (name) => turns.changed(name, lookup.find(name)),
        }),
      ],
      metrics,
    }
  },
})

const mark = Buffer.from('"initializers":')

function observeTurns(context: FeatureContext, enabled: boolean): TurnObserver {
  const { clock, diagnostics, isLeading, lister } = context
  const observer = new TurnObserver({
    clock,
    // Counted once, and where it is known which initializer was skipped.
    onEnd(initializer, outcome, durationMs) {
      if (isLeading()) diagnostics.publish(turnEnded, { initializer, outcome, durationMs })
    },
  })
  if (!enabled) return observer
  // Of those that exist the leader's controller tells.
  lister.follow(namespaceLookup(context).type, (next, old) => {
    const name = next?.name ?? old?.name ?? ''
    // By bytes first: nearly all are initialized, and need not be parsed.
    const mayWait =
      next !== undefined && Buffer.from(next.bytes.buffer, next.bytes.byteOffset, next.bytes.length).includes(mark)
    if (mayWait || observer.isWaiting(name)) observer.changed(name, next?.object)
  })
  return observer
}

/** Seconds: an initializer may be a quick write or a slow service elsewhere. */
const turnBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600]

/** How turns end that count as failures of the initializer, and why. */
const failureReason: Partial<Record<TurnOutcome, string>> = {
  failed: 'reported',
  timeout: 'deadline',
  skipped: 'deadline',
}

function initializerMetrics(
  { diagnostics }: FeatureContext,
  instruments: Instruments,
  { hold, turns }: { readonly hold: NamespaceHold; readonly turns: TurnObserver },
): void {
  const durations = instruments.histogram({
    name: 'borough_namespace_initializer_duration_seconds',
    help: 'How long the turns of initializers took, and how they ended.',
    labels: ['initializer', 'outcome'],
    buckets: turnBuckets,
  })
  const failures = instruments.counter({
    name: 'borough_namespace_initializer_failures_total',
    help: 'Turns that ended by a failure that the initializer reported, or at its deadline.',
    labels: ['initializer', 'reason'],
  })
  instruments.gauge({
    name: 'borough_namespaces_awaiting_initializer',
    help: 'Namespaces that wait for this initializer to act.',
    labels: ['initializer'],
    // Of several processes each sees all.
    aggregator: 'max',
    collect(gauge) {
      for (const [initializer, count] of turns.waiting()) gauge.set({ initializer }, count)
    },
  })
  instruments.gauge({
    name: 'borough_held_namespace_creates',
    help: 'Creates of namespaces that wait for initializers.',
    collect: (gauge) => gauge.set(hold.waiting),
  })
  diagnostics.subscribe(turnEnded, ({ initializer, outcome, durationMs }) => {
    durations.observe({ initializer, outcome }, durationMs / 1000)
    const reason = failureReason[outcome]
    if (reason !== undefined) failures.inc({ initializer, reason })
  })
}
