/** Which controllers run, what feeds them and whom they act as. */
import { setImmediate } from 'node:timers/promises'
import { isChecked, policyControllerName, policyReconciler } from '../apis/admissionpolicies/reconcile.ts'
import { type AdmissionPolicy, policyResource } from '../apis/admissionpolicies/types.ts'
import { apiServiceController, apiServiceControllerName } from '../apis/apiservices/reconcile.ts'
import { awaitsSignature, certificateControllerName, certificateSigner } from '../apis/certificates/reconcile.ts'
import { type SigningRequest, signingRequestResource } from '../apis/certificates/types.ts'
import { definitionController, definitionControllerName } from '../apis/crds/reconcile.ts'
import { expiredEvents } from '../apis/events/expiry.ts'
import { eventTtlControllerName, eventTtlReconciler } from '../apis/events/reconcile.ts'
import { EventRecorder } from '../apis/events/recorder.ts'
import { garbageCollector, garbageCollectorName } from '../apis/garbage-collection/reconcile.ts'
import { initializerController, initializerControllerName } from '../apis/initializers/reconcile.ts'
import type { TurnObserver } from '../apis/initializers/turn-observer.ts'
import { ManifestFolder } from '../apis/mirrorpods/manifest-folder.ts'
import type { ManifestSource } from '../apis/mirrorpods/manifest-source.ts'
import { ManifestUrl } from '../apis/mirrorpods/manifest-url.ts'
import { mirrorPodController, mirrorPodControllerName } from '../apis/mirrorpods/reconcile.ts'
import { namespaceReconciler } from '../apis/namespaces/reconcile.ts'
import { podCollector, podCollectorName } from '../apis/pods/reconcile.ts'
import { nodeResource, podResource } from '../apis/pods/types.ts'
import { quotaControllerName, quotaReconciler, showsWhatHolds } from '../apis/quotas/reconcile.ts'
import { quotaResource, type ResourceQuota } from '../apis/quotas/types.ts'
import { aggregationController, aggregationControllerName } from '../apis/rbac/reconcile.ts'
import { type Birthright, birthrightReconciler, birthrights } from '../apis/serviceaccounts/reconcile.ts'
import { portClaims } from '../apis/services/claims.ts'
import {
  claimFaults,
  type ServiceClaims,
  serviceClaimControllerName,
  serviceClaimReconciler,
} from '../apis/services/reconcile.ts'
import { ipAddressResource, type Service, serviceResource } from '../apis/services/types.ts'
import { populationControllers } from '../apis/templates/reconcile.ts'
import { templateControllerName } from '../apis/templates/types.ts'
import { aborted } from '../base/aborted.ts'
import type { Clock } from '../base/clock.ts'
import { groupPriority } from '../catalog/facts/groups.ts'
import type { Client } from '../client/client.ts'
import type { ControllerSpec, Source } from '../controller/controller.ts'
import { type ControllerRuntime, runController } from '../controller/run-controller.ts'
import { requiredType } from '../kube/resource-type.ts'
import { serviceAccountUser, type UserInfo } from '../kube/user.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Pki } from '../pki/pki.ts'
import type { StoredObject } from '../registry/registry.ts'
import type { ControllerName } from './catalog.ts'
import type { ManifestConfig } from './config.ts'
import { instancesIn } from './custom-resources.ts'
import { eventFeed } from './event-feed.ts'
import { ownershipFeed } from './ownership-feed.ts'
import type { Core } from './wire.ts'

/** `sharesValues`: only for those who never change an object they were given. */
export type ClientFor = (user: UserInfo, userAgent: string, sharesValues?: boolean) => Client

