/** What a Service may say of addresses and traffic: each refusal in the words of upstream. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runAtOnce } from '../../src/base/resumable.ts'
import { loadCatalog } from '../../src/catalog/catalog.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { assumeValid } from '../../src/kube/unvalidated.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { notQualified } from '../support/name-faults.ts'
import { faultsOf, invalidObject } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

const services = '/api/v1/namespaces/default/services'
const notIp = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
const notCidr = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'
const onlyBalanced = "may only be used when `type` is 'LoadBalancer'"
const sourceRanges = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const topologyMode = 'service.kubernetes.io/topology-mode'
const topologyHints = 'service.kubernetes.io/topology-aware-hints'

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

const port = { port: 80 }
const balanced = { type: 'LoadBalancer' }

const wrong: [what: string, spec: object, annotations: object, ...faults: string[]][] = [
  [
    'traffic spread in a way that nobody knows',
    { trafficDistribution: 'Near' },
    {},
    'spec.trafficDistribution: Unsupported value: "Near": supported values: "PreferClose", "PreferSameZone", ' +
      '"PreferSameNode"',
  ],
  [
    'addresses that others read otherwise',
    { externalIPs: ['010.0.0.1', '::ffff:10.0.0.1', 'x', '127.0.0.1', '169.254.0.1', 'fe80::1', '0.0.0.0'] },
    {},
    'spec.externalIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s',
    'spec.externalIPs[1]: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address',
    `spec.externalIPs[2]: Invalid value: "x": ${notIp}`,
    'spec.externalIPs[3]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
    'spec.externalIPs[4]: Invalid value: "169.254.0.1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    'spec.externalIPs[5]: Invalid value: "fe80::1": may not be in the link-local range (169.254.0.0/16, fe80::/10)',
    'spec.externalIPs[6]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
  ],
  [
    'ranges that are none',
    {
      ...balanced,
      loadBalancerSourceRanges: ['x', '010.0.0.0/8', '10.0.0.0/08', '::ffff:a00:0/104', '10.0.0.1/8', '2001:db8::1/64'],
    },
    {},
    `spec.LoadBalancerSourceRanges[0]: Invalid value: "x": ${notCidr}`,
    'spec.LoadBalancerSourceRanges[1]: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length',
    'spec.LoadBalancerSourceRanges[2]: Invalid value: "10.0.0.0/08": must not have leading 0s in IP or prefix length',
    'spec.LoadBalancerSourceRanges[3]: Invalid value: "::ffff:a00:0/104": must not have an IPv4-mapped IPv6 address',
    'spec.LoadBalancerSourceRanges[4]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length',
    'spec.LoadBalancerSourceRanges[5]: Invalid value: "2001:db8::1/64": must not have bits set beyond the prefix ' +
      'length',
  ],
  [
    'ranges in an annotation that are none',
    balanced,
    { [sourceRanges]: '10.0.0.0/8, x' },
    `metadata.annotations[${sourceRanges}]: Invalid value: "x": ${notCidr}`,
  ],
  [
    'ranges in an annotation without a balancer',
    {},
    { [sourceRanges]: '' },
    `metadata.annotations[${sourceRanges}]: Forbidden: ${onlyBalanced}`,
  ],
  [
    'fields of a balancer and none',
    { loadBalancerSourceRanges: ['10.0.0.0/8'], loadBalancerClass: 'a.io/b', allocateLoadBalancerNodePorts: true },
    {},
    `spec.LoadBalancerSourceRanges: Forbidden: ${onlyBalanced}`,
    `spec.allocateLoadBalancerNodePorts: Forbidden: ${onlyBalanced}`,
    `spec.loadBalancerClass: Forbidden: ${onlyBalanced}`,
  ],
  [
    'a balancer of no class',
    { ...balanced, loadBalancerClass: 'a b' },
    {},
    `spec.loadBalancerClass: Invalid value: "a b": ${notQualified}`,
  ],
  [
    'a check of health that nobody makes',
    { healthCheckNodePort: 30_000 },
    {},
    "spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and " +
      "`externalTrafficPolicy` is 'Local'",
  ],
  [
    'a check of health on no port',
    { ...balanced, externalTrafficPolicy: 'Local', healthCheckNodePort: 70_000 },
    {},
    'spec.healthCheckNodePort: Invalid value: 70000: must be between 1 and 65535, inclusive',
  ],
  [
    'an application of no name',
    { ports: [{ ...port, appProtocol: 'a b' }] },
    {},
    `spec.ports[0].appProtocol: Invalid value: "a b": ${notQualified}`,
  ],
  [
    'two minds about where its traffic stays',
    {},
    { [topologyMode]: 'Auto', [topologyHints]: 'Disabled' },
    `metadata.annotations[${topologyMode}]: Invalid value: "Auto": must match annotations[${topologyHints}] when ` +
      `both ` +
      'are specified',
  ],
]

describe('a service is not taken that has', () => {
  it.each(wrong)('%s', async (_, fields, annotations, ...faults) => {
    const body = { metadata: { name: 's', annotations }, spec: { ports: [port], ...fields } }
    expect((await wire.call('POST', services, body)).body).toEqual(
      invalidObject({ kind: 'Service', name: 's' }, faults),
    )
  })
})

it('a service may have what is right, and a name that begins with a number', async () => {
  const spec = {
    ...balanced,
    ports: [{ ...port, appProtocol: 'kubernetes.io/h2c' }],
    trafficDistribution: 'PreferSameNode',
    loadBalancerSourceRanges: [' 10.0.0.0/8 ', '2001:db8::/32'],
    loadBalancerClass: 'a.io/b',
    externalIPs: ['192.0.2.1', '2001:db8::1'],
  }
  expect((await wire.call('POST', services, { metadata: { name: '1st' }, spec })).status).toBe(201)
  const change = { spec: { loadBalancerClass: 'a.io/c' } }
  const { body } = await wire.call('PATCH', `${services}/1st`, change, 'application/merge-patch+json')
  const fault = 'spec.loadBalancerClass: Invalid value: "a.io/c": may not change once set'
  expect(body).toEqual(invalidObject({ kind: 'Service', name: '1st' }, [fault]))
})

it('what is stored already is not held against a write that leaves it', () => {
  const catalog = loadCatalog()
  const faults = (group: string, resource: string, spec: object, before: object) => {
    const type = catalog.types.find({ group, version: 'v1', resource })
    if (!type) throw new Error(`no ${resource}`)
    const object = (of: object): KubeObject =>
      assumeValid(catalog.applyDefaults(type, { metadata: { name: 'a', namespace: 'n' }, spec: of } as KubeObject))
    const context = { subresource: '', now: '2026-11-29T12:00:00Z' }
    return faultsOf(runAtOnce(catalog.strategyOf(type).validate?.(object(spec), object(before), context) ?? []))
  }
  const service = (...externalIPs: string[]) => ({ ports: [port], externalIPs })
  expect(faults('', 'services', service('010.0.0.1'), service('1.1.1.1', '010.0.0.1'))).toEqual([])
})
