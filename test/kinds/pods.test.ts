/** Pods where there is no kubelet: how they end, how they are bound and evicted, and what is refused. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, invalidObject } from '../support/refusal.ts'
import { type Answer, Wire, type WireEvent } from '../support/wire.ts'

const pods = '/api/v1/namespaces/default/pods'

let clock: FakeClock
let plane: TestControlPlane
let wire: Wire

beforeEach(async () => {
  clock = new FakeClock(Date.now())
  plane = await startControlPlane({ clock, population: false })
  wire = new Wire(plane)
})

afterEach(() => plane[Symbol.asyncDispose]())

const make = (name: string, spec: object = {}, metadata: object = {}): Promise<{ metadata: { uid?: string } }> =>
  wire.must('POST', pods, {
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'main', image: 'nginx' }], ...spec },
  })

const node = (name: string): Promise<unknown> => wire.must('POST', '/api/v1/nodes', { metadata: { name } })

/** Runs `act`, and answers the events of the pod until it is gone. */
function untilGone(name: string, act: () => Promise<unknown>): Promise<WireEvent[]> {
  return wire.events(
    `${pods}?watch=1&fieldSelector=metadata.name=${name}`,
    (seen) => seen.at(-1)?.type === 'DELETED',
    () => void act(),
  )
}

describe('a node', () => {
  const path = '/api/v1/nodes/n1'
  const given = { metadata: { name: 'n1' }, status: { capacity: { memory: '1Gi' }, phase: 'Running' } }

  it('has from the start the status with which it is made, as a kubelet registers it', async () => {
    await wire.must('POST', '/api/v1/nodes', given)
    const { body } = await wire.call('GET', path)
    expect(body).toMatchObject({ status: { capacity: { memory: '1Gi' }, phase: 'Running' } })
  })

  it('keeps its status on a later write that does not go to the sub-resource', async () => {
    await wire.must('POST', '/api/v1/nodes', given)
    await wire.must('PUT', path, { metadata: { name: 'n1' }, status: { capacity: { memory: '9Gi' } } })
    const { body } = await wire.call('GET', path)
    expect(body).toMatchObject({ status: { capacity: { memory: '1Gi' }, phase: 'Running' } })
  })
})

describe('a pod that is deleted', () => {
  it('goes at once when it is on no node', async () => {
    await make('free')
    const { status, body } = await wire.call('DELETE', `${pods}/free`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ kind: 'Pod', metadata: { deletionGracePeriodSeconds: 0 } })
    expect((await wire.call('GET', `${pods}/free`)).status).toBe(404)
  })

  it('goes at once when its node does not exist', async () => {
    await make('nowhere', { nodeName: 'no-such-node' })
    await wire.must('DELETE', `${pods}/nowhere`)
    expect((await wire.call('GET', `${pods}/nowhere`)).status).toBe(404)
  })

  it('goes at once when it has ended', async () => {
    await node('n1')
    await make('ended', { nodeName: 'n1' })
    await wire.must('PUT', `${pods}/ended/status`, { metadata: { name: 'ended' }, status: { phase: 'Succeeded' } })
    await wire.must('DELETE', `${pods}/ended`)
    expect((await wire.call('GET', `${pods}/ended`)).status).toBe(404)
  })

  it('is given its time on a node that exists, and removed when it is over', async () => {
    await node('n1')
    await make('graceful', { nodeName: 'n1' })
    const { body } = await wire.call('DELETE', `${pods}/graceful`)
    expect(body.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, generation: 2 })
    expect(Date.parse(body.metadata.deletionTimestamp ?? '') - Math.floor(clock.now() / 1000) * 1000).toBe(30_000)
    await clock.advance(29_000)
    expect((await wire.call('GET', `${pods}/graceful`)).status).toBe(200)
    const events = await untilGone('graceful', () => clock.advance(2000))
    expect(events.map((e) => e.type)).toEqual(['ADDED', 'DELETED'])
  })

  it('can be given less time later, never more', async () => {
    await node('n1')
    await make('hurried', { nodeName: 'n1' })
    await wire.must('DELETE', `${pods}/hurried`)
    const longer = await wire.must('DELETE', `${pods}/hurried`, { gracePeriodSeconds: 60 })
    expect(longer.metadata.deletionGracePeriodSeconds).toBe(30)
    const shorter = await wire.must('DELETE', `${pods}/hurried`, { gracePeriodSeconds: 5 })
    expect(shorter.metadata.deletionGracePeriodSeconds).toBe(5)
    await wire.must('DELETE', `${pods}/hurried`, { gracePeriodSeconds: 0 })
    expect((await wire.call('GET', `${pods}/hurried`)).status).toBe(404)
  })

  it('is removed when its node goes', async () => {
    await node('n1')
    await make('stranded', { nodeName: 'n1' })
    await wire.must('DELETE', `${pods}/stranded`)
    await untilGone('stranded', () => wire.must('DELETE', '/api/v1/nodes/n1'))
  })

  it('does not hold its namespace for longer than its time', async () => {
    await node('n1')
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
    await wire.must('POST', '/api/v1/namespaces/team/pods', {
      metadata: { name: 'p' },
      spec: { nodeName: 'n1', terminationGracePeriodSeconds: 10, containers: [{ name: 'main', image: 'nginx' }] },
    })
    const states = await wire.events(
      '/api/v1/namespaces?watch=1&fieldSelector=metadata.name=team',
      (seen) => {
        // The conditions say that the controller waits for the pod.
        if (seen.at(-1)?.object.status?.['conditions'] !== undefined) void clock.advance(11_000)
        return seen.at(-1)?.type === 'DELETED'
      },
      () => void wire.must('DELETE', '/api/v1/namespaces/team'),
    )
    expect(states.at(-1)?.type).toBe('DELETED')
  })
})

