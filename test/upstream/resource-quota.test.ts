/**
 * What upstream's end-to-end tests of ResourceQuota ask of a cluster, row by row, under their names. Where they wait
 * for a controller, nothing is waited for here: the status is right in the answer to the change.
 * @see test/e2e/apimachinery/resource_quota.go of Kubernetes
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install } from '../support/definitions.ts'
import { failure, forbidden } from '../support/refusal.ts'
import { waitFor } from '../support/wait-for.ts'
import { type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

beforeEach(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'q' } })
})
afterEach(() => plane[Symbol.asyncDispose]())

const at = (resource: string): string => `/api/v1/namespaces/q/${resource}`
const ofGroup = (group: string, resource: string): string => `/apis/${group}/v1/namespaces/q/${resource}`

const testQuota: Readonly<Record<string, string>> = {
  pods: '5',
  services: '10',
  'services.nodeports': '1',
  'services.loadbalancers': '1',
  replicationcontrollers: '10',
  resourcequotas: '1',
  cpu: '1',
  memory: '500Mi',
  configmaps: '10',
  secrets: '10',
  persistentvolumeclaims: '10',
  'requests.storage': '10Gi',
  'ephemeral-storage': '50Gi',
  'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '10',
  'gold.storageclass.storage.k8s.io/requests.storage': '10Gi',
  'count/replicasets.apps': '5',
  'requests.example.com/dongle': '3',
}

const create = (name: string, hard: object, more: object = {}): Promise<AnswerBody> =>
  wire.must('POST', at('resourcequotas'), { metadata: { name }, spec: { hard, ...more } })

async function used(name = 'test-quota'): Promise<Record<string, string>> {
  const { status } = await wire.must('GET', at(`resourcequotas/${name}`))
  return (status as { used: Record<string, string> }).used
}

/** Only what is named is looked at, as upstream's tests do. */
const expectUsed = async (want: Record<string, string>, name?: string): Promise<void> =>
  expect(await used(name)).toMatchObject(want)

const pod = (name: string, resources: object = {}, spec: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'pause', image: 'pause', resources }], ...spec },
})

const claim = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'], resources: { requests: { storage: '1Gi' } }, ...spec },
})

const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'

