/** Quota through the whole server: what is charged, what is refused, and that the account is always right. */
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { createControlPlane } from '../../src/app/control-plane.ts'
import type { Client } from '../../src/client/client.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { prefixSpan } from '../../src/storage/storage.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { contestQuota, quotaSteps, type SeenChange, verifyAccounts } from '../support/contested-quota.ts'
import { failure, forbidden } from '../support/refusal.ts'
import { type Answer, type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

beforeEach(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'q' } })
})

afterEach(() => plane[Symbol.asyncDispose]())

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const quotas = { group: '', version: 'v1', resource: 'resourcequotas' }

const revisionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion)

const at = (resource: string): string => `/api/v1/namespaces/q/${resource}`

const quota = (name: string, hard: object, more: object = {}): Promise<AnswerBody> =>
  wire.must('POST', at('resourcequotas'), { metadata: { name }, spec: { hard, ...more } })

async function used(name: string): Promise<Record<string, string>> {
  const { status } = await wire.must('GET', at(`resourcequotas/${name}`))
  return (status as { used: Record<string, string> }).used
}

const pod = (name: string, resources: object = {}, spec: object = {}): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'nginx', resources }], ...spec },
})

const configMap = (name: string): Promise<Answer> => wire.call('POST', at('configmaps'), { metadata: { name } })

describe('a quota that is created', () => {
  it('counts what is there already, in the answer to its own create', async () => {
    await configMap('a')
    await wire.must('POST', at('pods'), pod('p', { requests: { cpu: '250m', memory: '64Mi' } }))
    const made = await quota('all', {
      configmaps: '10',
      'count/secrets': '5',
      pods: '4',
      'requests.cpu': '1',
      'requests.memory': '1Gi',
      resourcequotas: '3',
    })
    expect(made.status).toEqual({
      hard: {
        configmaps: '10',
        'count/secrets': '5',
        pods: '4',
        'requests.cpu': '1',
        'requests.memory': '1Gi',
        resourcequotas: '3',
      },
      // kube-root-ca.crt counts as it does upstream.
      used: {
        configmaps: '2',
        'count/secrets': '0',
        pods: '1',
        'requests.cpu': '250m',
        'requests.memory': '64Mi',
        resourcequotas: '1',
      },
    })
    expect((await wire.must('GET', at('resourcequotas/all'))).status).toEqual(made.status)
  })

  it('holds from the first moment: whoever comes after it is counted, whoever came before too', async () => {
    const creating = Array.from({ length: 40 }, (_, i) => configMap(`c-${i}`))
    const made = quota('tight', { 'count/configmaps': '21' })
    const answers = await Promise.all([...creating, made.then(() => configMap('last'))])
    const stored = (await wire.must('GET', at('configmaps'))).items.length
    expect(await used('tight')).toEqual({ 'count/configmaps': String(stored) })
    for (const { status, body } of answers.filter((a) => a.status !== 201)) {
      expect([status, body.message]).toEqual([403, expect.stringContaining('exceeded quota: tight')])
    }
  })

  it('counts at once what is on its way there, and keeps nobody waiting', async () => {
    await using own = await createControlPlane({ ...defaultConfig, population: false })
    const { storage } = own.core
    const client = own.client()
    await client.create(namespaces, { metadata: { name: 'q' } })
    const stop = new AbortController()
    const epochs = storage.watch(prefixSpan('/registry/borough/'), await storage.currentRevision(), stop.signal)
    const creating = Array.from({ length: 20 }, (_, i) =>
      client.create(configMaps, { metadata: { name: `c-${i}`, namespace: 'q' } }),
    )
    const made = await client.create(quotas, {
      metadata: { name: 'q', namespace: 'q' },
      spec: { hard: { configmaps: '30' } },
    })
    const before = (await Promise.all(creating)).filter((c) => revisionOf(c) < revisionOf(made))
    expect(before).toHaveLength(20)
    expect(made['status']).toMatchObject({ used: { configmaps: '21' } })
    // The epoch is not marked first: it comes with the quota.
    for await (const batch of epochs) {
      if (batch.type === 'progress') continue
      const [first] = batch.changes
      expect(Math.floor((first?.revision ?? 0) / 1024)).toBe(Math.floor(revisionOf(made) / 1024))
      break
    }
    stop.abort()
  })

  it('is recounted when its spec changes, and is charged from what it says now', async () => {
    await quota('changing', { configmaps: '10' })
    await wire.must('POST', at('secrets'), { metadata: { name: 's' } })
    const next = await wire.must('PUT', at('resourcequotas/changing'), {
      metadata: { name: 'changing' },
      spec: { hard: { secrets: '1' } },
    })
    expect(next.status).toEqual({ hard: { secrets: '1' }, used: { secrets: '1' } })
    expect((await wire.call('POST', at('secrets'), { metadata: { name: 't' } })).status).toBe(403)
  })

  it('by a rehearsal is not there, and holds nobody up', async () => {
    const answer = await wire.call('POST', `${at('resourcequotas')}?dryRun=All`, {
      metadata: { name: 'dry' },
      spec: { hard: { configmaps: '1' } },
    })
    expect(answer.status).toBe(201)
    expect((await configMap('a')).status).toBe(201)
  })

  it('twice is refused, and holds nobody up', async () => {
    await quota('once', { configmaps: '5' })
    const again = { metadata: { name: 'once' }, spec: { hard: { configmaps: '1' } } }
    expect((await wire.call('POST', at('resourcequotas'), again)).status).toBe(409)
    expect((await configMap('a')).status).toBe(201)
    expect(await used('once')).toEqual({ configmaps: '2' })
  })

  it('has a status that nobody else can write', async () => {
    await quota('own', { configmaps: '5' })
    const status = { hard: { configmaps: '100' }, used: { configmaps: '0' } }
    await wire.must('PATCH', at('resourcequotas/own/status'), { status }, 'application/merge-patch+json')
    await wire.must('PATCH', at('resourcequotas/own'), { status }, 'application/merge-patch+json')
    expect((await wire.must('GET', at('resourcequotas/own'))).status).toEqual({
      hard: { configmaps: '5' },
      used: { configmaps: '1' },
    })
  })

  it('leaves nothing behind when it and its namespace are gone', async () => {
    await quota('a', { configmaps: '5' })
    await quota('b', { configmaps: '5' })
    await wire.must('DELETE', at('resourcequotas/a'))
    expect(await used('b')).toEqual({ configmaps: '1' })
    await wire.must('DELETE', at('resourcequotas/b'))
    expect((await configMap('free')).status).toBe(201)
    await quota('c', { configmaps: '5' })
    expect(await used('c')).toEqual({ configmaps: '2' })
  })
})

