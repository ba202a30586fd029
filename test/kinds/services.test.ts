/** Services through the whole server: what each is given, that nobody else has it, and that it is given back. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseServiceRanges } from '../../src/app/config.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, faultsIn, invalidObject } from '../support/refusal.ts'
import { type AnswerBody, Wire } from '../support/wire.ts'

interface Port {
  readonly name: string
  readonly port: number
  readonly nodePort?: number
}

let plane: TestControlPlane
let wire: Wire

beforeEach(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 's' } })
})

afterEach(() => plane[Symbol.asyncDispose]())

const services = '/api/v1/namespaces/s/services'
const addresses = '/apis/networking.k8s.io/v1/ipaddresses'

const service = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { ports: [{ name: 'web', port: 80 }], ...spec },
})

const create = (name: string, spec?: object): Promise<AnswerBody> => wire.must('POST', services, service(name, spec))
const ipOf = ({ spec }: AnswerBody): string => String(spec?.['clusterIP'])
const portsOf = ({ spec }: AnswerBody): (number | undefined)[] => (spec?.['ports'] as Port[]).map((p) => p.nodePort)
const patch = (name: string, spec: object): Promise<AnswerBody> =>
  wire.must('PATCH', `${services}/${name}`, { spec }, 'application/merge-patch+json')

async function taken(): Promise<string[]> {
  const { items } = await wire.must('GET', addresses)
  return items.map(({ metadata }) => metadata.name ?? '')
}

/** The message of a refusal. */
async function refusal(name: string, spec: object): Promise<string> {
  const { status, body } = await wire.call('POST', services, service(name, spec))
  expect(status).toBe(422)
  faultsIn({ code: status, body }, { kind: 'Service', name })
  expect(await wire.call('GET', `${services}/${name}`)).toMatchObject({ status: 404 })
  return body.message.replace(`Service "${name}" is invalid: `, '')
}

describe('a new service', () => {
  it('is given an address, which is an object of its own', async () => {
    const made = await create('a')
    const ip = ipOf(made)
    expect(ip).toMatch(/^10\.(9[6-9]|10\d|11[01])\./)
    expect(made.spec).toMatchObject({ clusterIPs: [ip], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })
    expect(portsOf(made)).toEqual([undefined])
    expect(await wire.must('GET', `${addresses}/${ip}`)).toMatchObject({
      metadata: {
        labels: {
          'ipaddress.kubernetes.io/ip-family': 'IPv4',
          'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
        },
      },
      spec: { parentRef: { resource: 'services', namespace: 's', name: 'a' } },
    })
  })

  it('is given the address that it asks for', async () => {
    expect(ipOf(await create('a', { clusterIP: '10.96.0.50' }))).toBe('10.96.0.50')
    expect(await taken()).toContain('10.96.0.50')
  })

  it('that nobody sends traffic to is given none', async () => {
    const before = await taken()
    expect(ipOf(await create('headless', { clusterIP: 'None' }))).toBe('None')
    await create('elsewhere', { type: 'ExternalName', externalName: 'a.example.com' })
    expect(await taken()).toEqual(before)
  })

  it('of type NodePort is given ports of nodes, one for both protocols of a port', async () => {
    const made = await create('a', {
      type: 'NodePort',
      ports: [
        { name: 'tcp', port: 53, protocol: 'TCP' },
        { name: 'udp', port: 53, protocol: 'UDP' },
        { name: 'web', port: 80 },
      ],
    })
    const [tcp = 0, udp, web = 0] = portsOf(made)
    expect(udp).toBe(tcp)
    expect(web).not.toBe(tcp)
    for (const port of [tcp, web]) expect(port >= 30_086 && port <= 32_767).toBe(true)
  })

  it('of type LoadBalancer is given a port to ask for its health where only some nodes serve it', async () => {
    const made = await create('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' })
    expect(made.spec?.['healthCheckNodePort']).toBeGreaterThan(30_000)
    expect(portsOf(made)).not.toContain(made.spec?.['healthCheckNodePort'])
    const without = await create('b', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false })
    expect(portsOf(without)).toEqual([undefined])
  })

  it('of a dry run is shown what it would get, and takes nothing', async () => {
    const before = await taken()
    const shown = await wire.must('POST', `${services}?dryRun=All`, service('a', { type: 'NodePort' }))
    expect(ipOf(shown)).toMatch(/^10\./)
    expect(portsOf(shown)[0]).toBeGreaterThan(30_000)
    expect(await taken()).toEqual(before)
    expect(ipOf(await create('b', { clusterIP: ipOf(shown) }))).toBe(ipOf(shown))
  })

  it('owns nothing of what it was given: the fields have no manager', async () => {
    const { metadata } = await create('a', { type: 'NodePort' })
    expect(JSON.stringify(metadata.managedFields)).not.toMatch(/clusterIP|nodePort/)
  })
})