describe('ResourceQuota', () => {
  it('should create a ResourceQuota and ensure its status is promptly calculated.', async () => {
    const { status } = await create('test-quota', testQuota)
    expect(status).toMatchObject({ hard: testQuota, used: { resourcequotas: '1' } })
  })

  it('should create a ResourceQuota and capture the life of a service.', async () => {
    await create('test-quota', testQuota)
    const service = (name: string, spec: object = {}): object => ({
      metadata: { name },
      spec: { ports: [{ port: 80, targetPort: 80 }], ...spec },
    })
    await wire.must('POST', at('services'), service('test-service', { type: 'ClusterIP' }))
    await wire.must('POST', at('services'), service('test-service-np', { type: 'NodePort' }))
    const balancer = service('test-service-lb', { type: 'LoadBalancer', allocateLoadBalancerNodePorts: true })
    const over = await wire.call('POST', at('services'), balancer)
    expect(over.body.message).toBe(
      'services "test-service-lb" is forbidden: exceeded quota: test-quota, requested: services.nodeports=1, ' +
        'used: services.nodeports=1, limited: services.nodeports=1',
    )
    await expectUsed({ services: '2', 'services.nodeports': '1', 'services.loadbalancers': '0' })
    for (const name of ['test-service', 'test-service-np']) await wire.must('DELETE', at(`services/${name}`))
    await expectUsed({ services: '0', 'services.nodeports': '0' })
  })

  const lives = [
    { name: 'secret', path: () => at('secrets'), key: 'secrets', object: { data: { a: 'Yg==' } } },
    { name: 'configMap', path: () => at('configmaps'), key: 'configmaps', object: { data: { a: 'b' } } },
    {
      name: 'replication controller',
      path: () => at('replicationcontrollers'),
      key: 'replicationcontrollers',
      object: { spec: { replicas: 0, selector: { name: 'x' }, template: template() } },
    },
    {
      name: 'replica set',
      path: () => ofGroup('apps', 'replicasets'),
      key: 'count/replicasets.apps',
      object: { spec: { replicas: 0, selector: { matchLabels: { name: 'x' } }, template: template() } },
    },
  ]
  function template(): object {
    return { metadata: { labels: { name: 'x' } }, spec: { containers: [{ name: 'x', image: 'nginx' }] } }
  }
  it.each(lives)('should create a ResourceQuota and capture the life of a $name.', async ({ path, key, object }) => {
    const before = (await wire.must('GET', path())).items.length
    await create('test-quota', { ...testQuota, [key]: String(before + 1) })
    await expectUsed({ [key]: String(before) })
    await wire.must('POST', path(), { metadata: { name: 'one' }, ...object })
    await expectUsed({ [key]: String(before + 1) })
    const over = await wire.call('POST', path(), { metadata: { name: 'two' }, ...object })
    expect(over.status).toBe(403)
    await wire.must('DELETE', `${path()}/one`, { propagationPolicy: 'Background' })
    await expectUsed({ [key]: String(before) })
  })

  it('should create a ResourceQuota and capture the life of a pod.', async () => {
    await create('test-quota', testQuota)
    const requests = { cpu: '500m', memory: '252Mi', 'ephemeral-storage': '30Gi', 'example.com/dongle': '2' }
    const limits = { 'example.com/dongle': '2' }
    const made = await wire.must('POST', at('pods'), pod('test-pod', { requests, limits }))
    const captured = {
      pods: '1',
      cpu: '500m',
      memory: '252Mi',
      'ephemeral-storage': '30Gi',
      'requests.example.com/dongle': '2',
    }
    await expectUsed(captured)
    const greedy = await wire.call('POST', at('pods'), pod('fail-pod', { requests: { cpu: '600m', memory: '100Mi' } }))
    expect(greedy.body.message).toBe(
      'pods "fail-pod" is forbidden: exceeded quota: test-quota, requested: cpu=600m, used: cpu=500m, limited: cpu=1',
    )
    const more = { ...requests, memory: '100Mi' }
    const extended = await wire.call(
      'POST',
      at('pods'),
      pod('fail-pod-for-extended-resource', { requests: more, limits }),
    )
    expect(extended.body.message).toBe(
      'pods "fail-pod-for-extended-resource" is forbidden: exceeded quota: test-quota, requested: ' +
        'ephemeral-storage=30Gi,requests.example.com/dongle=2, used: ' +
        'ephemeral-storage=30Gi,requests.example.com/dongle=2, limited: ' +
        'ephemeral-storage=50Gi,requests.example.com/dongle=3',
    )
    const [container] = made.spec?.['containers'] as object[]
    const changed = {
      ...made,
      spec: { ...made.spec, containers: [{ ...container, resources: { requests: { cpu: '100m' } } }] },
    }
    expect((await wire.call('PUT', at('pods/test-pod'), changed)).status).toBe(422)
    await expectUsed(captured)
    await wire.must('DELETE', at('pods/test-pod'), { gracePeriodSeconds: 0 })
    await expectUsed({ pods: '0', cpu: '0', memory: '0', 'ephemeral-storage': '0', 'requests.example.com/dongle': '0' })
  })

  it('should create a ResourceQuota and capture the life of a ResourceClaim', async () => {
    const byClass = 'gold.deviceclass.resource.k8s.io/devices'
    const counted = 'count/resourceclaims.resource.k8s.io'
    const asking = (name: string, requests: object[]): object => ({
      metadata: { name },
      spec: { devices: { requests } },
    })
    await create('test-quota', { ...testQuota, [counted]: '2', [byClass]: '40' })
    const exactly = { deviceClassName: 'gold' }
    await wire.must(
      'POST',
      ofGroup('resource.k8s.io', 'resourceclaims'),
      asking('test-claim', [{ name: 'r', exactly }]),
    )
    await expectUsed({ [counted]: '1', [byClass]: '1' })
    // Of alternatives the worst counts; all of a class may be as many as a claim can have.
    const choice = {
      name: 'r',
      firstAvailable: [
        { name: 'a', deviceClassName: 'gold', allocationMode: 'ExactCount', count: 3 },
        { name: 'b', deviceClassName: 'gold', allocationMode: 'All' },
        { name: 'c', deviceClassName: 'tin', allocationMode: 'ExactCount', count: 2 },
      ],
    }
    await wire.must('POST', ofGroup('resource.k8s.io', 'resourceclaims'), asking('wide', [choice]))
    await expectUsed({ [counted]: '2', [byClass]: '33' })
    for (const name of ['test-claim', 'wide'])
      await wire.must('DELETE', ofGroup('resource.k8s.io', `resourceclaims/${name}`))
    await expectUsed({ [counted]: '0', [byClass]: '0' })
  })

  it('should create a ResourceQuota and capture the life of a persistent volume claim', async () => {
    await create('test-quota', testQuota)
    await wire.must('POST', at('persistentvolumeclaims'), claim('test-claim'))
    await expectUsed({ persistentvolumeclaims: '1', 'requests.storage': '1Gi' })
    await wire.must('DELETE', at('persistentvolumeclaims/test-claim'))
    await expectUsed({ persistentvolumeclaims: '0', 'requests.storage': '0' })
  })

  it('should create a ResourceQuota and capture the life of a PersistentVolumeClaim with a storage class', async () => {
    await create('test-quota', testQuota)
    await wire.must('POST', at('persistentvolumeclaims'), claim('test-claim', { storageClassName: 'gold' }))
    await expectUsed({
      persistentvolumeclaims: '1',
      'requests.storage': '1Gi',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
    })
    await wire.must('DELETE', at('persistentvolumeclaims/test-claim'))
    await expectUsed({
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '0',
      'gold.storageclass.storage.k8s.io/requests.storage': '0',
    })
  })

  it('should create a ResourceQuota and capture the life of a custom resource.', async () => {
    await install(plane, definition({ group: 'ex.io', plural: 'widgets', kind: 'Widget' }))
    const key = 'count/widgets.ex.io'
    await create('test-quota', { ...testQuota, [key]: '1' })
    await expectUsed({ [key]: '0' })
    const widget = (name: string): object => ({ apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name } })
    await wire.must('POST', ofGroup('ex.io', 'widgets'), widget('test-cr-1'))
    await expectUsed({ [key]: '1' })
    expect((await wire.call('POST', ofGroup('ex.io', 'widgets'), widget('test-cr-2'))).body).toEqual(
      failure({
        message:
          'widgets.ex.io "test-cr-2" is forbidden: exceeded quota: test-quota, requested: ' +
          'count/widgets.ex.io=1, used: count/widgets.ex.io=1, limited: count/widgets.ex.io=1',
        reason: 'Forbidden',
        details: { name: 'test-cr-2', group: 'ex.io', kind: 'widgets' },
        code: 403,
      }),
    )
    await wire.must('DELETE', ofGroup('ex.io', 'widgets/test-cr-1'))
    await expectUsed({ [key]: '0' })
  })

  it('should be able to update and delete ResourceQuota.', async () => {
    await create('test-quota', { cpu: '1', memory: '500Mi' })
    const hard = { cpu: '2', memory: '1Gi' }
    const updated = await wire.must('PUT', at('resourcequotas/test-quota'), {
      metadata: { name: 'test-quota' },
      spec: { hard },
    })
    expect(updated).toMatchObject({ spec: { hard }, status: { hard } })
    await wire.must('DELETE', at('resourcequotas/test-quota'))
    expect((await wire.call('GET', at('resourcequotas/test-quota'))).status).toBe(404)
  })

  it('should manage the lifecycle of a ResourceQuota', async () => {
    await wire.must('POST', at('resourcequotas'), {
      metadata: { name: 'rq', labels: { 'e2e-rq-label': 'rq' } },
      spec: { hard: { cpu: '1', memory: '500Mi' } },
    })
    const listed = await wire.must('GET', '/api/v1/resourcequotas?labelSelector=e2e-rq-label%3Drq')
    expect(listed.items).toHaveLength(1)
    const patch = { metadata: { labels: { rq: 'patched' } }, spec: { hard: { memory: '750Mi' } } }
    const patched = await wire.must('PATCH', at('resourcequotas/rq'), patch, strategic)
    expect(patched.metadata.labels).toMatchObject({ rq: 'patched' })
    expect(patched.spec).toEqual({ hard: { cpu: '1', memory: '750Mi' } })
    await wire.must('DELETE', `${at('resourcequotas')}?labelSelector=e2e-rq-label%3Drq`)
    expect((await wire.call('GET', at('resourcequotas/rq'))).status).toBe(404)
  })

  it('should apply changes to a resourcequota status', async () => {
    const of = (o: KubeObject | undefined): { hard?: object; used?: object } => (o?.['status'] ?? {}) as object
    const initial = await create('rq', { cpu: '500m', memory: '500Mi' })
    const updated = await wire.must('PUT', at('resourcequotas/rq/status'), {
      ...initial,
      status: { hard: initial.spec?.['hard'] },
    })
    expect(of(updated)).toEqual({ hard: { cpu: '500m', memory: '500Mi' }, used: { cpu: '0', memory: '0' } })
    const hard = { cpu: '1', memory: '1Gi' }
    await wire.must('PATCH', at('resourcequotas/rq'), { spec: { hard } }, strategic)
    expect(of(await wire.must('PATCH', at('resourcequotas/rq/status'), { status: { hard } }, strategic)).hard).toEqual(
      hard,
    )
    const other = { hard: { cpu: '2', memory: '2Gi' }, used: { cpu: '7' } }
    const repatched = await wire.must('PATCH', at('resourcequotas/rq/status'), { status: other }, strategic)
    // Shown as written, but what is used belongs to the server, and what holds is the spec.
    expect(of(repatched)).toEqual({ hard: other.hard, used: { cpu: '0', memory: '0' } })
    const resourcequotas = { group: '', version: 'v1', resource: 'resourcequotas' }
    const reset = await waitFor(
      plane.client,
      resourcequotas,
      { namespace: 'q', name: 'rq' },
      (o) => JSON.stringify(of(o).hard) === JSON.stringify(hard),
    )
    expect(reset?.['spec']).toEqual({ hard })
  })
})

