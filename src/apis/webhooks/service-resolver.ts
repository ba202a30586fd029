/**
 * Where a Service is reached. There is no network here and no proxy in front of Services, so it must be told: the
 * operator (`--service-address`), the Service itself (type ExternalName), or its EndpointSlices.
 * @see ResolveEndpoint in k8s.io/apiserver/pkg/util/proxy/proxy.go v0.36, whose words the faults have
 */
import type { Endpoint, ResolveService } from '../../client/webhook-client.ts'
import { quote } from '../../kube/go-quote.ts'
import type { KubeObject } from '../../kube/types.ts'

interface ServicePort {
  readonly name?: string
  readonly port: number
  readonly targetPort?: number | string
}

interface Service extends KubeObject {
  spec?: { type?: string; externalName?: string; ports?: readonly ServicePort[] }
}

interface EndpointSlice extends KubeObject {
  addressType?: string
  endpoints?: readonly { addresses?: readonly string[]; conditions?: { ready?: boolean } }[]
  ports?: readonly { name?: string; port?: number }[]
}

export interface ServiceResolverDeps {
  /** `namespace/name` or `namespace/name:port` → where it is. */
  readonly addresses: ReadonlyMap<string, Endpoint>
  findService(namespace: string, name: string): KubeObject | undefined
  slices(namespace: string): Iterable<KubeObject>
  /** At least 0, below 1: which of several endpoints is taken. */
  random(): number
}

export const serviceNameLabel = 'kubernetes.io/service-name'

export function serviceResolver(deps: ServiceResolverDeps): ResolveService {
  return (namespace, name, port) => {
    const place = `${namespace}/${name}`
    const told = deps.addresses.get(`${place}:${port}`) ?? deps.addresses.get(place)
    if (told !== undefined) return told
    const service = deps.findService(namespace, name) as Service | undefined
    if (service === undefined) throw new Error(`service ${quote(name)} not found`)
    const { type, externalName, ports = [] } = service.spec ?? {}
    if (type === 'ExternalName') return { host: externalName ?? '', port }
    const servicePort = ports.find((p) => p.port === port)
    if (servicePort === undefined) throw new Error(`no service port ${port} found for service ${quote(name)}`)
    const endpoints = readyEndpoints(deps.slices(namespace), name, servicePort)
    const chosen = endpoints[Math.floor(deps.random() * endpoints.length)]
    if (chosen === undefined) throw new Error(`no endpoints available for service ${quote(name)}`)
    return chosen
  }
}

function readyEndpoints(slices: Iterable<KubeObject>, service: string, { name, targetPort }: ServicePort): Endpoint[] {
  const found: Endpoint[] = []
  for (const slice of slices as Iterable<EndpointSlice>) {
    if (slice.metadata.labels?.[serviceNameLabel] !== service || slice.addressType === 'FQDN') continue
    const named = slice.ports?.find((p) => (p.name ?? '') === (name ?? ''))
    const port = named?.port ?? (typeof targetPort === 'number' ? targetPort : undefined)
    if (port === undefined) continue
    for (const { addresses = [], conditions } of slice.endpoints ?? []) {
      const [host] = addresses
      if (host !== undefined && conditions?.ready !== false) found.push({ host, port })
    }
  }
  return found
}