describe('what can not be had', () => {
  const cases: { name: string; spec: object; want: string }[] = [
    {
      name: 'an address that another service has',
      spec: { clusterIP: '10.96.0.1' },
      want:
        'spec.clusterIPs: Invalid value: ["10.96.0.1"]: failed to allocate IP 10.96.0.1: provided IP is ' +
        'already allocated',
    },
    {
      name: 'an address outside the ranges',
      spec: { clusterIP: '192.168.0.1' },
      want:
        'spec.clusterIPs: Invalid value: ["192.168.0.1"]: failed to allocate IP 192.168.0.1: the provided ' +
        'network does not match the current range',
    },
    {
      name: 'a family that the cluster does not have',
      spec: { clusterIP: 'fd00::1' },
      want: 'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
    },
    {
      name: 'a node port that another service has',
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] },
      want: 'spec.ports[0].nodePort: Invalid value: 30001: provided port is already allocated',
    },
    {
      name: 'a node port outside the range',
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] },
      want:
        'spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of ' +
        'valid ports is 30000-32767',
    },
    {
      name: 'more than a transaction holds',
      spec: { type: 'NodePort', ports: Array.from({ length: 90 }, (_, i) => ({ name: `p${i}`, port: i + 1 })) },
      want: 'spec.ports: Invalid value: 91: a service has at most 90 addresses and node ports',
    },
  ]
  it.each(cases)('$name', async ({ spec, want }) => {
    await create('other', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_001 }] })
    const before = await taken()
    expect(await refusal('a', spec)).toBe(want)
    expect(await taken()).toEqual(before)
  })
})

describe('a service that changes', () => {
  it('keeps what it has, also if it is sent without', async () => {
    const made = await create('a', { type: 'NodePort' })
    const { metadata } = made
    const sent = service('a', { type: 'NodePort', ports: [{ name: 'web', port: 8080 }] })
    const put = await wire.must('PUT', `${services}/a`, { ...sent, metadata: { name: 'a', labels: { x: 'y' } } })
    expect([ipOf(put), portsOf(put)]).toEqual([ipOf(made), portsOf(made)])
    expect(put.metadata.uid).toBe(metadata.uid)
  })

  it('may not move to another address', async () => {
    await create('a')
    const answer = await wire.call(
      'PATCH',
      `${services}/a`,
      { spec: { clusterIP: '10.96.0.99', clusterIPs: ['10.96.0.99'] } },
      'application/merge-patch+json',
    )
    expect(answer.status).toBe(422)
    expect(answer.body.message).toContain('may not change once set')
  })

  it('gives back its address when it becomes a name elsewhere, and gets a new one when it returns', async () => {
    const ip = ipOf(await create('a'))
    const elsewhere = await patch('a', { type: 'ExternalName', externalName: 'a.example.com', clusterIP: null })
    expect(elsewhere.spec).not.toHaveProperty('clusterIPs')
    expect(await taken()).not.toContain(ip)
    const back = await patch('a', { type: 'ClusterIP', externalName: null })
    expect(await taken()).toContain(ipOf(back))
  })

  it('gives back a node port that it no longer wants, and takes the one it names', async () => {
    const [old] = portsOf(await create('a', { type: 'NodePort' }))
    await patch('a', { ports: [{ name: 'web', port: 80, nodePort: 30_002 }] })
    expect(portsOf(await create('b', { type: 'NodePort', ports: [{ port: 80, nodePort: old }] }))).toEqual([old])
    await patch('a', { type: 'ClusterIP', ports: [{ name: 'web', port: 80 }] })
    const again = await create('c', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_002 }] })
    expect(portsOf(again)).toEqual([30_002])
  })

  it('gives back all it had when it is deleted, also with its namespace', async () => {
    const before = await taken()
    const made = await create('a', { type: 'NodePort' })
    await wire.must('DELETE', `${services}/a`)
    expect(await taken()).toEqual(before)
    const heir = await create('b', { type: 'NodePort', clusterIP: ipOf(made), ports: made.spec?.['ports'] as Port[] })
    expect([ipOf(heir), portsOf(heir)]).toEqual([ipOf(made), portsOf(made)])
    await Promise.all(Array.from({ length: 60 }, (_, i) => create(`many-${i}`)))
    await wire.must('DELETE', services)
    expect(await taken()).toEqual(before)
  })

  it('gives back what it had when its last finalizer goes', async () => {
    const before = await taken()
    await wire.must('POST', services, {
      ...service('a'),
      metadata: { name: 'a', finalizers: ['example.com/keep'] },
    })
    await wire.must('DELETE', `${services}/a`)
    expect((await taken()).length).toBe(before.length + 1)
    const noFinalizers = { metadata: { finalizers: null } }
    await wire.must('PATCH', `${services}/a/status`, noFinalizers, 'application/merge-patch+json')
    expect(await taken()).toEqual(before)
  })
})

