/** LimitRanger through the whole server, in upstream's words. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure } from '../support/refusal.ts'
import { type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire
let count = 0

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})

afterAll(() => plane[Symbol.asyncDispose]())

/** A namespace with one LimitRange. Answers its path. */
async function limited(...limits: object[]): Promise<string> {
  const name = `limited-${++count}`
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name } })
  await wire.must('POST', `/api/v1/namespaces/${name}/limitranges`, { metadata: { name: 'l' }, spec: { limits } })
  return `/api/v1/namespaces/${name}`
}

interface Container {
  name: string
  resources?: object
  restartPolicy?: string
}

const pod = (containers: Container[], initContainers: Container[] = []): object => {
  const full = (c: Container): object => ({ image: 'nginx', ...c })
  return {
    metadata: { name: 'p' },
    spec: {
      containers: containers.map(full),
      ...(initContainers.length > 0 ? { initContainers: initContainers.map(full) } : {}),
    },
  }
}

const resourcesOf = (o: AnswerBody, role: string): unknown[] =>
  ((o.spec?.[role] ?? []) as { resources: unknown }[]).map((c) => c.resources)

describe('defaults', () => {
  it('fill what containers leave out, and an annotation tells what', async () => {
    const at = await limited({
      type: 'Container',
      default: { cpu: '500m', memory: '512Mi' },
      defaultRequest: { cpu: '100m', memory: '64Mi' },
    })
    const made = await wire.must(
      'POST',
      `${at}/pods`,
      pod(
        [{ name: 'a' }, { name: 'b', resources: { requests: { cpu: '200m' }, limits: { memory: '1Gi' } } }],
        [{ name: 'i' }],
      ),
    )
    expect(resourcesOf(made, 'containers')).toEqual([
      { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '500m', memory: '512Mi' } },
      // A limit that is set is the request too, before LimitRanger comes.
      { requests: { cpu: '200m', memory: '1Gi' }, limits: { cpu: '500m', memory: '1Gi' } },
    ])
    expect(resourcesOf(made, 'initContainers')).toEqual([
      { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '500m', memory: '512Mi' } },
    ])
    expect(made.metadata.annotations?.['kubernetes.io/limit-ranger']).toBe(
      'LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; cpu ' +
        'limit for container b; cpu, memory request for init container i; cpu, memory limit for init container ' +
        'i',
    )
  })

  it('follow from max alone', async () => {
    const at = await limited({ type: 'Container', max: { cpu: '1' } })
    const range = await wire.must('GET', `${at}/limitranges/l`)
    expect(range.spec).toEqual({
      limits: [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '1' }, defaultRequest: { cpu: '1' } }],
    })
    const made = await wire.must('POST', `${at}/pods`, pod([{ name: 'a' }]))
    expect(resourcesOf(made, 'containers')).toEqual([{ requests: { cpu: '1' }, limits: { cpu: '1' } }])
  })

  it('change nothing that says all, and leave no annotation', async () => {
    const at = await limited({ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '1' } })
    const resources = { requests: { cpu: '1' }, limits: { cpu: '1' } }
    const made = await wire.must('POST', `${at}/pods`, pod([{ name: 'a', resources }]))
    expect(made.metadata.annotations).toBeUndefined()
  })
})

interface Row {
  name: string
  limit: object
  given: object
  want: string
}

const asks = (requests: object, limits?: object): Container => ({
  name: 'a',
  resources: { requests, ...(limits ? { limits } : {}) },
})