describe('what is charged', () => {
  interface Row {
    name: string
    hard: object
    resource: string
    given: object
    want: object
  }
  const pods = 'pods'
  const rows: Row[] = [
    {
      name: 'a pod: the sum of its containers, under both names',
      hard: { cpu: '4', 'requests.cpu': '4', memory: '4Gi', 'limits.cpu': '8', 'limits.memory': '8Gi' },
      resource: pods,
      given: {
        metadata: { name: 'p' },
        spec: {
          containers: ['a', 'b'].map((name) => ({
            name,
            image: 'nginx',
            resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } },
          })),
        },
      },
      want: { cpu: '200m', 'requests.cpu': '200m', memory: '2Gi', 'limits.cpu': '2', 'limits.memory': '2Gi' },
    },
    {
      name: 'a pod whose init container asks for more than all the rest, beside a sidecar',
      hard: { 'requests.cpu': '4' },
      resource: pods,
      given: {
        metadata: { name: 'p' },
        spec: {
          initContainers: [
            {
              name: 'sidecar',
              image: 'nginx',
              restartPolicy: 'Always',
              resources: { requests: { cpu: '200m' } },
            },
            { name: 'init', image: 'nginx', resources: { requests: { cpu: '1' } } },
          ],
          containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '300m' } } }],
        },
      },
      want: { 'requests.cpu': '1200m' },
    },
    {
      name: 'a pod that asks for devices',
      hard: { 'requests.ex.io/gpu': '4', 'count/pods': '3' },
      resource: pods,
      given: pod('p', { requests: { 'ex.io/gpu': '2' }, limits: { 'ex.io/gpu': '2' } }),
      want: { 'requests.ex.io/gpu': '2', 'count/pods': '1' },
    },
    {
      name: 'a service with node ports',
      hard: { services: '5', 'services.nodeports': '5', 'services.loadbalancers': '5', 'count/services': '5' },
      resource: 'services',
      given: {
        metadata: { name: 's' },
        spec: {
          type: 'NodePort',
          ports: [
            { name: 'a', port: 1 },
            { name: 'b', port: 2 },
          ],
        },
      },
      want: { services: '1', 'services.nodeports': '2', 'services.loadbalancers': '0', 'count/services': '1' },
    },
    {
      name: 'a service with a load balancer',
      hard: { 'services.nodeports': '5', 'services.loadbalancers': '5' },
      resource: 'services',
      given: { metadata: { name: 's' }, spec: { type: 'LoadBalancer', ports: [{ port: 1 }] } },
      want: { 'services.nodeports': '1', 'services.loadbalancers': '1' },
    },
    {
      name: 'a claim, of its storage class too',
      hard: {
        persistentvolumeclaims: '5',
        'requests.storage': '10Gi',
        'gold.storageclass.storage.k8s.io/requests.storage': '5Gi',
        'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '5',
        'bronze.storageclass.storage.k8s.io/requests.storage': '5Gi',
      },
      resource: 'persistentvolumeclaims',
      given: {
        metadata: { name: 'c' },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'gold',
          resources: { requests: { storage: '2Gi' } },
        },
      },
      want: {
        persistentvolumeclaims: '1',
        'requests.storage': '2Gi',
        'gold.storageclass.storage.k8s.io/requests.storage': '2Gi',
        'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
        'bronze.storageclass.storage.k8s.io/requests.storage': '0',
      },
    },
  ]
  it.each(rows)('$name', async ({ hard, resource, given, want }) => {
    await quota('q', hard)
    const made = await wire.must('POST', at(resource), given)
    expect(await used('q')).toEqual(want)
    // The same by a recount, and nothing when it is gone.
    await wire.must('PATCH', at('resourcequotas/q'), { spec: { hard: { ...hard, configmaps: '9' } } }, merge)
    expect(await used('q')).toEqual({ ...want, configmaps: '1' })
    await wire.must('DELETE', at(`${resource}/${made.metadata.name}`))
    const zeros = Object.fromEntries(Object.keys(want).map((key) => [key, '0']))
    expect(await used('q')).toEqual({ ...zeros, configmaps: '1' })
  })

  it('a kind of another group, by its full name', async () => {
    await quota('q', { 'count/deployments.apps': '1' })
    const deployment = {
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'main', image: 'nginx' }] },
        },
      },
    }
    await wire.must('POST', '/apis/apps/v1/namespaces/q/deployments', deployment)
    expect(await used('q')).toEqual({ 'count/deployments.apps': '1' })
    const more = { ...deployment, metadata: { name: 'e' } }
    expect((await wire.call('POST', '/apis/apps/v1/namespaces/q/deployments', more)).status).toBe(403)
  })

  it('by a status that says that a pod has ended: its object still counts, its needs do not', async () => {
    await quota('q', { pods: '2', 'count/pods': '5', 'requests.cpu': '1' })
    await wire.must('POST', at('pods'), pod('p', { requests: { cpu: '1' } }))
    await wire.must('PATCH', at('pods/p/status'), { status: { phase: 'Succeeded' } }, merge)
    expect(await used('q')).toEqual({ pods: '0', 'count/pods': '1', 'requests.cpu': '0' })
  })

  it('by a status that has an ended pod run again, which is refused where it does not fit', async () => {
    await quota('q', { pods: '2', 'requests.cpu': '1' })
    await wire.must('POST', at('pods'), pod('p', { requests: { cpu: '1' } }))
    await wire.must('PATCH', at('pods/p/status'), { status: { phase: 'Failed' } }, merge)
    await wire.must('POST', at('pods'), pod('other', { requests: { cpu: '1' } }))
    const running = { status: { phase: 'Running' } }
    expect((await wire.call('PATCH', at('pods/p/status'), running, merge)).body).toEqual(
      failure({
        message:
          'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1, ' +
          'limited: requests.cpu=1',
        reason: 'Forbidden',
        details: { name: 'p', kind: 'pods' },
        code: 403,
      }),
    )
    await wire.must('DELETE', at('pods/other'))
    await wire.must('PATCH', at('pods/p/status'), running, merge)
    expect(await used('q')).toEqual({ pods: '1', 'requests.cpu': '1' })
  })

  it('by an update: the difference', async () => {
    await quota('q', { 'services.nodeports': '2' })
    const service = (ports: number, type = 'NodePort'): object => ({
      metadata: { name: 's' },
      spec: { type, ports: Array.from({ length: ports }, (_, i) => ({ name: `p${i}`, port: i + 1 })) },
    })
    await wire.must('POST', at('services'), service(1))
    await wire.must('PUT', at('services/s'), service(2))
    expect(await used('q')).toEqual({ 'services.nodeports': '2' })
    expect((await wire.call('PUT', at('services/s'), service(3))).body).toEqual(
      failure({
        message:
          'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: ' +
          'services.nodeports=2, limited: services.nodeports=2',
        reason: 'Forbidden',
        details: { name: 's', kind: 'services' },
        code: 403,
      }),
    )
    await wire.must('PUT', at('services/s'), service(2, 'ClusterIP'))
    expect(await used('q')).toEqual({ 'services.nodeports': '0' })
  })

  it('by the removal of the last finalizer, however it is removed', async () => {
    await quota('q', { configmaps: '5' })
    await wire.must('POST', at('configmaps'), { metadata: { name: 'held', finalizers: ['ex.io/wait'] } })
    await wire.must('DELETE', at('configmaps/held'))
    expect(await used('q')).toEqual({ configmaps: '2' })
    await wire.must('PATCH', at('configmaps/held'), { metadata: { finalizers: null } }, merge)
    expect(await used('q')).toEqual({ configmaps: '1' })
  })

  it('by neither a rehearsal nor a create that fails', async () => {
    await quota('q', { configmaps: '2' })
    await wire.must('POST', `${at('configmaps')}?dryRun=All`, { metadata: { name: 'a' } })
    expect((await configMap('kube-root-ca.crt')).status).toBe(409)
    expect((await configMap('A_b')).status).toBe(422)
    expect(await used('q')).toEqual({ configmaps: '1' })
    expect((await configMap('a')).status).toBe(201)
    const over = await wire.call('POST', `${at('configmaps')}?dryRun=All`, { metadata: { name: 'b' } })
    expect(over.status).toBe(403)
  })
})