/** Each acts as a service account of its own, through the pipeline. Resolves when all have stopped. */
export async function runControllers(
  core: Core,
  pki: Pki,
  client: ClientFor,
  { metrics, turns }: { readonly metrics: Metrics; readonly turns: TurnObserver },
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, controllers } = core.config
  const as = (name: string, sharesValues?: boolean): Client =>
    client(serviceAccountUser('kube-system', name), name, sharesValues)
  const specs = controllerSpecs(core, pki, turns, as).filter(([name]) => controllers(name))
  const runtime: ControllerRuntime = {
    clock,
    log,
    observe: (controller, result, durationMs) => metrics.reconciled(controller, result, durationMs),
  }
  await Promise.all(specs.map(([, spec]) => runController(spec, runtime, signal)))
}

function controllerSpecs(
  core: Core,
  pki: Pki,
  turns: TurnObserver,
  as: (name: string, sharesValues?: boolean) => Client,
): [ControllerName, ControllerSpec][] {
  const { clock, ids, log, population, featureGates } = core.config
  const { content, lister } = core
  const terminating: Source = {
    async run(enqueue, signal) {
      const stop = content.onChange((name) => enqueue({ namespace: '', name }))
      const forget = lister.subscribe(core.namespaces.type, (next) => {
        if (next !== undefined && next.object.metadata.deletionTimestamp !== undefined) {
          enqueue({ namespace: '', name: next.name })
        }
      })
      await aborted(signal)
      stop()
      forget()
    },
  }
  const specs: [ControllerName, ControllerSpec][] = [
    [
      'namespace-controller',
      {
        name: 'namespace-controller',
        workers: 10,
        sources: [terminating],
        reconciler: namespaceReconciler({ client: as('namespace-controller'), content, clock }),
      },
    ],
  ]
  specs.push([
    definitionControllerName,
    definitionController({
      client: as(definitionControllerName),
      clock,
      definitions: core.customResources,
      instances: instancesIn(core.cache),
    }),
  ])
  for (const birthright of birthrights(pki.caCert)) {
    const { controller } = birthright
    specs.push([
      controller,
      {
        name: controller,
        workers: 4,
        sources: [lostBirthrights(core, birthright)],
        reconciler: birthrightReconciler(as(controller), birthright),
      },
    ])
  }
  const warn = (component: string) => (error: unknown) =>
    log.warn({ error, component }, 'a watch broke and is taken up again')
  specs.push([
    aggregationControllerName,
    aggregationController({
      client: as(aggregationControllerName),
      clock,
      onError: warn(aggregationControllerName),
    }),
  ])
  const eventsOf = (component: string): EventRecorder =>
    new EventRecorder({ client: as(component), clock, ids, log, component })
  specs.push([
    garbageCollectorName,
    garbageCollector({
      client: as(garbageCollectorName),
      feed: ownershipFeed(core.cache, core.catalog.types),
      events: eventsOf(garbageCollectorName),
    }),
  ])
  specs.push([
    eventTtlControllerName,
    {
      name: eventTtlControllerName,
      workers: 2,
      sources: [expiredEvents(eventFeed(core), clock)],
      reconciler: eventTtlReconciler(as(eventTtlControllerName)),
    },
  ])
  specs.push([
    podCollectorName,
    {
      name: podCollectorName,
      workers: 4,
      sources: [endingPods(core)],
      reconciler: podCollector({ client: as(podCollectorName), clock, nodeExists: core.nodeExists }),
    },
  ])
  specs.push([
    certificateControllerName,
    {
      name: certificateControllerName,
      workers: 1,
      sources: [approvedRequests(core)],
      reconciler: certificateSigner({
        client: as(certificateControllerName),
        sign: (request, publicKey) => pki.signClientCertificate(request, publicKey),
      }),
    },
  ])
  specs.push([
    quotaControllerName,
    {
      name: quotaControllerName,
      workers: 1,
      sources: [wrongQuotas(core)],
      reconciler: quotaReconciler(as(quotaControllerName)),
    },
  ])
  specs.push([
    policyControllerName,
    {
      name: policyControllerName,
      workers: 1,
      sources: [uncheckedPolicies(core)],
      reconciler: policyReconciler(as(policyControllerName), core.catalog.types),
    },
  ])
  specs.push([
    apiServiceControllerName,
    apiServiceController({
      client: as(apiServiceControllerName),
      clock,
      types: core.catalog.types,
      groupPriority,
      onError: warn(apiServiceControllerName),
    }),
  ])
  const claims = serviceClaims(core)
  specs.push([
    serviceClaimControllerName,
    {
      name: serviceClaimControllerName,
      workers: 2,
      sources: [unclaimedServices(core, claims)],
      reconciler: serviceClaimReconciler(as(serviceClaimControllerName), eventsOf(serviceClaimControllerName), claims),
    },
  ])
  const { manifests } = core.config
  if (manifests) {
    specs.push([
      mirrorPodControllerName,
      mirrorPodController({
        client: as(mirrorPodControllerName),
        clock,
        log,
        events: eventsOf(mirrorPodControllerName),
        clusterId: manifests.clusterId,
        sources: manifestSources(manifests, clock),
        onError: warn(mirrorPodControllerName),
      }),
    ])
  }
  if (featureGates.NamespaceInitializers) {
    specs.push([
      initializerControllerName,
      initializerController({
        client: as(initializerControllerName, true),
        clock,
        events: eventsOf(initializerControllerName),
        onError: warn(initializerControllerName),
        announce: (uid, outcome) => turns.announce(uid, outcome),
      }),
    ])
  }
  if (population) {
    const deps = {
      client: as(templateControllerName, true),
      events: eventsOf(templateControllerName),
      births: core.births,
    }
    for (const spec of populationControllers({ ...deps, clock, onError: warn(templateControllerName) })) {
      specs.push([templateControllerName, spec])
    }
  }
  return specs
}

