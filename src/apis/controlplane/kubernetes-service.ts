/**
 * How programs in a cluster find this server: the Service `kubernetes` in namespace `default`, with Endpoints and an
 * EndpointSlice that say where it listens. Made at the start, made anew when lost. Every server that writes to a shared
 * store adds its own address, and takes it away when it stops.
 * @see pkg/controlplane/controller/kubernetesservice, pkg/controlplane/reconcilers of Kubernetes 1.36
 */
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Log } from '../../base/log.ts'
import type { Client } from '../../client/client.ts'
import { createUnlessThere } from '../../client/create-unless-there.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import { formatAddress } from '../../kube/ip-address.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { type ResourceType, type ResourceTypes, requiredType } from '../../kube/resource-type.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Lister } from '../../registry/registry.ts'
import { type AddressRange, parseCidr } from '../services/address-range.ts'
import {
  defaultServiceCidr,
  endpointSliceResource,
  endpointsResource,
  type ServiceCidr,
  serviceCidrResource,
  serviceResource,
} from '../services/types.ts'

const namespace = 'default'
const name = 'kubernetes'
const portName = 'https'
const protocol = 'TCP'
const servicePort = 443
const usualPort = 6443
/** Another server may write the same at this moment: then look again. */
const attempts = 5

export interface KubernetesServiceParts {
  readonly lister: Pick<Lister, 'find' | 'subscribe' | 'refresh'>
  readonly types: Pick<ResourceTypes, 'find'>
  /** Acts as a member of `system:masters`. */
  readonly client: Client
  readonly log: Log
  /** Of the ServiceCIDR made at the first start. */
  readonly ranges: readonly AddressRange[]
  /** That the server is to listen on; undefined or 0 = not known before it does. */
  readonly port: number | undefined
  /** Other servers write to the store too. */
  readonly shared: boolean
  /**
   * False where others of the same machine go on at the same address, and where no other server is left to serve it.
   */
  readonly leavesWhenStopped: boolean
}

export class KubernetesService {
  readonly #parts: KubernetesServiceParts
  readonly #log: Log
  #stopFollowing: (() => void) | undefined
  #writing: Promise<void> = Promise.resolve()
  #at: { readonly address: string; readonly port: number } | undefined

  constructor(parts: KubernetesServiceParts) {
    this.#parts = parts
    this.#log = parts.log
  }