const merge = 'application/merge-patch+json'

describe('what is refused', () => {
  it('is what exceeds, with the names that do, in order', async () => {
    await quota('small', { pods: '3', 'requests.cpu': '1', 'requests.memory': '1Gi' })
    await wire.must('POST', at('pods'), pod('a', { requests: { cpu: '600m', memory: '1Gi' } }))
    const { status, body } = await wire.call(
      'POST',
      at('pods'),
      pod('b', { requests: { cpu: '0.5', memory: '512Mi' } }),
    )
    expect(status).toBe(403)
    expect(body.reason).toBe('Forbidden')
    expect(body.message).toBe(
      'pods "b" is forbidden: exceeded quota: small, requested: requests.cpu=500m,requests.memory=512Mi, ' +
        'used: requests.cpu=600m,requests.memory=1Gi, limited: requests.cpu=1,requests.memory=1Gi',
    )
    expect(await used('small')).toEqual({ pods: '1', 'requests.cpu': '600m', 'requests.memory': '1Gi' })
  })

  it('is what does not say what it needs, container by container', async () => {
    await quota('q', { 'limits.memory': '1Gi', 'requests.cpu': '1' })
    const { body } = await wire.call('POST', at('pods'), {
      metadata: { name: 'p' },
      spec: {
        containers: [
          { name: 'b', image: 'nginx' },
          { name: 'a', image: 'nginx', resources: { limits: { memory: '1Mi' } } },
        ],
      },
    })
    const why = 'failed quota: q: must specify limits.memory for: b; requests.cpu for: a,b'
    expect(body).toEqual(forbidden({ kind: 'pods', name: 'p' }, why))
  })

  it('by one quota is charged to none', async () => {
    await quota('a-wide', { configmaps: '10' })
    await quota('b-tight', { 'count/configmaps': '1' })
    expect((await configMap('x')).body).toEqual(
      failure({
        message:
          'configmaps "x" is forbidden: exceeded quota: b-tight, requested: count/configmaps=1, used: ' +
          'count/configmaps=1, limited: count/configmaps=1',
        reason: 'Forbidden',
        details: { name: 'x', kind: 'configmaps' },
        code: 403,
      }),
    )
    expect(await used('a-wide')).toEqual({ configmaps: '1' })
    expect(await used('b-tight')).toEqual({ 'count/configmaps': '1' })
  })

  it('is nothing when defaults of a LimitRange say what the pod does not', async () => {
    await quota('q', { 'requests.cpu': '1' })
    await wire.must('POST', at('limitranges'), {
      metadata: { name: 'l' },
      spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '100m' } }] },
    })
    await wire.must('POST', at('pods'), pod('p'))
    expect(await used('q')).toEqual({ 'requests.cpu': '100m' })
  })
})