describe('ranges', () => {
  it('that are added are used, and one that is being deleted gives nothing more', async () => {
    const cidrs = '/apis/networking.k8s.io/v1/servicecidrs'
    expect((await wire.must('GET', `${cidrs}/kubernetes`)).spec).toEqual({ cidrs: ['10.96.0.0/12'] })
    await wire.must('POST', cidrs, {
      metadata: { name: 'extra', finalizers: ['example.com/keep'] },
      spec: { cidrs: ['10.7.0.0/24'] },
    })
    await create('a', { clusterIP: '10.7.0.9' })
    await wire.must('DELETE', `${cidrs}/extra`)
    expect(await refusal('b', { clusterIP: '10.7.0.10' })).toContain('does not match the current range')
  })

  it('that are full give nothing more', async () => {
    const cidrs = '/apis/networking.k8s.io/v1/servicecidrs'
    await wire.must('DELETE', `${cidrs}/kubernetes`)
    await wire.must('POST', cidrs, { metadata: { name: 'small' }, spec: { cidrs: ['10.7.0.0/30'] } })
    expect([ipOf(await create('a')), ipOf(await create('b'))].sort()).toEqual(['10.7.0.1', '10.7.0.2'])
    const { body } = await wire.call('POST', services, service('c'))
    const why = 'failed to allocate a serviceIP: range is full'
    expect(body).toEqual(
      failure({
        message: `Internal error occurred: ${why}`,
        reason: 'InternalError',
        details: { causes: [{ message: why }] },
        code: 500,
      }),
    )
  })

  const internal = (message: string) =>
    failure({
      message: `Internal error occurred: ${message}`,
      reason: 'InternalError',
      details: { causes: [{ message }] },
      code: 500,
    })

  it('of node ports are given to the last one, and again when one is given back', async () => {
    await using few = await startControlPlane({ population: false, serviceNodePorts: { first: 30_000, last: 30_039 } })
    const there = new Wire(few)
    const path = '/api/v1/namespaces/default/services'
    const spec = (n: number): object => ({
      type: 'NodePort',
      ports: Array.from({ length: n }, (_, i) => ({ name: `p${i}`, port: i + 1 })),
    })
    const given = portsOf(await there.must('POST', path, service('a', spec(39))))
    const [last] = portsOf(await there.must('POST', path, service('b', spec(1))))
    expect(new Set([...given, last]).size).toBe(40)
    const { body } = await there.call('POST', path, service('c', spec(1)))
    expect(body).toEqual(internal('failed to allocate a nodePort: range is full'))
    const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', allocateLoadBalancerNodePorts: false }
    expect((await there.call('POST', path, service('c', balanced))).body).toEqual(
      internal('failed to allocate a HealthCheck NodePort 0: range is full'),
    )
    await there.must('DELETE', `${path}/b`)
    expect(portsOf(await there.must('POST', path, service('c', spec(1))))).toEqual([last])
  })

  it('give no port of health that is taken', async () => {
    const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 32_222 }
    await create('a', balanced)
    expect((await wire.call('POST', services, service('b', balanced))).body).toEqual(
      internal('failed to allocate requested HealthCheck NodePort 32222: provided port is already allocated'),
    )
  })

  it('of both families give a service one address of each', async () => {
    const serviceRanges = parseServiceRanges('10.96.0.0/16,fd00::/108')
    await using dual = await startControlPlane({ population: false, serviceRanges })
    const there = new Wire(dual)
    const path = '/api/v1/namespaces/default/services'
    const made = await there.must('POST', path, service('a', { ipFamilyPolicy: 'RequireDualStack' }))
    expect(made.spec?.['clusterIPs']).toEqual([expect.stringMatching(/^10\.96\./), expect.stringMatching(/^fd00::/)])
    const single = { spec: { ipFamilyPolicy: 'SingleStack' } }
    const less = await there.must('PATCH', `${path}/a`, single, 'application/merge-patch+json')
    expect(less.spec?.['clusterIPs']).toEqual([ipOf(made)])
    const moved = { spec: { clusterIP: 'fd00::9', clusterIPs: ['fd00::9'], ipFamilies: ['IPv6'] } }
    expect((await there.call('PATCH', `${path}/a`, moved, 'application/merge-patch+json')).body).toEqual(
      invalidObject({ kind: 'Service', name: 'a' }, [
        'spec.clusterIPs[0]: Invalid value: ["fd00::9"]: may not change once set',
        'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
      ]),
    )
    const { items } = await there.must('GET', addresses)
    expect(items.filter(({ metadata }) => metadata.name?.includes(':'))).toEqual([])
  })
})