  /**
   * The ranges that addresses come from. Where there are any they stay, but for one of the other family that is new.
   */
  async makeRange(): Promise<void> {
    const cidrs = this.#parts.ranges.map(({ cidr }) => cidr)
    const found = this.#find(serviceCidrResource, '', defaultServiceCidr) as ServiceCidr | undefined
    if (found === undefined) {
      await createUnlessThere(this.#parts.client, serviceCidrResource, {
        metadata: { name: defaultServiceCidr },
        spec: { cidrs },
      })
      return
    }
    const stored = found.spec?.cidrs ?? []
    if (jsonEqual(stored, cidrs)) return
    if (stored.length === 1 && cidrs.length === 2 && stored[0] === cidrs[0]) {
      await this.#widen({ ...found, spec: { cidrs } })
    } else this.#log.warn({ stored, cidrs }, 'the ServiceCIDR kubernetes in the store has other ranges')
  }

  /** After `makeRange`. A Service that can't be created stops no start. Rejects only where the store can't be read. */
  async makeService(): Promise<void> {
    if (this.#find(serviceResource, namespace, name) !== undefined) return
    const cidr = this.#find(serviceCidrResource, '', defaultServiceCidr) as ServiceCidr | undefined
    const range = parseCidr(cidr?.spec?.cidrs?.[0] ?? '')
    const targetPort = this.#at?.port ?? (this.#parts.port || usualPort)
    try {
      await createUnlessThere(this.#parts.client, serviceResource, {
        metadata: { name, namespace, labels: { component: 'apiserver', provider: 'kubernetes' } },
        spec: {
          type: 'ClusterIP',
          ...(range ? { clusterIP: formatAddress({ family: range.family, value: range.first }) } : {}),
          ipFamilyPolicy: 'SingleStack',
          ports: [{ name: portName, port: servicePort, protocol, targetPort }],
          sessionAffinity: 'None',
        },
      })
    } catch (error) {
      // Another server, faster by a moment, has the address by now, and the service with it.
      await this.#parts.lister.refresh()
      if (this.#find(serviceResource, namespace, name) !== undefined) return
      this.#failed(error)
    }
  }

  async #widen(cidr: ServiceCidr): Promise<void> {
    try {
      await this.#parts.client.update(serviceCidrResource, cidr)
    } catch (error) {
      // Another server starts with the same ranges, or a client changes it at this moment: the next start looks again.
      if (!isConflict(error)) throw error
      this.#log.warn({ error }, 'the ServiceCIDR kubernetes could not be given its second range')
    }
  }

  #failed(error: unknown): void {
    this.#log.warn({ error }, 'the service kubernetes could not be made')
  }

  /** From now on what is lost is made anew. */
  follow(): void {
    const stops = [serviceResource, endpointsResource, endpointSliceResource].map((resource) =>
      this.#parts.lister.subscribe(this.#type(resource), (next, old) => {
        if (next !== undefined || old?.name !== name || old.namespace !== namespace) return
        if (resource === serviceResource) this.makeService().catch((error: unknown) => this.#failed(error))
        else this.#publish()
      }),
    )
    const stopFollowing = (): void => {
      for (const stop of stops) stop()
    }
    this.#stopFollowing = stopFollowing
  }

  /** Says soon where the server listens, if others than this machine can get there. */
  listening(host: string, port: number): void {
    const address = reachedAddress(host)
    if (address === undefined) return
    this.#at = { address, port }
    this.#publish()
  }

  /** Nothing is followed after that, and clients are sent here no more. Never rejects. */
  async stop(): Promise<void> {
    this.#stopFollowing?.()
    const at = this.#at
    this.#at = undefined
    // A single server leaves it: the next one to start writes its own address; workers of one machine are all in the
    // same place.
    if (at !== undefined && this.#parts.leavesWhenStopped) {
      this.#next((addresses) => addresses.filter((address) => address !== at.address), at.port)
    }
    await this.#writing
  }

  #publish(): void {
    const at = this.#at
    if (at === undefined) return
    const { address, port } = at
    this.#next((others) => (this.#parts.shared ? [...new Set([...others, address])].sort() : [address]), port)
  }

  /** One after the other: what was said last holds. */
  #next(change: (addresses: readonly string[]) => readonly string[], port: number): void {
    this.#writing = this.#writing.then(() => this.#write(change, port))
  }

  /** Never rejects. */
  async #write(change: (addresses: readonly string[]) => readonly string[], port: number): Promise<void> {
    const ports = [{ name: portName, port, protocol }]
    try {
      await this.#settle(endpointsResource, (found) => {
        const addresses = change(addressesOf(found))
        const subset = { addresses: addresses.map((ip) => ({ ip })), ports }
        return {
          metadata: { name, namespace, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
          subsets: addresses.length === 0 ? [] : [subset],
        }
      })
      await this.#settle(endpointSliceResource, (found) => {
        const addresses = change(sliceAddressesOf(found))
        return {
          metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
          addressType: isIP(addresses[0] ?? this.#at?.address ?? '') === 6 ? 'IPv6' : 'IPv4',
          endpoints: addresses.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
          ports,
        }
      })
    } catch (error) {
      this.#log.warn({ error }, 'the endpoints of the service kubernetes could not be written')
    }
  }

  async #settle(
    resource: GroupVersionResource,
    wantedOf: (found: KubeObject | undefined) => KubeObject,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      const found = this.#find(resource, namespace, name)
      const wanted = wantedOf(found)
      try {
        if (found === undefined) return void (await this.#parts.client.create(resource, wanted))
        const next = { ...found, ...wanted, metadata: { ...found.metadata, labels: wanted.metadata.labels ?? {} } }
        if (jsonEqual(next, found)) return
        return void (await this.#parts.client.update(resource, next))
      } catch (error) {
        if (tries >= attempts || !(isAlreadyExists(error) || isConflict(error) || isNotFound(error))) throw error
        await this.#parts.lister.refresh()
      }
    }
  }

  #find(resource: GroupVersionResource, namespace: string, name: string): KubeObject | undefined {
    return this.#parts.lister.find(this.#type(resource), namespace, name)?.object
  }

  #type(resource: GroupVersionResource): ResourceType {
    return requiredType(this.#parts.types, resource)
  }
}

const addressesOf = (endpoints: KubeObject | undefined): string[] =>
  ((endpoints?.['subsets'] ?? []) as { addresses?: { ip: string }[] }[]).flatMap((subset) =>
    (subset.addresses ?? []).map(({ ip }) => ip),
  )

const sliceAddressesOf = (slice: KubeObject | undefined): string[] =>
  ((slice?.['endpoints'] ?? []) as { addresses?: string[] }[]).flatMap((endpoint) => endpoint.addresses ?? [])

/** Of this machine, seen from others. undefined = only this machine gets there. */
function reachedAddress(host: string): string | undefined {
  if (host !== '' && host !== '0.0.0.0' && host !== '::') {
    return isIP(host) === 0 || host.startsWith('127.') || host === '::1' ? undefined : host
  }
  const own = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).filter(({ internal }) => !internal))
  return own.find(({ family }) => family === 'IPv4')?.address
}