describe('scopes', () => {
  const needs = { requests: { cpu: '1' } }
  const rows: { name: string; spec: object; inside: object; outside: object }[] = [
    {
      name: 'Terminating',
      spec: { scopes: ['Terminating'] },
      inside: pod('in', {}, { activeDeadlineSeconds: 5 }),
      outside: pod('out'),
    },
    {
      name: 'NotTerminating',
      spec: { scopes: ['NotTerminating'] },
      inside: pod('in'),
      outside: pod('out', {}, { activeDeadlineSeconds: 5 }),
    },
    { name: 'BestEffort', spec: { scopes: ['BestEffort'] }, inside: pod('in'), outside: pod('out', needs) },
    { name: 'NotBestEffort', spec: { scopes: ['NotBestEffort'] }, inside: pod('in', needs), outside: pod('out') },
    {
      name: 'PriorityClass In',
      spec: {
        scopeSelector: {
          matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['system-node-critical'] }],
        },
      },
      inside: pod('in', {}, { priorityClassName: 'system-node-critical' }),
      outside: pod('out', {}, { priorityClassName: 'system-cluster-critical' }),
    },
    {
      name: 'PriorityClass DoesNotExist',
      spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'DoesNotExist' }] } },
      inside: pod('in'),
      outside: pod('out', {}, { priorityClassName: 'system-cluster-critical' }),
    },
    {
      name: 'CrossNamespacePodAffinity',
      spec: { scopes: ['CrossNamespacePodAffinity'] },
      inside: pod(
        'in',
        {},
        {
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'zone', namespaces: ['other'], labelSelector: {} },
              ],
            },
          },
        },
      ),
      outside: pod('out'),
    },
  ]
  it.each(rows)('$name counts what it is about, and only that', async ({ spec, inside, outside }) => {
    await quota('scoped', { pods: '1' }, spec)
    await wire.must('POST', at('pods'), outside)
    expect(await used('scoped')).toEqual({ pods: '0' })
    await wire.must('POST', at('pods'), inside)
    expect(await used('scoped')).toEqual({ pods: '1' })
    await wire.must('PATCH', at('resourcequotas/scoped'), { spec: { hard: { pods: '2' } } }, merge)
    expect(await used('scoped')).toEqual({ pods: '1' })
  })
})

