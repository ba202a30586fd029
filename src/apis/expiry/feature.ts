/** Namespaces that end by themselves: who may say when, and the controller that ends them. */
import { topic } from '../../base/diagnostics.ts'
import { restBetween } from '../../base/rest-between.ts'
import { sweptAtOnce } from '../../controller/source.ts'
import type { Feature, FeatureContext, Instruments } from '../../feature/feature.ts'
import { versionSteps } from '../../feature/type-feed.ts'
import type { Resource } from '../../kube/resource.ts'
import { parseTime } from '../../kube/time.ts'
import type { KubeObject } from '../../kube/types.ts'
import { recorderOf } from '../events/recorder.ts'
import { namespaceLookup } from '../namespaces/lookup.ts'
import { events, may, read } from '../rbac/bootstrap-rules.ts'
import { type ExpiryTemplates, namespaceExpiry, settledExpiry } from './admission.ts'
import { ExpiryClock, hasExpired } from './expiry-clock.ts'
import { ExpirySchedule, type NamespaceFeed } from './expiry-schedule.ts'
import { expiryController } from './reconcile.ts'
import { expiresAtAnnotation, expiryControllerName } from './types.ts'

export { ExpiryClock, type ExpiryTemplates, hasExpired, settledExpiry }

interface Lease extends KubeObject {
  spec?: { holderIdentity?: string; renewTime?: string }
}

const leaseResource: Resource<Lease> = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }

export interface ExpiryOptions extends ExpiryTemplates {
  readonly expiryClock: ExpiryClock
  /** The Lease that leaders of this server renew. */
  readonly controllersLease: { readonly namespace: string; readonly name: string }
}

const expiredTopic = topic<undefined>('expiry.expired')

export const expiry = ({ expiryClock, controllersLease, ...templates }: ExpiryOptions): Feature => ({
  name: 'expiry',
  controllerRules: {
    [expiryControllerName]: [
      may([...read, 'delete'], '', 'namespaces'),
      may('patch update', '', 'namespaces/status'),
      events,
    ],
  },
  open(context) {
    const { authorizer, clock, diagnostics } = context
    const feed = feedOf(context)
    followCommits(context, expiryClock, controllersLease)
    let schedule: ExpirySchedule | undefined
    return {
      admission: [namespaceExpiry({ authorizer, clock: expiryClock, ...templates })],
      controllers(run) {
        schedule = new ExpirySchedule(feed, clock)
        return [
          expiryController({
            client: run.client(expiryControllerName),
            clock,
            expiryClock,
            events: recorderOf(context, run, expiryControllerName),
            feed,
            schedule,
            isJudgedByServer: true,
            expired: () => diagnostics.publish(expiredTopic, undefined),
          }),
        ]
      },
      metrics: (instruments) =>
        expiryMetrics(context, instruments, {
          pending: () => (context.isLeading() ? (schedule?.pending ?? 0) : 0),
          isSuspended: () => expiryClock.fault() !== undefined,
        }),
    }
  },
})

const mark = Buffer.from(`"${expiresAtAnnotation}"`)

/** By bytes first: most namespaces have no end, and are not parsed. */
function feedOf(context: FeatureContext): NamespaceFeed {
  const { lister, stored } = context
  const { type, find } = namespaceLookup(context)
  const hasEnd = (bytes: Uint8Array): boolean =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(mark)
  return {
    find,
    async *existing(signal) {
      const rest = restBetween()
      for (const step of versionSteps(stored, type)) {
        for (const namespace of step) if (hasEnd(namespace.bytes)) yield namespace.object
        if (step.length === sweptAtOnce) await rest()
        if (signal.aborted) return
      }
    },
    subscribe: (listener) =>
      lister.follow(type, (next, old) => {
        const name = next?.name ?? old?.name ?? ''
        if (next === undefined) listener(name, undefined)
        else if (hasEnd(next.bytes) || (old !== undefined && hasEnd(old.bytes))) listener(name, next.object)
      }),
  }
}

/** Leaders renew their lease every two seconds: there the clocks of other replicas show. */
function followCommits(
  { lister, typeOf, records, isOwnLease }: FeatureContext,
  expiryClock: ExpiryClock,
  lease: ExpiryOptions['controllersLease'],
): void {
  const { openedCommitMs } = records
  if (openedCommitMs !== undefined) expiryClock.sawCommit(openedCommitMs)
  lister.subscribe(typeOf(leaseResource), (next, old) => {
    if (next?.name !== lease.name || next.namespace !== lease.namespace) return
    const { holderIdentity: holder = '', renewTime = '' } = next.object.spec ?? {}
    const renewedMs = parseTime(renewTime)
    if (renewedMs === undefined) return
    expiryClock.sawCommit(renewedMs)
    // What is there at the start, and what is given back, may be from long ago.
    if (old !== undefined && holder !== '' && !isOwnLease(holder)) expiryClock.sawRenewal(renewedMs)
  })
}

function expiryMetrics(
  { diagnostics }: FeatureContext,
  instruments: Instruments,
  { pending, isSuspended }: { pending(): number; isSuspended(): boolean },
): void {
  const expired = instruments.counter({
    name: 'borough_namespaces_expired_total',
    help: 'Namespaces that were deleted because their time had come.',
  })
  diagnostics.subscribe(expiredTopic, () => expired.inc())
  instruments.gauge({
    name: 'borough_namespaces_expiring',
    help: 'Namespaces with a time at which they end, as the leader counts them.',
    aggregator: 'max',
    collect: (gauge) => gauge.set(pending()),
  })
  instruments.gauge({
    name: 'borough_namespace_expiry_suspended',
    help: '1 while no namespace expires because the clock is not trusted.',
    aggregator: 'max',
    collect: (gauge) => gauge.set(isSuspended() ? 1 : 0),
  })
}