const rows: Row[] = [
  {
    name: 'too small a request',
    limit: { type: 'Container', min: { cpu: '100m' } },
    given: pod([asks({ cpu: '50m' })]),
    want: 'minimum cpu usage per Container is 100m, but request is 50m',
  },
  {
    name: 'too large a limit',
    limit: { type: 'Container', max: { cpu: '1' } },
    given: pod([asks({ cpu: '1' }, { cpu: '2' })]),
    want: 'maximum cpu usage per Container is 1, but limit is 2',
  },
  {
    name: 'a limit that default fills in, and a request above it all',
    limit: { type: 'Container', max: { memory: '1Gi' }, default: { memory: '1Gi' } },
    given: pod([asks({ memory: '1Gi' }, { memory: '2Gi' })]),
    want: 'maximum memory usage per Container is 1Gi, but limit is 2Gi',
  },
  {
    name: 'too wide a ratio',
    limit: { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    given: pod([asks({ cpu: '50m' }, { cpu: '2' })]),
    want: 'cpu max limit to request ratio per Container is 2, but provided ratio is 40.000000',
  },
  {
    name: 'a ratio of nothing',
    limit: { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
    given: pod([{ name: 'a' }]),
    want: 'cpu max limit to request ratio per Container is 2, but no request is specified or request is 0',
  },
  {
    name: 'an init container as any other',
    limit: { type: 'Container', min: { cpu: '100m' } },
    given: pod([asks({ cpu: '100m' })], [{ ...asks({ cpu: '10m' }), name: 'i' }]),
    want: 'minimum cpu usage per Container is 100m, but request is 10m',
  },
  {
    name: 'a pod that is too large as a whole',
    limit: { type: 'Pod', max: { memory: '1Gi' } },
    given: pod([asks({ memory: '1Gi' }, { memory: '1Gi' }), { ...asks({}, { memory: '1Gi' }), name: 'b' }]),
    want: 'maximum memory usage per Pod is 1Gi, but limit is 2Gi',
  },
  {
    name: 'a pod of which no container sets a limit',
    limit: { type: 'Pod', max: { memory: '1Gi' } },
    given: pod([{ name: 'a' }, { name: 'b' }]),
    want: 'maximum memory usage per Pod is 1Gi.  No limit is specified',
  },
  {
    name: 'an init container that needs more than all containers together',
    limit: { type: 'Pod', max: { cpu: '1' } },
    given: pod([asks({}, { cpu: '600m' })], [{ ...asks({}, { cpu: '2' }), name: 'i' }]),
    want: 'maximum cpu usage per Pod is 1, but limit is 2',
  },
  {
    name: 'a pod that asks for nothing',
    limit: { type: 'Pod', min: { cpu: '1' } },
    given: pod([{ name: 'a' }]),
    want: 'minimum cpu usage per Pod is 1.  No request is specified',
  },
  {
    name: 'a sidecar together with the containers it runs beside',
    limit: { type: 'Pod', max: { cpu: '1' } },
    given: pod([asks({}, { cpu: '600m' })], [{ ...asks({}, { cpu: '600m' }), name: 's', restartPolicy: 'Always' }]),
    want: 'maximum cpu usage per Pod is 1, but limit is 1200m',
  },
  {
    name: 'everything that is wrong, at once',
    limit: { type: 'Container', min: { cpu: '100m', memory: '1Mi' } },
    given: pod([asks({ cpu: '1m', memory: '1' })]),
    want:
      '[minimum cpu usage per Container is 100m, but request is 1m, minimum memory usage per Container is 1Mi, ' +
      'but request is 1]',
  },
]

describe('a pod is refused for', () => {
  it.each(rows)('$name', async ({ limit, given, want }) => {
    const at = await limited(limit)
    const { status, body } = await wire.call('POST', `${at}/pods`, given)
    expect({ status, reason: body.reason, message: body.message }).toEqual({
      status: 403,
      reason: 'Forbidden',
      message: `pods "p" is forbidden: ${want}`,
    })
  })
})

describe('a claim', () => {
  const claim = (storage: string): object => ({
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
  })
  const limit = { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } }

  it('is refused for being too small or too large', async () => {
    const at = await limited(limit)
    expect((await wire.call('POST', `${at}/persistentvolumeclaims`, claim('500Mi'))).body).toEqual(
      failure({
        message:
          'persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, ' +
          'but request is 500Mi',
        reason: 'Forbidden',
        details: { name: 'c', kind: 'persistentvolumeclaims' },
        code: 403,
      }),
    )
    expect((await wire.call('POST', `${at}/persistentvolumeclaims`, claim('5Gi'))).body).toEqual(
      failure({
        message:
          'persistentvolumeclaims "c" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, ' +
          'but request is 5Gi',
        reason: 'Forbidden',
        details: { name: 'c', kind: 'persistentvolumeclaims' },
        code: 403,
      }),
    )
    expect((await wire.call('POST', `${at}/persistentvolumeclaims`, claim('2Gi'))).status).toBe(201)
  })
})

describe('what is there already', () => {
  const merge = 'application/merge-patch+json'

  it('is measured again only where it changes: a claim', async () => {
    const name = `late-${++count}`
    const at = `/api/v1/namespaces/${name}`
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name } })
    const claim = {
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    await wire.must('POST', `${at}/persistentvolumeclaims`, claim)
    const limits = [{ type: 'PersistentVolumeClaim', min: { storage: '5Gi' }, max: { storage: '9Gi' } }]
    await wire.must('POST', `${at}/limitranges`, { metadata: { name: 'l' }, spec: { limits } })
    await wire.must('PATCH', `${at}/persistentvolumeclaims/c`, { metadata: { labels: { a: 'b' } } }, merge)
    // Only a bound claim can grow.
    await wire.must('PATCH', `${at}/persistentvolumeclaims/c/status`, { status: { phase: 'Bound' } }, merge)
    const grown = { spec: { resources: { requests: { storage: '2Gi' } } } }
    expect((await wire.call('PATCH', `${at}/persistentvolumeclaims/c`, grown, merge)).body).toEqual(
      failure({
        message:
          'persistentvolumeclaims "c" is forbidden: minimum storage usage per PersistentVolumeClaim is 5Gi, ' +
          'but request is 2Gi',
        reason: 'Forbidden',
        details: { name: 'c', kind: 'persistentvolumeclaims' },
        code: 403,
      }),
    )
  })

  it('is measured again only where it changes: a pod that is resized', async () => {
    const at = await limited({ type: 'Container', max: { cpu: '1', memory: '1Gi' } })
    await wire.must('POST', `${at}/pods`, pod([asks({ cpu: '500m', memory: '1Gi' }, { cpu: '1', memory: '1Gi' })]))
    const lower = { spec: { limits: [{ type: 'Container', max: { cpu: '1', memory: '512Mi' } }] } }
    await wire.must('PATCH', `${at}/limitranges/l`, lower, merge)
    const resize = (cpu: string): object => ({
      spec: { containers: [{ name: 'a', resources: { requests: { cpu: '600m' }, limits: { cpu } } }] },
    })
    const strategic = 'application/strategic-merge-patch+json'
    expect((await wire.call('PATCH', `${at}/pods/p/resize`, resize('2'), strategic)).body).toEqual(
      failure({
        message: 'pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2',
        reason: 'Forbidden',
        details: { name: 'p', kind: 'pods' },
        code: 403,
      }),
    )
    expect((await wire.call('PATCH', `${at}/pods/p/resize`, resize('1'), strategic)).status).toBe(200)
  })
})

describe('LimitRanges', () => {
  it('let pods that exist be, and hold for what is new', async () => {
    const name = `late-${++count}`
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name } })
    const at = `/api/v1/namespaces/${name}`
    await wire.must('POST', `${at}/pods`, pod([asks({ cpu: '1m' })]))
    const limits = [{ type: 'Container', min: { cpu: '1' } }]
    await wire.must('POST', `${at}/limitranges`, { metadata: { name: 'l' }, spec: { limits } })
    const labels = { metadata: { labels: { a: 'b' } } }
    expect((await wire.call('PATCH', `${at}/pods/p`, labels, 'application/merge-patch+json')).status).toBe(200)
  })
})