describe('many at once', () => {
  it('get exactly what there is: none more, none fewer', async () => {
    await quota('q', { configmaps: '51' })
    const answers = await Promise.all(Array.from({ length: 64 }, (_, i) => configMap(`c-${i}`)))
    expect(answers.filter((a) => a.status === 201)).toHaveLength(50)
    expect(await used('q')).toEqual({ configmaps: '51' })
  })

  it('whatever they do, the account equals a recount at every revision', async () => {
    await fc.assert(
      fc.asyncProperty(quotaSteps, async (steps) => {
        await using own = await startControlPlane({ population: false, controllers: () => false })
        await contestQuota([own], 'q', steps)
      }),
      { numRuns: 12 },
    )
  })

  it.each([
    { name: 'as a collection', go: (own: Client) => own.deleteCollection(quotas, { namespace: 'q' }) },
    {
      name: 'each by itself, at once',
      go: (own: Client) => Promise.all([0, 1, 2].map((i) => own.delete(quotas, { namespace: 'q', name: `q-${i}` }))),
    },
    { name: 'with their namespace', go: (own: Client) => own.delete(namespaces, { name: 'q' }) },
  ])('leave nothing behind that go $name', async ({ go }) => {
    await using own = await createControlPlane({ ...defaultConfig, population: false })
    const ownClient = own.client()
    await ownClient.create(namespaces, { metadata: { name: 'q' } })
    for (let i = 0; i < 3; i++) {
      await ownClient.create(quotas, { metadata: { name: `q-${i}`, namespace: 'q' }, spec: { hard: { pods: '1' } } })
    }
    const epochs = async (): Promise<number> =>
      (await own.core.storage.range(prefixSpan('/registry/borough/'))).entries.length
    expect(await epochs()).toBe(1)
    await go(ownClient)
    await expect.poll(epochs).toBe(0)
  })

  it('are charged once for many that go together', async () => {
    await quota('q', { configmaps: '1000', 'count/secrets': '10' })
    await Promise.all(Array.from({ length: 120 }, (_, i) => configMap(`c-${i}`)))
    await wire.must('POST', at('configmaps'), { metadata: { name: 'held', finalizers: ['ex.io/wait'] } })
    const { metadata } = await wire.must('GET', at('resourcequotas'))
    await wire.must('DELETE', at('configmaps'))
    // Its own, the one that is held, and the certificate authority, which comes back.
    await expect.poll(() => used('q')).toEqual({ configmaps: '2', 'count/secrets': '0' })
    const events = await wire.events(
      `${at('resourcequotas')}?watch=1&resourceVersion=${metadata.resourceVersion}`,
      (seen) => JSON.stringify(seen.at(-1)?.object.status).includes('"configmaps":"2"'),
    )
    // Three groups of fifty at most, and what comes back.
    expect(events.length).toBeLessThanOrEqual(4)
  })

  it('in a namespace that goes are right at every revision, as long as they are there', async () => {
    const born = (await wire.must('GET', '/api/v1/namespaces/q')).metadata.resourceVersion
    const hard = { configmaps: '100', secrets: '100' }
    const held = ['ex.io/wait']
    await wire.must('POST', at('resourcequotas'), { metadata: { name: 'held', finalizers: held }, spec: { hard } })
    await quota('free', hard)
    const finalizersOf = (i: number): object => (i % 4 === 0 ? { finalizers: held } : {})
    for (let i = 0; i < 40; i++) {
      await wire.must('POST', at('configmaps'), { metadata: { name: `c-${i}`, ...finalizersOf(i) } })
    }
    for (let i = 0; i < 5; i++) await wire.must('POST', at('secrets'), { metadata: { name: `s-${i}` } })
    /** Everything since the namespace was made, until nothing is left. */
    const history = async (resource: string): Promise<SeenChange[]> => {
      const events = await wire.events(`${at(resource)}?watch=1&resourceVersion=${born}`, (all) => {
        const alive = all.filter((e) => e.type === 'ADDED').length - all.filter((e) => e.type === 'DELETED').length
        return all.length > 0 && alive === 0
      })
      return events.map(({ type, object }) => ({
        type,
        object,
        resource,
        revision: Number(object.metadata.resourceVersion),
      }))
    }
    await wire.must('DELETE', '/api/v1/namespaces/q')
    await Promise.all(Array.from({ length: 10 }, (_, i) => wire.call('DELETE', at(`configmaps/c-${i * 3}`))))
    const unhold = (place: string): Promise<unknown> =>
      wire.must('PATCH', at(place), { metadata: { finalizers: null } }, merge)
    await expect.poll(async () => (await wire.must('GET', at('configmaps'))).items.length).toBe(10)
    // The one that is held still counts what is held beside it, and nothing else.
    expect(await used('held')).toEqual({ configmaps: '10', secrets: '0' })
    for (let i = 0; i < 40; i += 4) await unhold(`configmaps/c-${i}`)
    expect(await used('held')).toEqual({ configmaps: '0', secrets: '0' })
    await unhold('resourcequotas/held')
    const seen = (await Promise.all(['configmaps', 'secrets', 'resourcequotas'].map(history))).flat()
    expect(seen.filter((e) => e.type === 'DELETED')).toHaveLength(41 + 5 + 2)
    verifyAccounts(seen)
  })

  it('in a namespace that goes do not slow its going', async () => {
    await quota('q', { configmaps: '1000' })
    await Promise.all(Array.from({ length: 300 }, (_, i) => configMap(`c-${i}`)))
    const events = await wire.events(
      '/api/v1/namespaces?watch=1&fieldSelector=metadata.name=q',
      (seen) => seen.at(-1)?.type === 'DELETED',
      () => void wire.must('DELETE', '/api/v1/namespaces/q'),
    )
    expect(events.map((e) => e.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED'])
  })
})