describe('pods/binding', () => {
  const bind = (name: string, target: object): Promise<Answer> =>
    wire.call('POST', `${pods}/${name}/binding`, { metadata: { name }, target })

  it('puts a pod on a node', async () => {
    await make('bound')
    const { status, body } = await bind('bound', { kind: 'Node', name: 'n1' })
    expect(status).toBe(201)
    expect(body).toMatchObject({ kind: 'Status', status: 'Success' })
    const pod = await wire.must('GET', `${pods}/bound`)
    expect(pod.spec?.['nodeName']).toBe('n1')
    expect(pod.status).toMatchObject({ conditions: [{ type: 'PodScheduled', status: 'True' }] })
  })

  it('does so by way of the older bindings too', async () => {
    await make('older')
    const body = { metadata: { name: 'older' }, target: { kind: 'Node', name: 'n1' } }
    expect((await wire.call('POST', '/api/v1/namespaces/default/bindings', body)).status).toBe(201)
    expect((await wire.must('GET', `${pods}/older`)).spec?.['nodeName']).toBe('n1')
  })

  it('does not move a pod, and needs to know where to', async () => {
    await make('settled', { nodeName: 'n1' })
    expect((await bind('settled', { name: 'n2' })).body).toEqual(
      failure({
        message:
          'Operation cannot be fulfilled on pods/binding "settled": pod settled is already assigned to node "n1"',
        reason: 'Conflict',
        details: { name: 'settled', kind: 'pods/binding' },
        code: 409,
      }),
    )
    expect((await bind('settled', {})).body).toEqual(
      invalidObject({ kind: 'Binding', name: 'settled' }, ['target.name: Required value']),
    )
    expect((await bind('settled', { kind: 'Rack', name: 'n1' })).body).toEqual(
      invalidObject({ kind: 'Binding', name: 'settled' }, [
        'target.kind: Unsupported value: "Rack": supported values: "Node", "<empty>"',
      ]),
    )
    expect((await bind('missing', { name: 'n1' })).body).toEqual(
      failure({
        message: 'pods "missing" not found',
        reason: 'NotFound',
        details: { name: 'missing', kind: 'pods' },
        code: 404,
      }),
    )
  })
})