const needs = { requests: { cpu: '500m', memory: '200Mi' }, limits: { cpu: '1', memory: '400Mi' } }
const pods = { pods: '5' }
const computed = { ...pods, 'requests.cpu': '1', 'requests.memory': '500Mi', 'limits.cpu': '2', 'limits.memory': '1Gi' }
const all = {
  pods: '1',
  'requests.cpu': '500m',
  'requests.memory': '200Mi',
  'limits.cpu': '1',
  'limits.memory': '400Mi',
}
const none = { pods: '0', 'requests.cpu': '0', 'requests.memory': '0', 'limits.cpu': '0', 'limits.memory': '0' }

const byName = (scope: string): object => ({ scopes: [scope] })
const bySelector = (scope: string): object => ({
  scopeSelector: { matchExpressions: [{ scopeName: scope, operator: 'Exists' }] },
})

describe.each([
  { how: 'scopes', scoped: byName },
  { how: 'scope-selectors', scoped: bySelector },
])('ResourceQuota by $how', ({ scoped }) => {
  it.each([
    {
      name: 'should verify ResourceQuota with terminating scopes.',
      hard: computed,
      first: { scope: 'NotTerminating', pod: pod('p', needs), want: all, not: none },
      second: { scope: 'Terminating', pod: pod('t', needs, { activeDeadlineSeconds: 3600 }), want: all, not: none },
    },
    {
      name: 'should verify ResourceQuota with best effort scope.',
      hard: pods,
      first: { scope: 'BestEffort', pod: pod('p'), want: { pods: '1' }, not: { pods: '0' } },
      second: { scope: 'NotBestEffort', pod: pod('b', needs), want: { pods: '1' }, not: { pods: '0' } },
    },
  ])('$name', async ({ hard, first, second }) => {
    for (const { scope } of [first, second]) {
      const { status } = await create(scope.toLowerCase(), hard, scoped(scope))
      expect(status).toMatchObject({ used: { pods: '0' } })
    }
    for (const [its, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const made = await wire.must('POST', at('pods'), its.pod)
      await expectUsed(its.want, its.scope.toLowerCase())
      await expectUsed(its.not, other.scope.toLowerCase())
      await wire.must('DELETE', at(`pods/${made.metadata.name}`), { gracePeriodSeconds: 0 })
      await expectUsed(its.not, its.scope.toLowerCase())
    }
  })
})

describe('ResourceQuota priority class', () => {
  const ofClass = (operator: string, values?: string[]): object => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values ? { values } : {}) }] },
  })
  const classy = (name: string, priorityClassName?: string): object =>
    pod(name, {}, priorityClassName ? { priorityClassName } : {})

  it.each([
    {
      name: '(quota set to pod count: 1) against 2 pods with same priority class.',
      scope: ofClass('In', ['one']),
      given: ['one', 'one'],
      counts: [true, 'refused'],
    },
    {
      name: '(quota set to pod count: 1) against 2 pods with different priority class.',
      scope: ofClass('In', ['one']),
      given: ['one', 'two'],
      counts: [true, false],
    },
    {
      name: '(quota set to pod count: 2) against 2 pods with different priority class.',
      scope: ofClass('In', ['one', 'two']),
      given: ['one', 'two'],
      counts: [true, 'refused'],
    },
    {
      name: '(quota set to pod count: 1) against a pod with different priority class (ScopeSelectorOpNotIn).',
      scope: ofClass('NotIn', ['one']),
      given: ['one', 'one'],
      counts: [false, false],
    },
    {
      name: '(quota set to pod count: 1) against a pod with different priority class (ScopeSelectorOpIn).',
      scope: ofClass('In', ['one']),
      given: ['two', 'two'],
      counts: [false, false],
    },
    {
      name: '(cpu, memory quota set) against a pod with same priority class.',
      scope: ofClass('In', ['one']),
      given: ['one'],
      counts: [true],
    },
    {
      name: 'that exists, against pods with and without one.',
      scope: ofClass('Exists'),
      given: [undefined, 'one'],
      counts: [false, true],
    },
    {
      name: 'that does not exist, against pods with and without one.',
      scope: ofClass('DoesNotExist'),
      given: ['one', undefined],
      counts: [false, true],
    },
    {
      name: 'not in, against a pod without one.',
      scope: ofClass('NotIn', ['one']),
      given: [undefined],
      counts: [true],
    },
  ])("should verify ResourceQuota's priority class scope $name", async ({ scope, given, counts }) => {
    for (const name of ['one', 'two']) {
      await wire.must('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value: 1000 })
    }
    await create('quota-priorityclass', { pods: '1' }, scope)
    let counted = 0
    for (const [i, priorityClass] of given.entries()) {
      const { status } = await wire.call('POST', at('pods'), classy(`p-${i}`, priorityClass))
      expect(status).toBe(counts[i] === 'refused' ? 403 : 201)
      if (counts[i] === true) counted++
      await expectUsed({ pods: String(counted) }, 'quota-priorityclass')
    }
  })
})