/** Namespaces that live and lack it, or whose copy was changed: at the start, and whenever it changes. */
function lostBirthrights({ catalog, lister, namespaces }: Core, { resource, name, wanted }: Birthright): Source {
  return {
    async run(enqueue, signal) {
      const type = requiredType(catalog.types, resource)
      // By bytes: a start with many namespaces parses none of the copies that are right.
      const data = Buffer.from(JSON.stringify(wanted('')['data'] ?? {}).slice(1, -1))
      for (const { name: namespace } of lister.list(namespaces.type, '')) {
        const there = lister.find(type, namespace, name)
        if (there && Buffer.from(there.bytes.buffer, there.bytes.byteOffset, there.bytes.length).includes(data))
          continue
        enqueue({ namespace: '', name: namespace })
      }
      const stop = lister.subscribe(type, (_next, old) => {
        if (old?.name !== name) return
        const namespace = namespaces.find(old.namespace)
        if (namespace !== undefined && namespace.metadata.deletionTimestamp === undefined) {
          enqueue({ namespace: '', name: old.namespace })
        }
      })
      // What was lost while nobody led.
      const forget = lister.subscribe(namespaces.type, (next) => {
        if (next === undefined || lister.find(type, next.name, name) !== undefined) return
        if (next.object.metadata.deletionTimestamp === undefined) enqueue({ namespace: '', name: next.name })
      })
      forget()
      await aborted(signal)
      stop()
    },
  }
}

function manifestSources({ path, url, pollMs }: ManifestConfig, clock: Clock): ManifestSource[] {
  const polling = { clock, ...(pollMs === undefined ? {} : { pollMs }) }
  return [
    ...(path === undefined ? [] : [new ManifestFolder({ path, ...polling })]),
    ...(url === undefined ? [] : [new ManifestUrl({ url, ...polling })]),
  ]
}

function serviceClaims({ catalog, lister }: Core): ServiceClaims {
  const type = requiredType(catalog.types, ipAddressResource)
  const ports = portClaims(type)
  return {
    address: (name) => lister.find(type, '', name)?.object,
    port: (claim) => lister.find(ports, '', claim)?.object,
  }
}

/** So many Services are looked at before others have a turn. */
const servicesAtOnce = 200