describe('a pod whose time to end goes beyond the last time there is', () => {
  const longest = Number.MAX_SAFE_INTEGER

  beforeEach(async () => {
    await node('n1')
    await make('long', { nodeName: 'n1', terminationGracePeriodSeconds: longest })
  })

  it.each([longest, 1e12])('has until then: %d s', async (gracePeriodSeconds) => {
    const { metadata } = await wire.must('DELETE', `${pods}/long`, { gracePeriodSeconds })
    expect(metadata).toMatchObject({
      deletionTimestamp: '9999-12-31T23:59:59Z',
      deletionGracePeriodSeconds: gracePeriodSeconds,
    })
    expect((await wire.call('GET', `${pods}/long`)).status).toBe(200)
  })

  it('is given less by a later request, counted from then', async () => {
    await wire.must('DELETE', `${pods}/long`)
    const { metadata } = await wire.must('DELETE', `${pods}/long`, { gracePeriodSeconds: 5 })
    const inFive = `${new Date(Math.floor(clock.now() / 1000) * 1000 + 5000).toISOString().slice(0, 19)}Z`
    expect(metadata).toMatchObject({ deletionTimestamp: inFive, deletionGracePeriodSeconds: 5 })
    await wire.must('DELETE', `${pods}/long`, { gracePeriodSeconds: 0 })
    expect((await wire.call('GET', `${pods}/long`)).status).toBe(404)
  })
})