describe('an address', () => {
  it('can not be taken away while its service has it', async () => {
    const ip = ipOf(await create('a'))
    const { body } = await wire.call('DELETE', `${addresses}/${ip}`)
    expect(body).toEqual(
      failure({
        message: `ipaddresses.networking.k8s.io "${ip}" is forbidden: it is the address of the service s/a`,
        reason: 'Forbidden',
        details: { name: ip, group: 'networking.k8s.io', kind: 'ipaddresses' },
        code: 403,
      }),
    )
  })

  it('that somebody keeps for something else is not given to a service', async () => {
    const parentRef = { group: 'example.com', resource: 'gateways', name: 'front' }
    await wire.must('POST', addresses, { metadata: { name: '10.96.0.77' }, spec: { parentRef } })
    expect(await refusal('a', { clusterIP: '10.96.0.77' })).toContain('provided IP is already allocated')
    await wire.must('DELETE', `${addresses}/10.96.0.77`)
    await create('a', { clusterIP: '10.96.0.77' })
  })
})

describe('the service kubernetes', () => {
  it('is there from the start, with the first address, and comes back when it is lost', async () => {
    const path = '/api/v1/namespaces/default/services/kubernetes'
    const found = await wire.must('GET', path)
    expect(ipOf(found)).toBe('10.96.0.1')
    expect(found.metadata.labels).toEqual({ component: 'apiserver', provider: 'kubernetes' })
    expect(found.spec?.['ports']).toEqual([{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }])
    const watch = '/api/v1/namespaces/default/services?watch=true&fieldSelector=metadata.name=kubernetes'
    const seen = await wire.events(
      `${watch}&resourceVersion=${found.metadata.resourceVersion}`,
      (events) => events.some(({ type }) => type === 'ADDED'),
      async () => void (await wire.must('DELETE', path)),
    )
    expect(seen.map(({ type }) => type)).toEqual(['DELETED', 'ADDED'])
    expect(seen[1]?.object.spec?.['clusterIP']).toBe('10.96.0.1')
  })
})
