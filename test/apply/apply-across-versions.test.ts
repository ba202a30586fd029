/** Field ownership where managers write different versions of one object, through the whole server. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ManagedFieldsEntry } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, definitionsPath, install, objectOf, uninstall } from '../support/definitions.ts'
import { type Answer, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'team-a' } })
})
afterAll(() => plane[Symbol.asyncDispose]())

const applyType = 'application/apply-patch+yaml'
const merge = 'application/merge-patch+json'
const jsonPatch = 'application/json-patch+json'

const apply = (path: string, manager: string, config: object, force = false): Promise<Answer> =>
  wire.call('PATCH', `${path}?fieldManager=${manager}&force=${force}`, config, applyType)

const owners = ({ body }: Pick<Answer, 'body'>): Record<string, unknown> =>
  Object.fromEntries(
    (body.metadata.managedFields ?? []).map((m: ManagedFieldsEntry) => [
      `${m.manager} ${m.operation} ${m.apiVersion}`,
      m.fieldsV1,
    ]),
  )

describe('an autoscaler', () => {
  const at = (version: string, name: string): string =>
    `/apis/autoscaling/${version}/namespaces/team-a/horizontalpodautoscalers/${name}`
  const scaler = (version: string, name: string, spec: object): object => ({
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3, ...spec },
  })
  const cpu = (averageUtilization: number): object => ({
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }],
  })

  it('applied as v1: who wants another target through v2 is in conflict with the field of v1', async () => {
    expect((await apply(at('v1', 'a'), 'm1', scaler('v1', 'a', { targetCPUUtilizationPercentage: 50 }))).status).toBe(
      201,
    )
    const refused = await apply(at('v2', 'a'), 'm2', scaler('v2', 'a', cpu(80)))
    expect(refused.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "m1": .spec.targetCPUUtilizationPercentage',
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "m1"',
            field: '.spec.targetCPUUtilizationPercentage',
          },
        ],
      },
    })
    const forced = await apply(at('v2', 'a'), 'm2', scaler('v2', 'a', cpu(80)), true)
    expect(owners(forced)['m1 Apply autoscaling/v1']).not.toHaveProperty(['f:spec', 'f:targetCPUUtilizationPercentage'])
    expect(owners(forced)['m2 Apply autoscaling/v2']).toHaveProperty(['f:spec', 'f:metrics'])
    expect((await wire.must('GET', at('v1', 'a'))).spec).toMatchObject({ targetCPUUtilizationPercentage: 80 })
  })

  it('of one manager that goes from v1 to v2 stays its own, and loses what is no longer said', async () => {
    const given = { targetCPUUtilizationPercentage: 50, minReplicas: 2 }
    await apply(at('v1', 'b'), 'm', scaler('v1', 'b', given))
    const next = await apply(at('v2', 'b'), 'm', scaler('v2', 'b', cpu(50)))
    expect(Object.keys(owners(next))).toEqual(['m Apply autoscaling/v2'])
    expect(next.body.spec).toMatchObject({ ...cpu(50), minReplicas: 1 })
    const last = await apply(at('v2', 'b'), 'm', scaler('v2', 'b', {}))
    expect((await wire.must('GET', at('v1', 'b'))).spec).not.toHaveProperty('targetCPUUtilizationPercentage', 50)
    expect(owners(last)['m Apply autoscaling/v2']).not.toHaveProperty(['f:spec', 'f:metrics'])
  })

  it('changed through v2 is taken from who applied it as v1', async () => {
    await apply(at('v1', 'c'), 'm', scaler('v1', 'c', { targetCPUUtilizationPercentage: 50 }))
    const patched = await wire.call('PATCH', `${at('v2', 'c')}?fieldManager=u`, { spec: cpu(60) }, merge)
    expect(owners(patched)).toMatchObject({
      'm Apply autoscaling/v1': { 'f:spec': { 'f:maxReplicas': {} } },
      'u Update autoscaling/v2': { 'f:spec': { 'f:metrics': {} } },
    })
    expect(owners(patched)['m Apply autoscaling/v1']).not.toHaveProperty(['f:spec', 'f:targetCPUUtilizationPercentage'])
  })
})

it('an event applied in one group is in conflict with who applied it in the other', async () => {
  const regarding = { kind: 'Pod', namespace: 'team-a', name: 'p' }
  const core = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'e' },
    involvedObject: regarding,
    type: 'Normal',
    message: 'hello',
  }
  expect((await apply('/api/v1/namespaces/team-a/events/e', 'm1', core)).status).toBe(201)
  const path = '/apis/events.k8s.io/v1/namespaces/team-a/events/e'
  const other = { apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e' }, regarding }
  const refused = await apply(path, 'm2', { ...other, note: 'goodbye' })
  expect(refused.body.message).toBe('Apply failed with 1 conflict: conflict with "m1": .message')
  const shared = await apply(path, 'm2', { ...other, note: 'hello' })
  expect(Object.keys(owners(shared))).toEqual(['m1 Apply v1', 'm2 Apply events.k8s.io/v1'])
})

describe('a custom resource without conversion', () => {
  const text = { type: 'string' }
  const name = 'boxes.ex.io'
  const at = (version: string): string => `/apis/ex.io/${version}/namespaces/team-a/boxes/b`
  const box = (version: string, spec: object): object => ({
    apiVersion: `ex.io/${version}`,
    kind: 'Box',
    metadata: { name: 'b' },
    spec,
  })
  const version = (named: string, fields: object, storage = false) => ({
    name: named,
    served: true,
    storage,
    schema: { openAPIV3Schema: objectOf({ spec: objectOf(fields as never) }) },
  })
  const tags = { type: 'array', items: text }
  const installBoxes = () =>
    install(
      plane,
      definition({
        plural: 'boxes',
        kind: 'Box',
        versions: [
          version('v1', { size: text, tags: { ...tags, 'x-kubernetes-list-type': 'atomic' } }, true),
          version('v2', { size: text, tags: { ...tags, 'x-kubernetes-list-type': 'set' } }),
          version('v3', { size: text, tags: { ...tags, 'x-kubernetes-list-type': 'set' } }),
        ],
      }),
    )
  afterEach(() => uninstall(plane, name))

  it('owns its list as a whole in one version, item by item in the other', async () => {
    await installBoxes()
    await apply(at('v1'), 'm1', box('v1', { tags: ['a'] }))
    const refused = await apply(at('v2'), 'm2', box('v2', { tags: ['b'] }))
    expect(refused.body.message).toBe('Apply failed with 1 conflict: conflict with "m1": .spec.tags')
    const forced = await apply(at('v2'), 'm2', box('v2', { tags: ['b'] }), true)
    expect(forced.body.spec).toEqual({ tags: ['a', 'b'] })
    expect(owners(forced)).toEqual({ 'm2 Apply ex.io/v2': { 'f:spec': { 'f:tags': { 'v:"b"': {} } } } })
  })

  it('keeps the entry of a version that is not served, drops that of one that does not exist', async () => {
    await installBoxes()
    await apply(at('v1'), 'm1', box('v1', { size: '1' }))
    await apply(at('v2'), 'm2', box('v2', { tags: ['b'] }))
    await apply(at('v3'), 'm3', box('v3', { tags: ['c'] }))
    const off = [{ op: 'replace', path: '/spec/versions/1/served', value: false }]
    await wire.must('PATCH', `${definitionsPath}/${name}`, off, jsonPatch)
    const kept = await apply(at('v1'), 'm1', box('v1', { size: '2' }))
    expect(Object.keys(owners(kept)).sort()).toEqual(['m1 Apply ex.io/v1', 'm2 Apply ex.io/v2', 'm3 Apply ex.io/v3'])
    await wire.must('PATCH', `${definitionsPath}/${name}`, [{ op: 'remove', path: '/spec/versions/2' }], jsonPatch)
    const left = await apply(at('v1'), 'm1', box('v1', { size: '3' }))
    expect(Object.keys(owners(left)).sort()).toEqual(['m1 Apply ex.io/v1', 'm2 Apply ex.io/v2'])
  })
})