describe('pods/eviction', () => {
  const labels = { app: 'web' }
  const evict = (name: string, query = ''): Promise<Answer> =>
    wire.call('POST', `${pods}/${name}/eviction${query}`, { metadata: { name }, deleteOptions: {} })
  const running = (name: string): Promise<unknown> =>
    wire.must('PUT', `${pods}/${name}/status`, { metadata: { name, labels }, status: { phase: 'Running' } })

  async function budget(disruptionsAllowed: number): Promise<void> {
    const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
    const metadata = { name: 'web' }
    await wire.must('POST', path, { metadata, spec: { minAvailable: 1, selector: { matchLabels: labels } } })
    const status = { observedGeneration: 1, disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 }
    await wire.must('PATCH', `${path}/web/status`, { status }, 'application/merge-patch+json')
  }

  it('deletes a pod that no budget protects', async () => {
    await make('a')
    await running('a')
    expect(await evict('a')).toMatchObject({ status: 201, body: { kind: 'Status', status: 'Success' } })
    expect((await wire.call('GET', `${pods}/a`)).status).toBe(404)
  })

  it('is refused when the budget allows no disruption', async () => {
    await make('a', {}, { labels })
    await running('a')
    await budget(0)
    expect((await evict('a')).body).toEqual(
      failure({
        message: "Cannot evict pod as it would violate the pod's disruption budget.",
        reason: 'TooManyRequests',
        details: {
          causes: [
            {
              reason: 'DisruptionBudget',
              message: 'The disruption budget web needs 1 healthy pods and has 1 currently',
            },
          ],
        },
        code: 429,
      }),
    )
    expect((await wire.call('GET', `${pods}/a`)).status).toBe(200)
  })

  it('is a dry run where the options of the deletion say so, and takes no disruption', async () => {
    await make('a', {}, { labels })
    await running('a')
    await budget(1)
    const deleteOptions = { dryRun: ['All'] }
    const told = await wire.call('POST', `${pods}/a/eviction`, { metadata: { name: 'a' }, deleteOptions })
    expect(told.status).toBe(201)
    expect((await wire.call('GET', `${pods}/a`)).status).toBe(200)
    const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/web'
    expect((await wire.must('GET', path)).status).toMatchObject({ disruptionsAllowed: 1 })
  })

  it.each<[what: string, deleteOptions: string, want: object]>([
    [
      'a policy that there is not, and a dry run of some',
      '{"propagationPolicy": "Some", "dryRun": ["Some"]}',
      invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions', name: '' }, [
        'propagationPolicy: Unsupported value: "Some": supported values: "Foreground", "Background", "Orphan", "nil"',
        'dryRun: Unsupported value: ["Some"]: supported values: "All"',
      ]),
    ],
    [
      'two policies',
      '{"propagationPolicy": "Orphan", "orphanDependents": true}',
      invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions', name: '' }, [
        'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
      ]),
    ],
    [
      'a time that can not be reckoned with',
      '{"gracePeriodSeconds": 9223372036854775807}',
      failure({
        message:
          'json: cannot unmarshal number 9223372036854775807 into Go struct field ' +
          'DeleteOptions.gracePeriodSeconds of type int64',
        reason: 'BadRequest',
        code: 400,
      }),
    ],
  ])('is refused with %s', async (_, deleteOptions, want) => {
    await make('a')
    const response = await plane.fetch(`${pods}/a/eviction`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"metadata": {"name": "a"}, "deleteOptions": ${deleteOptions}}`,
    })
    expect(await response.json()).toEqual(want)
    expect((await wire.call('GET', `${pods}/a`)).status).toBe(200)
  })

  it('takes one disruption from the budget, and a dry run takes none', async () => {
    for (const name of ['a', 'b']) {
      await make(name, {}, { labels })
      await running(name)
    }
    await budget(1)
    expect((await evict('a', '?dryRun=All')).status).toBe(201)
    expect((await wire.call('GET', `${pods}/a`)).status).toBe(200)
    const answers = await Promise.all([evict('a'), evict('b')])
    expect(answers.map((a) => a.status).sort()).toEqual([201, 429])
    const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/web'
    expect((await wire.must('GET', path)).status).toMatchObject({ disruptionsAllowed: 0 })
  })
})

describe('what only a kubelet could do', () => {
  it.each([
    ['GET', 'log', 'pods "p" has no log here: this server keeps objects and runs nothing'],
    ['POST', 'exec', 'pods "p" runs no process here: this server keeps objects and runs nothing'],
    ['POST', 'attach', 'pods "p" runs no process here: this server keeps objects and runs nothing'],
    ['POST', 'portforward', 'pods "p" has no ports here: this server keeps objects and runs nothing'],
    ['GET', 'proxy', 'pods "p" has no ports here: this server keeps objects and runs nothing'],
  ])('%s %s is refused with the reason', async (method, subresource, message) => {
    await make('p')
    expect(await wire.call(method, `${pods}/p/${subresource}`)).toMatchObject({ status: 501, body: { message } })
    expect((await wire.call(method, `${pods}/q/${subresource}`)).body).toEqual(
      failure({ message: 'pods "q" not found', reason: 'NotFound', details: { name: 'q', kind: 'pods' }, code: 404 }),
    )
  })
})

describe('ServiceAccount admission', () => {
  it('gives a pod the default account and its pull secrets', async () => {
    const account = { imagePullSecrets: [{ name: 'registry' }] }
    const path = '/api/v1/namespaces/default/serviceaccounts/default'
    await wire.must('PATCH', path, account, 'application/merge-patch+json')
    await make('plain')
    const { spec } = await wire.must('GET', `${pods}/plain`)
    expect(spec).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default', ...account })
    await make('own', { imagePullSecrets: [{ name: 'mine' }] })
    expect((await wire.must('GET', `${pods}/own`)).spec).toMatchObject({ imagePullSecrets: [{ name: 'mine' }] })
  })

  it('refuses an account that does not exist', async () => {
    const spec = { serviceAccountName: 'robot', containers: [{ name: 'main', image: 'nginx' }] }
    expect((await wire.call('POST', pods, { metadata: { name: 'p' }, spec })).body).toEqual(
      failure({
        message:
          'pods "p" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found',
        reason: 'Forbidden',
        details: { name: 'p', kind: 'pods' },
        code: 403,
      }),
    )
  })

  it('leaves mirror pods alone', async () => {
    await make('mirror', { nodeName: 'n1' }, { annotations: { 'kubernetes.io/config.mirror': 'hash' } })
    expect((await wire.must('GET', `${pods}/mirror`)).spec?.['serviceAccountName']).toBeUndefined()
  })
})