/** Services that have what they have not claimed: all at the start, a few at a time; then those that change. */
function unclaimedServices({ catalog, lister }: Core, claims: ServiceClaims): Source {
  return {
    async run(enqueue, signal) {
      const type = requiredType(catalog.types, serviceResource)
      const look = ({ namespace, name, object }: StoredObject): void => {
        if (claimFaults(object as Service, claims).length > 0) enqueue({ namespace, name })
      }
      let isFirst = true
      const forget = lister.subscribe(type, (next) => {
        if (!isFirst && next !== undefined) look(next)
      })
      isFirst = false
      let looked = 0
      for (const service of lister.list(type, '')) {
        if (++looked % servicesAtOnce === 0) await setImmediate()
        if (signal.aborted) break
        look(service)
      }
      await aborted(signal)
      forget()
    },
  }
}

/** Quotas that show something else than what they hold to. */
function wrongQuotas({ lister, catalog }: Core): Source {
  return {
    async run(enqueue, signal) {
      const type = requiredType(catalog.types, quotaResource)
      const stop = lister.subscribe(type, (next) => {
        // By bytes first: the quota of a busy namespace changes with every object in it.
        if (next && !hasSameLimits(next.bytes) && !showsWhatHolds(next.object as ResourceQuota)) {
          enqueue({ namespace: next.namespace, name: next.name })
        }
      })
      await aborted(signal)
      stop()
    },
  }
}

/** Policies whose present form has not been checked against the types they are about. */
function uncheckedPolicies({ lister, catalog }: Core): Source {
  return {
    async run(enqueue, signal) {
      const type = requiredType(catalog.types, policyResource)
      const stop = lister.subscribe(type, (next) => {
        if (next && !isChecked(next.object as AdmissionPolicy)) enqueue({ namespace: '', name: next.name })
      })
      await aborted(signal)
      stop()
    },
  }
}

const limitsMark = '"hard":{'

/** The limits of the spec and those of the status are the same text. False = look closer. */
function hasSameLimits(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const limitsAt = (from: number): Buffer => text.subarray(from, text.indexOf('}', from))
  const first = text.indexOf(limitsMark)
  const second = first < 0 ? -1 : text.indexOf(limitsMark, first + 1)
  return second >= 0 && limitsAt(first).equals(limitsAt(second))
}

const graceMark = Buffer.from('"deletionGracePeriodSeconds":')
const isMarked = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(graceMark)

/** Signing requests that have been approved for us. */
function approvedRequests({ lister, catalog }: Core): Source {
  return {
    async run(enqueue, signal) {
      const type = requiredType(catalog.types, signingRequestResource)
      const forget = lister.subscribe(type, (next) => {
        if (next && awaitsSignature(next.object as SigningRequest)) enqueue({ namespace: '', name: next.name })
      })
      await aborted(signal)
      forget()
    },
  }
}

/** Pods that were given time to end; again when their node goes. */
function endingPods({ lister, catalog }: Core): Source {
  return {
    async run(enqueue, signal) {
      const pods = requiredType(catalog.types, podResource)
      const nodes = requiredType(catalog.types, nodeResource)
      const ending = new Map<string, { readonly namespace: string; readonly name: string }>()
      const forgetPods = lister.subscribe(pods, (next, old) => {
        const { namespace, name } = next ?? old ?? { namespace: '', name: '' }
        // By bytes first: a start with many pods does not parse them all.
        if (next && isMarked(next.bytes) && next.object.metadata.deletionGracePeriodSeconds) {
          ending.set(`${namespace}/${name}`, { namespace, name })
          enqueue({ namespace, name })
        } else ending.delete(`${namespace}/${name}`)
      })
      const forgetNodes = lister.subscribe(nodes, (next) => {
        if (next === undefined) for (const key of ending.values()) enqueue(key)
      })
      await aborted(signal)
      forgetPods()
      forgetNodes()
    },
  }
}