describe('ResourceQuota volume attributes class', () => {
  const ofClass = (operator: string, values: string[]): object => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator, values }] },
  })
  const hard = { 'requests.storage': '5Gi', persistentvolumeclaims: '1' }
  const one = { 'requests.storage': '1Gi', persistentvolumeclaims: '1' }
  const zero = { 'requests.storage': '0', persistentvolumeclaims: '0' }
  const classy = (name: string, volumeAttributesClassName: string): object =>
    claim(name, { storageClassName: '', volumeAttributesClassName })

  it(
    "should verify ResourceQuota's volume attributes class scope (quota set to pvc count: 1) against 2 pvcs " +
      'with same volume attributes class.',
    async () => {
      await create('gold', hard, ofClass('In', ['gold']))
      await wire.must('POST', at('persistentvolumeclaims'), classy('test-claim-1', 'gold'))
      await expectUsed(one, 'gold')
      expect((await wire.call('POST', at('persistentvolumeclaims'), classy('test-claim-2', 'gold'))).status).toBe(403)
      await wire.must('DELETE', at('persistentvolumeclaims/test-claim-1'))
      await expectUsed(zero, 'gold')
    },
  )

  it(
    "should verify ResourceQuota's volume attributes class scope (quota set to pvc count: 1) against a pvc " +
      'with different volume attributes class.',
    async () => {
      await create('gold', hard, ofClass('In', ['gold']))
      await create('silver', hard, ofClass('In', ['silver']))
      await create('not-gold', hard, ofClass('NotIn', ['gold']))
      const path = at('persistentvolumeclaims/test-claim')
      await wire.must('POST', at('persistentvolumeclaims'), classy('test-claim', 'gold'))
      const status = { phase: 'Bound', currentVolumeAttributesClassName: 'gold' }
      await wire.must('PATCH', `${path}/status`, { status }, merge)
      await wire.must('PATCH', path, { spec: { volumeAttributesClassName: 'silver' } }, merge)
      // On its way from one to the other it counts for both.
      for (const name of ['gold', 'silver', 'not-gold']) await expectUsed(one, name)
      await wire.must('PATCH', `${path}/status`, { status: { currentVolumeAttributesClassName: 'silver' } }, merge)
      await expectUsed(zero, 'gold')
      for (const name of ['silver', 'not-gold']) await expectUsed(one, name)
    },
  )
})

