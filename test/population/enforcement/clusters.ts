/**
 * Where templates are enforced: on Borough itself, and by `borough populate` on a cluster that knows nothing of them.
 * Either can be stopped and killed, and goes on from what is in its store.
 */
import type { AppliedObject } from '../../../src/apis/templates/applied-records.ts'
import { recordLabel } from '../../../src/apis/templates/config-map-records.ts'
import { defaultConfig } from '../../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../../src/app/control-plane.ts'
import { type Clock, systemClock } from '../../../src/base/clock.ts'
import { randomIds } from '../../../src/base/ids.ts'
import { silentLog } from '../../../src/base/log.ts'
import type { Client } from '../../../src/client/client.ts'
import { isNotFound } from '../../../src/kube/status-error.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { type AdmissionBy, type Populate, startPopulate } from '../../../src/populate/populate.ts'
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.ts'
import { type Line, lineTo } from './killable-storage.ts'

export interface Cluster extends AsyncDisposable {
  readonly store: MemoryStorage
  readonly plane: ControlPlane
  /** The records in the store lie below it. */
  readonly recordPrefix: string
  readRecord(stored: StoredRecord): NamespaceRecord
  /** What enforces ends in good order, and another takes its place. */
  restart(): Promise<void>
  /** It is cut off after so many writes, and another takes its place. */
  kill(writes: number): Promise<void>
}

export interface NamespaceRecord {
  readonly namespace: string
  readonly objects: readonly AppliedObject[]
}

/** As it lies in the store: Borough's own, or a ConfigMap. */
export interface StoredRecord extends KubeObject {
  readonly objects?: readonly AppliedObject[]
  readonly data?: Readonly<Record<string, string>>
}

const haste = 20
/** What is tried again after a minute is tried again after three seconds. */
const hasty: Clock = {
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() * haste,
  after: (ms, run) => systemClock.after(ms / haste, run),
}
const history = { ageMs: 3_600_000, bytes: 2 ** 30 }

export async function onBorough(): Promise<Cluster> {
  const store = new MemoryStorage()
  let line: Line = lineTo(store)
  const open = (): Promise<ControlPlane> => {
    line = lineTo(store)
    return createControlPlane({ ...defaultConfig, history, clock: hasty }, { opened: Promise.resolve(line.storage) })
  }
  let plane = await open()
  return {
    store,
    get plane() {
      return plane
    },
    recordPrefix: '/registry/borough/applied/',
    readRecord: ({ metadata, objects = [] }) => ({ namespace: metadata.name ?? '', objects }),
    async restart() {
      await plane[Symbol.asyncDispose]()
      plane = await open()
    },
    async kill(writes) {
      line.cutAfter(writes)
      await plane[Symbol.asyncDispose]()
      plane = await open()
    },
    [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose](),
  }
}

const own = 'borough-system'
const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }

export const elsewhere = (): Promise<Cluster> => populatedCluster((client) => client)

/** Webhooks decide about namespaces: faults are told one by one. */
export const elsewhereByWebhooks = (): Promise<Cluster> => populatedCluster((client) => client, 'webhooks')

/** As on a cluster before ValidatingAdmissionPolicy. */
export const elsewhereWithoutPolicies = (): Promise<Cluster> =>
  populatedCluster((client) => {
    const { discovery } = client
    const findKind: typeof discovery.findKind = (apiVersion, kind) =>
      kind === 'ValidatingAdmissionPolicy' ? Promise.resolve(undefined) : discovery.findKind(apiVersion, kind)
    const older = { findKind, kinds: () => discovery.kinds() }
    return new Proxy(client, {
      get(target, property) {
        if (property === 'discovery') return older
        const value: unknown = Reflect.get(target, property, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  })

/** `seenAs`: the client through which `borough populate` sees it. */
export async function populatedCluster(
  seenAs: (client: Client) => Client,
  admission: AdmissionBy = 'auto',
): Promise<Cluster> {
  const store = new MemoryStorage()
  const plane = await createControlPlane(
    { ...defaultConfig, history, population: false, featureGates: { NamespaceInitializers: false } },
    { opened: Promise.resolve(store) },
  )
  const client = plane.client()
  let mortal = mortalClient(seenAs(client))
  const open = (): Promise<Populate> => {
    mortal = mortalClient(seenAs(client))
    return startPopulate({
      client: mortal.client,
      clock: hasty,
      ids: randomIds,
      log: silentLog,
      listen: { host: '127.0.0.1', port: 0 },
      namespace: own,
      reachedAt: 'listen',
      admission,
    })
  }
  let populate = await open()
  return {
    store,
    plane,
    recordPrefix: `/registry/configmaps/${own}/applied-`,
    readRecord: ({ metadata, data }) => ({
      namespace: metadata.labels?.[recordLabel] ?? '',
      objects: JSON.parse(data?.['objects'] ?? '[]') as AppliedObject[],
    }),
    async restart() {
      await populate[Symbol.asyncDispose]()
      populate = await open()
    },
    async kill(writes) {
      mortal.killAfter(writes)
      await populate[Symbol.asyncDispose]()
      // A killed process gives no lease back; the next one need not wait for it to lapse.
      await client.delete(leases, { namespace: own, name: 'borough-population' }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
      populate = await open()
    },
    async [Symbol.asyncDispose]() {
      await populate[Symbol.asyncDispose]()
      await plane[Symbol.asyncDispose]()
    },
  }
}

const writes: ReadonlySet<PropertyKey> = new Set(['create', 'update', 'patch', 'apply', 'delete', 'deleteCollection'])

/** A client whose process may be killed: its last write arrives, and the answer is lost. */
function mortalClient(client: Client): { readonly client: Client; killAfter(writes: number): void } {
  let left = Number.POSITIVE_INFINITY
  const dead = (): Promise<never> => Promise.reject(new Error('killed'))
  const proxy = new Proxy(client, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        if (property === 'watch') return value.apply(target, args)
        if (!writes.has(property)) return left <= 0 ? dead() : value.apply(target, args)
        left--
        if (left < 0) return dead()
        const answer = value.apply(target, args) as Promise<unknown>
        return left > 0 ? answer : answer.then(dead, dead)
      }
    },
  })
  return {
    client: proxy,
    killAfter(count) {
      left = count
    },
  }
}
