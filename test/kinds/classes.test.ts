/** What pods, claims and ingresses are given by their classes, or without one, through the whole server. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure } from '../support/refusal.ts'
import { type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

beforeEach(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
})

afterEach(() => plane[Symbol.asyncDispose]())

const pods = '/api/v1/namespaces/default/pods'
const priorities = '/apis/scheduling.k8s.io/v1/priorityclasses'
const runtimes = '/apis/node.k8s.io/v1/runtimeclasses'

const pod = (spec: object = {}): object => ({
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
})

const create = (spec?: object): Promise<AnswerBody> => wire.must('POST', pods, pod(spec))

async function refusal(spec: object): Promise<string> {
  const { status, body } = await wire.call('POST', pods, pod(spec))
  expect(status).toBe(403)
  expect(body).toEqual(
    failure({ message: body.message, reason: 'Forbidden', details: { name: 'p', kind: 'pods' }, code: 403 }),
  )
  return body.message.replace('pods "p" is forbidden: ', '')
}

describe('tolerations of a pod', () => {
  const stays = (key: string): object => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 })
  const notReady = stays('node.kubernetes.io/not-ready')
  const unreachable = stays('node.kubernetes.io/unreachable')
  const everything = { operator: 'Exists' }
  const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }
  const elsewhere = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' }
  const cases: { name: string; given: object[] | undefined; want: object[] }[] = [
    { name: 'are five minutes where it says nothing', given: undefined, want: [notReady, unreachable] },
    { name: 'are its own where it says how long', given: [own], want: [own, unreachable] },
    { name: 'are added to those of another effect', given: [elsewhere], want: [elsewhere, notReady, unreachable] },
    { name: 'stay alone if they are of everything', given: [everything], want: [everything] },
  ]
  it.each(cases)('$name', async ({ given, want }) => {
    const { spec } = await create(given && { tolerations: given })
    expect(spec?.['tolerations']).toEqual(want)
  })
})

describe('the priority of a pod', () => {
  it('is that of the class it names', async () => {
    await wire.must('POST', priorities, { metadata: { name: 'high' }, value: 1000, preemptionPolicy: 'Never' })
    const { spec } = await create({ priorityClassName: 'high' })
    expect(spec).toMatchObject({ priorityClassName: 'high', priority: 1000, preemptionPolicy: 'Never' })
  })

  it('is none without a class, or that of the default', async () => {
    const { spec } = await create()
    expect(spec).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' })
    expect(spec).not.toHaveProperty('priorityClassName')
    await wire.must('DELETE', `${pods}/p`)
    await wire.must('POST', priorities, { metadata: { name: 'usual' }, value: 7, globalDefault: true })
    expect((await create()).spec).toMatchObject({ priorityClassName: 'usual', priority: 7 })
  })

  it('of the system has classes from the start', async () => {
    const { spec } = await create({ priorityClassName: 'system-node-critical' })
    expect(spec?.['priority']).toBe(2_000_001_000)
    expect(await wire.must('GET', `${priorities}/system-cluster-critical`)).toMatchObject({ value: 2_000_000_000 })
  })

  it('stays when an update leaves it out', async () => {
    const { metadata } = await create({ priorityClassName: 'system-node-critical' })
    const sent = { ...pod({ priorityClassName: 'system-node-critical' }), metadata: { name: 'p', labels: { a: 'b' } } }
    const { spec, metadata: next } = await wire.must('PUT', `${pods}/p`, {
      ...sent,
      spec: { ...(await wire.must('GET', `${pods}/p`)).spec, priority: undefined, preemptionPolicy: undefined },
    })
    expect(next.uid).toBe(metadata.uid)
    expect(spec).toMatchObject({ priority: 2_000_001_000, preemptionPolicy: 'PreemptLowerPriority' })
  })

  const refusals: { name: string; spec: object; want: string }[] = [
    {
      name: 'needs a class that exists',
      spec: { priorityClassName: 'none' },
      want: 'no PriorityClass with name none was found',
    },
    {
      name: 'is not for the pod to say',
      spec: { priority: 5 },
      want:
        'the integer value of priority (5) must not be provided in pod spec; priority admission controller ' +
        'computed 0 from the given PriorityClass name',
    },
    {
      name: 'nor whether it pushes others out',
      spec: { preemptionPolicy: 'Never' },
      want:
        'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission ' +
        'controller computed PreemptLowerPriority from the given PriorityClass name',
    },
  ]
  it.each(refusals)('$name', async ({ spec, want }) => {
    expect(await refusal(spec)).toBe(want)
  })

  it('has one default at most', async () => {
    await wire.must('POST', priorities, { metadata: { name: 'one' }, value: 1, globalDefault: true })
    const { body } = await wire.call('POST', priorities, {
      metadata: { name: 'two' },
      value: 2,
      globalDefault: true,
    })
    expect(body).toEqual(
      failure({
        message:
          'priorityclasses.scheduling.k8s.io "two" is forbidden: PriorityClass one is already marked as ' +
          'default. Only one default can exist',
        reason: 'Forbidden',
        details: { name: 'two', group: 'scheduling.k8s.io', kind: 'priorityclasses' },
        code: 403,
      }),
    )
    const labels = { metadata: { labels: { a: 'b' } } }
    await wire.must('PATCH', `${priorities}/one`, labels, 'application/merge-patch+json')
  })
})

describe('the runtime of a pod', () => {
  const overhead = { podFixed: { cpu: '250m' } }
  const scheduling = { nodeSelector: { kind: 'vm' }, tolerations: [{ key: 'vm', operator: 'Exists' }] }
  beforeEach(() =>
    wire.must('POST', runtimes, { metadata: { name: 'vm' }, handler: 'vm', overhead, scheduling }).then(() => {}),
  )

  it('says what it costs and where it can be', async () => {
    const { spec } = await create({ runtimeClassName: 'vm', nodeSelector: { disk: 'fast' } })
    expect(spec).toMatchObject({ overhead: { cpu: '250m' }, nodeSelector: { disk: 'fast', kind: 'vm' } })
    expect(spec?.['tolerations']).toContainEqual({ key: 'vm', operator: 'Exists' })
  })

  const refusals: { name: string; spec: object; want: string }[] = [
    {
      name: 'needs a class that exists',
      spec: { runtimeClassName: 'none' },
      want: 'pod rejected: RuntimeClass "none" not found',
    },
    {
      name: 'must not contradict where the pod wants to be',
      spec: { runtimeClassName: 'vm', nodeSelector: { kind: 'metal' } },
      want: 'conflict: runtimeClass.scheduling.nodeSelector[kind] = vm; pod.spec.nodeSelector[kind] = metal',
    },
    {
      name: 'is alone in saying what it costs',
      spec: { runtimeClassName: 'vm', overhead: { cpu: '1' } },
      want: "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    },
    {
      name: 'costs nothing where none is named',
      spec: { overhead: { cpu: '1' } },
      want: 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    },
  ]
  it.each(refusals)('$name', async ({ spec, want }) => {
    expect(await refusal(spec)).toBe(want)
  })
})

describe('the class of what names none', () => {
  it('is the default: of claims', async () => {
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
    const claim = (name: string, more: object = {}): object => ({
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
    })
    expect((await wire.must('POST', claims, claim('before'))).spec).not.toHaveProperty('storageClassName')
    await wire.must('POST', '/apis/storage.k8s.io/v1/storageclasses', {
      metadata: { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'example.com/fast',
    })
    expect((await wire.must('POST', claims, claim('after'))).spec?.['storageClassName']).toBe('fast')
    const none = await wire.must('POST', claims, claim('none', { storageClassName: '' }))
    expect(none.spec?.['storageClassName']).toBe('')
  })

  it('is the default: of ingresses', async () => {
    const ingresses = '/apis/networking.k8s.io/v1/namespaces/default/ingresses'
    const backend = { service: { name: 'a', port: { number: 80 } } }
    const ingress = (name: string, annotations = {}): object => ({
      metadata: { name, annotations },
      spec: { defaultBackend: backend },
    })
    await wire.must('POST', '/apis/networking.k8s.io/v1/ingressclasses', {
      metadata: { name: 'front', annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
      spec: { controller: 'example.com/front' },
    })
    expect((await wire.must('POST', ingresses, ingress('a'))).spec?.['ingressClassName']).toBe('front')
    const old = await wire.must('POST', ingresses, ingress('b', { 'kubernetes.io/ingress.class': 'old' }))
    expect(old.spec).not.toHaveProperty('ingressClassName')
  })
})