describe('ResourceQuota cross-namespace pod affinity', () => {
  it('should verify ResourceQuota with cross namespace pod affinity scope using scope-selectors.', async () => {
    await create('quota-cross-namespace-pod-affinity', { pods: '3' }, bySelector('CrossNamespacePodAffinity'))
    const term = { labelSelector: { matchLabels: { app: 'test' } }, topologyKey: 'region' }
    const affinity = (more: object): object => ({
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, ...more }] } },
    })
    const rows: [string, object, string][] = [
      ['plain', affinity({}), '0'],
      ['with-namespaces', affinity({ namespaces: ['ns1'] }), '1'],
      ['with-namespace-selector', affinity({ namespaceSelector: {} }), '2'],
      [
        'preferred-anti',
        {
          affinity: {
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 1, podAffinityTerm: { ...term, namespaceSelector: { matchLabels: { a: 'b' } } } },
              ],
            },
          },
        },
        '3',
      ],
    ]
    for (const [name, spec, want] of rows) {
      await wire.must('POST', at('pods'), pod(name, {}, spec))
      await expectUsed({ pods: want }, 'quota-cross-namespace-pod-affinity')
    }
    expect((await wire.call('POST', at('pods'), pod('over', {}, affinity({ namespaces: ['x'] })))).status).toBe(403)
    for (const [name] of rows) await wire.must('DELETE', at(`pods/${name}`), { gracePeriodSeconds: 0 })
    await expectUsed({ pods: '0' }, 'quota-cross-namespace-pod-affinity')
  })
})

