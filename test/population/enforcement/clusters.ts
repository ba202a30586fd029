/**
 * Where templates are enforced: on Borough itself, and by `borough populate` on a cluster that knows nothing of them.
 * Either can be stopped and killed, and goes on from what is in its store.
 */
import { defaultConfig } from '../../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../../src/app/control-plane.ts'
import { type Clock, systemClock } from '../../../src/base/clock.ts'
import { randomIds } from '../../../src/base/ids.ts'
import { silentLog } from '../../../src/base/log.ts'
import type { Client } from '../../../src/client/client.ts'
import { fetchAdapter } from '../../../src/http/fetch.ts'
import { isNotFound } from '../../../src/kube/status-error.ts'
import { adminUser, type UserInfo } from '../../../src/kube/user.ts'
import { type AdmissionBy, type Populate, startPopulate } from '../../../src/populate/populate.ts'
import { MemoryStorage } from '../../../src/storage/memory/memory-storage.ts'
import { foreignFeatures } from '../../support/foreign-features.ts'
import { type OtherCluster, otherKubeconfig, startOtherCluster } from '../../support/other-cluster.ts'
import { type Line, lineTo } from './killable-storage.ts'
import { configMapLedger, type Ledger, storedLedger, watchedLedger } from './ledger.ts'

export interface Cluster extends AsyncDisposable {
  readonly plane: Plane
  /** What is stored, and all that changes there. */
  readonly ledger: Ledger
  /** What enforces ends in good order, and another takes its place. */
  restart(): Promise<void>
  /** It is cut off after so many writes, and another takes its place. */
  kill(writes: number): Promise<void>
}

/** What serves the API. */
export interface Plane {
  /** As the administrator, or as any user. */
  client(user?: UserInfo): Client
  send(request: Request, user: UserInfo): Promise<Response>
}

const planeOf = (plane: ControlPlane): Plane => ({
  client: (user) => plane.client(user),
  send: (request, user) => fetchAdapter(plane.serve, user)(request),
})

function planeElsewhere(cluster: OtherCluster): Plane {
  return {
    client: (user = adminUser) => cluster.clientAs(user.username, user.groups),
    async send(request, user) {
      const { pathname, search } = new URL(request.url)
      const { method, headers, signal } = request
      const body = await request.text()
      return cluster.fetch(`${pathname}${search}`, { method, headers, signal, user, ...(body === '' ? {} : { body }) })
    },
  }
}

/**
 * What is tried again after a minute is tried again after three seconds. On a cluster of processes after twenty: a
 * lease that must be renewed within a third of a second is lost there, and with it the work under way.
 */
const haste = otherKubeconfig === undefined ? 20 : 3
const hasty: Clock = {
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() * haste,
  after: (ms, run) => systemClock.after(ms / haste, run),
}
const history = { ageMs: 3_600_000, bytes: 2 ** 30 }

export async function onBorough(clock: Clock = hasty): Promise<Cluster> {
  const store = new MemoryStorage()
  let line: Line = lineTo(store)
  const open = (): Promise<ControlPlane> => {
    line = lineTo(store)
    return createControlPlane({ ...defaultConfig, history, clock }, { opened: Promise.resolve(line.storage) })
  }
  let plane = await open()
  return {
    get plane() {
      return planeOf(plane)
    },
    ledger: storedLedger(store),
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
export const elsewhereWithoutPolicies = (): Promise<Cluster> => populatedCluster(withoutPolicies)

/** A cluster as an older one: without ValidatingAdmissionPolicy, of that minor version where one is said. */
export function withoutPolicies(client: Client, minor?: number): Client {
  const { discovery } = client
  const findKind: typeof discovery.findKind = (apiVersion, kind) =>
    kind === 'ValidatingAdmissionPolicy' ? Promise.resolve(undefined) : discovery.findKind(apiVersion, kind)
  const older = { findKind, kinds: () => discovery.kinds() }
  const request: typeof client.request = async (method, path, ...rest) => {
    const answer = await client.request(method, path, ...rest)
    return path === '/version' && minor !== undefined ? { ...Object(answer), minor: `${minor}` } : answer
  }
  return new Proxy(client, {
    get(target, property) {
      if (property === 'discovery') return older
      if (property === 'request') return request
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

interface Elsewhere extends Pick<Cluster, 'plane' | 'ledger'> {
  close(): PromiseLike<void>
}

async function openElsewhere(): Promise<Elsewhere> {
  if (otherKubeconfig !== undefined) {
    const cluster = await startOtherCluster()
    const close = () => cluster[Symbol.asyncDispose]()
    return { plane: planeElsewhere(cluster), ledger: watchedLedger(cluster.client, own), close }
  }
  const store = new MemoryStorage()
  const plane = await createControlPlane(
    { ...defaultConfig, history, population: false, featureGates: { NamespaceInitializers: false } },
    { opened: Promise.resolve(store), features: foreignFeatures },
  )
  return { plane: planeOf(plane), ledger: configMapLedger(store, own), close: () => plane[Symbol.asyncDispose]() }
}

/** `seenAs`: the client through which `borough populate` sees it. */
export async function populatedCluster(
  seenAs: (client: Client) => Client,
  admission: AdmissionBy = 'auto',
): Promise<Cluster> {
  const { plane, ledger, close } = await openElsewhere()
  const client = plane.client()
  let mortal = mortalClient(seenAs(client))
  const open = (): Promise<Populate> => {
    mortal = mortalClient(seenAs(client))
    return startedAgain(() =>
      startPopulate({
        client: mortal.client,
        clock: hasty,
        ids: randomIds,
        log: silentLog,
        listen: { host: '127.0.0.1', port: 0 },
        namespace: own,
        reachedAt: 'listen',
        admission,
      }),
    )
  }
  let populate = await open()
  return {
    plane,
    ledger,
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
      await close()
    },
  }
}

const mostStarts = 20

/** As what supervises a process would: on a busy machine half a second of haste is not enough to be reached in. */
async function startedAgain(start: () => Promise<Populate>): Promise<Populate> {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (error) {
      const isUnreached = error instanceof Error && error.message.includes('does not reach the webhooks')
      if (!isUnreached || tries === mostStarts) throw error
    }
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
