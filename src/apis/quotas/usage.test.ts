import { describe, expect, test } from 'vitest'
import { printQuantity } from '../../kube/quantity.ts'
import type { KubeObject } from '../../kube/types.ts'
import { isIgnored, isMeasured, unsaid, usageOf } from './usage.ts'

function usage(type: string, object: object): Record<string, string> {
  const [group = '', resource = ''] = type.split('/')
  const used = usageOf({ group, resource }, { metadata: { name: 'x' }, ...object } as KubeObject)
  return Object.fromEntries([...used].map(([name, quantity]) => [name, printQuantity(quantity)]))
}

const podWith = (requests: object, limits: object = {}): object => ({
  spec: { containers: [{ name: 'main', resources: { requests, limits } }] },
})
const claim = (spec: object, more: object = {}): object => ({ spec, ...more })
const storage = (size: string): object => ({ resources: { requests: { storage: size } } })
const devices = (...requests: object[]): object => ({ spec: { devices: { requests } } })
const counted = { 'count/resourceclaims.resource.k8s.io': '1' }
const gpus = 'gpu.deviceclass.resource.k8s.io/devices'
const nics = 'nic.deviceclass.resource.k8s.io/devices'

const rows: readonly { name: string; type: string; given: object; want: Record<string, string> }[] = [
  { name: 'a secret, under both its names', type: '/secrets', given: {}, want: { 'count/secrets': '1', secrets: '1' } },
  { name: 'an endpoint, which has one', type: '/endpoints', given: {}, want: { 'count/endpoints': '1' } },
  { name: 'a type of a group', type: 'apps/deployments', given: {}, want: { 'count/deployments.apps': '1' } },
  { name: 'secrets of another group', type: 'ex.io/secrets', given: {}, want: { 'count/secrets.ex.io': '1' } },
  {
    name: 'a pod: compute by both names, huge pages and devices by theirs, limits of compute alone',
    type: '/pods',
    given: podWith(
      { cpu: '1', memory: '1Gi', 'hugepages-2Mi': '2Mi', 'ex.io/gpu': '2', 'storage.kubernetes.io/x': '3' },
      { cpu: '2', 'ephemeral-storage': '5Gi', 'ex.io/gpu': '2', 'hugepages-2Mi': '2Mi' },
    ),
    want: {
      'count/pods': '1',
      pods: '1',
      cpu: '1',
      'requests.cpu': '1',
      memory: '1Gi',
      'requests.memory': '1Gi',
      'hugepages-2Mi': '2Mi',
      'requests.hugepages-2Mi': '2Mi',
      'requests.ex.io/gpu': '2',
      'limits.cpu': '2',
      'limits.ephemeral-storage': '5Gi',
    },
  },
  {
    name: 'a pod that has ended only counts',
    type: '/pods',
    given: { ...podWith({ cpu: '1' }), status: { phase: 'Succeeded' } },
    want: { 'count/pods': '1' },
  },
  {
    name: 'a service',
    type: '/services',
    given: { spec: { type: 'ClusterIP', ports: [{ port: 1 }] } },
    want: { 'count/services': '1', services: '1' },
  },
  {
    name: 'a service without anything',
    type: '/services',
    given: {},
    want: { 'count/services': '1', services: '1' },
  },
  {
    name: 'a service with node ports, also those that it does not have yet',
    type: '/services',
    given: { spec: { type: 'NodePort', ports: [{ port: 1, nodePort: 30_001 }, { port: 2 }] } },
    want: { 'count/services': '1', services: '1', 'services.nodeports': '2' },
  },
  {
    name: 'a load balancer',
    type: '/services',
    given: { spec: { type: 'LoadBalancer', ports: [{ port: 1 }, { port: 2 }] } },
    want: { 'count/services': '1', services: '1', 'services.nodeports': '2', 'services.loadbalancers': '1' },
  },
  {
    name: 'a load balancer that asks for no node ports, but has one',
    type: '/services',
    given: {
      spec: {
        type: 'LoadBalancer',
        allocateLoadBalancerNodePorts: false,
        ports: [{ port: 1, nodePort: 30_001 }, { port: 2 }],
      },
    },
    want: { 'count/services': '1', services: '1', 'services.nodeports': '1', 'services.loadbalancers': '1' },
  },
  {
    name: 'a claim without a class or a size',
    type: '/persistentvolumeclaims',
    given: {},
    want: { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1' },
  },
  {
    name: 'a claim of a class',
    type: '/persistentvolumeclaims',
    given: claim({ storageClassName: 'gold', ...storage('1Gi') }),
    want: {
      'count/persistentvolumeclaims': '1',
      persistentvolumeclaims: '1',
      'requests.storage': '1Gi',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
    },
  },
  {
    name: 'a claim whose class is in its annotation, which goes before that of its spec',
    type: '/persistentvolumeclaims',
    given: {
      metadata: { name: 'x', annotations: { 'volume.beta.kubernetes.io/storage-class': 'gold' } },
      spec: { storageClassName: 'silver' },
    },
    want: {
      'count/persistentvolumeclaims': '1',
      persistentvolumeclaims: '1',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
    },
  },
  {
    name: 'a claim that was given more than it asks for',
    type: '/persistentvolumeclaims',
    given: claim(storage('1Gi'), { status: { allocatedResources: { storage: '2Gi' } } }),
    want: { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1', 'requests.storage': '2Gi' },
  },
  {
    name: 'a claim that was given less',
    type: '/persistentvolumeclaims',
    given: claim(storage('3Gi'), { status: { allocatedResources: { storage: '2Gi' } } }),
    want: { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1', 'requests.storage': '3Gi' },
  },
  {
    name: 'a claim that asks for nothing and was given something',
    type: '/persistentvolumeclaims',
    given: claim({}, { status: { allocatedResources: { storage: '2Gi' } } }),
    want: { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1' },
  },
  {
    name: 'a claim of a part of a byte',
    type: '/persistentvolumeclaims',
    given: claim(storage('1500m')),
    want: { 'count/persistentvolumeclaims': '1', persistentvolumeclaims: '1', 'requests.storage': '2' },
  },
  { name: 'a claim of devices that asks for none', type: 'resource.k8s.io/resourceclaims', given: {}, want: counted },
  {
    name: 'devices: one, several, and all, which is 32',
    type: 'resource.k8s.io/resourceclaims',
    given: devices(
      { exactly: { deviceClassName: 'gpu' } },
      { exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 3 } },
      { exactly: { deviceClassName: 'nic', allocationMode: 'All' } },
    ),
    want: { ...counted, [gpus]: '4', [nics]: '32' },
  },
  {
    name: 'devices: of several choices the worst of each class',
    type: 'resource.k8s.io/resourceclaims',
    given: devices({
      firstAvailable: [
        { deviceClassName: 'gpu', count: 2 },
        { deviceClassName: 'nic', count: 1 },
        { deviceClassName: 'gpu', count: 5 },
        { deviceClassName: 'gpu', count: 4 },
      ],
    }),
    want: { ...counted, [gpus]: '5', [nics]: '1' },
  },
  {
    name: 'devices by a mode of a newer version',
    type: 'resource.k8s.io/resourceclaims',
    given: devices({ exactly: { deviceClassName: 'gpu', allocationMode: 'Most', count: 3 } }),
    want: { ...counted, [gpus]: '0' },
  },
  {
    name: 'no devices for a type that is only called so',
    type: 'ex.io/resourceclaims',
    given: devices({ exactly: { deviceClassName: 'gpu' } }),
    want: { 'count/resourceclaims.ex.io': '1' },
  },
]

describe('what an object uses of a quota', () => {
  test.each(rows)('$name', ({ type, given, want }) => expect(usage(type, given)).toEqual(want))

  test('events are never counted, of either group', () => {
    const type = (group: string, resource: string): boolean => isIgnored({ group, resource })
    expect([type('', 'events'), type('events.k8s.io', 'events')]).toEqual([true, true])
    expect([type('ex.io', 'events'), type('', 'pods')]).toEqual([false, false])
  })

  test('of four types it depends on what they say', () => {
    const measured = (group: string, resource: string): boolean => isMeasured({ group, resource })
    for (const name of ['pods', 'services', 'persistentvolumeclaims']) {
      expect([name, measured('', name), measured('ex.io', name)]).toEqual([name, true, false])
    }
    expect([measured('resource.k8s.io', 'resourceclaims'), measured('', 'resourceclaims')]).toEqual([true, false])
    expect([measured('', 'secrets'), measured('resource.k8s.io', 'secrets')]).toEqual([false, false])
  })
})

describe('what a pod must say where a quota limits it', () => {
  const pod = {
    metadata: { name: 'p' },
    spec: {
      initContainers: [{ name: 'init' }],
      containers: [
        { name: 'b', resources: { requests: { cpu: '1' } } },
        { name: 'a', resources: { limits: { memory: '1Gi' } } },
        { name: 'b' },
      ],
    },
  }
  test.each([
    { limited: ['requests.cpu'], want: 'requests.cpu for: a,b,init' },
    { limited: ['cpu'], want: 'cpu for: a,b,init' },
    { limited: ['limits.memory'], want: 'limits.memory for: b,init' },
    { limited: ['memory', 'limits.cpu'], want: 'limits.cpu for: a,b,init; memory for: a,b,init' },
    { limited: ['pods', 'ephemeral-storage', 'requests.storage'], want: '' },
    { limited: [], want: '' },
  ])('$limited', ({ limited, want }) => expect(unsaid(pod, (name) => limited.includes(name))).toBe(want))

  test('nothing, if the pod says it as a whole', () => {
    const whole = { ...pod, spec: { ...pod.spec, resources: { requests: { cpu: '2' }, limits: { memory: '1Gi' } } } }
    expect(unsaid(whole, (name) => name === 'cpu' || name === 'limits.memory')).toBe('')
    expect(unsaid(whole, (name) => name === 'limits.cpu')).toBe('limits.cpu for: a,b,init')
  })

  test('nothing, if each container does', () => {
    const said = { metadata: {}, spec: { containers: [{ name: 'a', resources: { requests: { cpu: '1' } } }] } }
    expect(unsaid(said, () => true)).toBe(
      'limits.cpu for: a; limits.memory for: a; memory for: a; requests.memory for: a',
    )
  })
})