describe('ResourceQuota and a pod that is resized', () => {
  it('charges the more of what it has and what it wants, and refuses what exceeds', async () => {
    await create('cpu', { 'requests.cpu': '1' })
    await wire.must('POST', at('pods'), pod('p', { requests: { cpu: '500m' } }))
    const resize = (cpu: string): object => ({
      spec: { containers: [{ name: 'pause', resources: { requests: { cpu } } }] },
    })
    const over = await wire.call('PATCH', at('pods/p/resize'), resize('1500m'), strategic)
    expect(over.body.message).toBe(
      'pods "p" is forbidden: exceeded quota: cpu, requested: requests.cpu=1, used: requests.cpu=500m, ' +
        'limited: requests.cpu=1',
    )
    await wire.must('PATCH', at('pods/p/resize'), resize('800m'), strategic)
    await expectUsed({ 'requests.cpu': '800m' }, 'cpu')
    const runs = (cpu: string, more: object = {}): object => ({
      status: {
        containerStatuses: [
          { name: 'pause', image: 'x', imageID: '', ready: true, restartCount: 0, resources: { requests: { cpu } } },
        ],
        ...more,
      },
    })
    await wire.must('PATCH', at('pods/p/status'), runs('800m'), merge)
    await wire.must('PATCH', at('pods/p/resize'), resize('300m'), strategic)
    await expectUsed({ 'requests.cpu': '800m' }, 'cpu')
    await wire.must('PATCH', at('pods/p/status'), runs('300m'), merge)
    await expectUsed({ 'requests.cpu': '300m' }, 'cpu')
    await wire.must('PATCH', at('pods/p/resize'), resize('900m'), strategic)
    const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }]
    await wire.must('PATCH', at('pods/p/status'), runs('300m', { conditions }), merge)
    await expectUsed({ 'requests.cpu': '300m' }, 'cpu')
  })
})

it('a kind that is called events and is not the events of the system is counted', async () => {
  await install(plane, definition({ group: 'ex.io', plural: 'events', kind: 'Happening' }))
  await create('q', { 'count/events.ex.io': '1', 'count/events': '1' })
  await wire.must('POST', ofGroup('ex.io', 'events'), {
    apiVersion: 'ex.io/v1',
    kind: 'Happening',
    metadata: { name: 'a' },
  })
  await expectUsed({ 'count/events.ex.io': '1', 'count/events': '0' }, 'q')
})

it('a namespace has so many quotas that a change of content can be charged to all of them', async () => {
  for (let i = 0; i < 90; i++) await create(`q-${i}`, { configmaps: '100' })
  await wire.must('POST', at('configmaps'), { metadata: { name: 'a' } })
  await expectUsed({ configmaps: '2' }, 'q-89')
  const more = await wire.call('POST', at('resourcequotas'), {
    metadata: { name: 'more' },
    spec: { hard: { pods: '1' } },
  })
  expect(more.body).toEqual(forbidden({ kind: 'resourcequotas', name: 'more' }, 'a namespace has at most 90 quotas'))
})
