/** The scale sub-resource, as clients see it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, invalidObject } from '../support/refusal.ts'
import { send } from '../support/send.ts'

const deployments = '/apis/apps/v1/namespaces/default/deployments'
const path = `${deployments}/web/scale`
let plane: TestControlPlane

beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(() => plane[Symbol.asyncDispose]())

beforeEach(async () => {
  await send(plane, `${deployments}/web`, { method: 'DELETE' })
  const container = { name: 'web', image: 'nginx' }
  const body = {
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } },
    },
  }
  const { code } = await send(plane, deployments, { method: 'POST', body })
  expect(code).toBe(201)
})

const workload = async (): Promise<KubeObject> => (await send(plane, `${deployments}/web`)).body as KubeObject
const patch = (body: unknown, type: string, query = '') =>
  send(plane, `${path}${query}`, { method: 'PATCH', body, type: `application/${type}` })

test('GET shows replicas and selector of the workload, under its name and version', async () => {
  const { code, body } = await send(plane, path)
  const { metadata } = await workload()
  expect(code).toBe(200)
  expect(body).toEqual({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      creationTimestamp: metadata.creationTimestamp,
    },
    spec: { replicas: 2 },
    status: { replicas: 0, selector: 'app=web' },
  })
})

test('who scales stands in managedFields without a time, whichever way', async () => {
  await patch({ spec: { replicas: 3 } }, 'merge-patch+json', '?fieldManager=scaler')
  const config = { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 4 } }
  await patch(config, 'apply-patch+yaml', '?fieldManager=applier&force=true')
  const found = (await workload()).metadata.managedFields ?? []
  expect(found.filter((m) => m.subresource === 'scale')).toEqual([
    {
      manager: 'applier',
      operation: 'Apply',
      apiVersion: 'apps/v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      subresource: 'scale',
    },
  ])
})

const writes = [
  {
    name: 'PUT',
    given: () =>
      send(plane, path, { method: 'PUT', body: { kind: 'Scale', metadata: { name: 'web' }, spec: { replicas: 5 } } }),
  },
  {
    name: 'a merge patch',
    given: () => patch({ spec: { replicas: 5 } }, 'merge-patch+json'),
  },
  {
    name: 'a strategic merge patch',
    given: () => patch({ spec: { replicas: 5 } }, 'strategic-merge-patch+json'),
  },
  {
    name: 'a strategic merge patch that calls the scale a Deployment, as k8s_scale of Ansible does,',
    given: () => patch({ kind: 'Deployment', spec: { replicas: 5 } }, 'strategic-merge-patch+json'),
  },
  {
    name: 'a JSON patch',
    given: () => patch([{ op: 'replace', path: '/spec/replicas', value: 5 }], 'json-patch+json'),
  },
  {
    name: 'an apply',
    given: () =>
      patch(
        { kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 5 } },
        'apply-patch+yaml',
        '?fieldManager=me&force=true',
      ),
  },
]

test.each(writes)('$name sets the replicas of the workload and answers the scale', async ({ given }) => {
  const { code, body } = await given()
  expect(body).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } })
  expect(code).toBe(200)
  expect(await workload()).toMatchObject({ spec: { replicas: 5 } })
})

test('what a strategic merge patch says of kind and version has no effect', async () => {
  const sent = { kind: 'Pod', apiVersion: 'v1', metadata: { labels: { a: 'b' } } }
  const type = 'application/strategic-merge-patch+json'
  const { code } = await send(plane, `${deployments}/web`, { method: 'PATCH', body: sent, type })
  expect(code).toBe(200)
  expect(await workload()).toMatchObject({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { labels: { a: 'b' } },
  })
})

test('a merge patch that changes the kind is refused', async () => {
  const { code, body } = await patch({ kind: 'Deployment' }, 'merge-patch+json')
  expect(code).toBe(422)
  expect(body).toMatchObject({ reason: 'Invalid', details: { causes: [{ field: 'patch' }] } })
})

test('who scaled owns the replicas, through the scale sub-resource', async () => {
  await patch({ spec: { replicas: 5 } }, 'merge-patch+json', '?fieldManager=scaler')
  const { metadata } = await workload()
  expect(metadata.managedFields).toContainEqual(
    expect.objectContaining({
      manager: 'scaler',
      subresource: 'scale',
      apiVersion: 'apps/v1',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    }),
  )
})

const refusals = [
  {
    name: 'fewer than no replicas',
    given: { spec: { replicas: -1 } },
    want: invalidObject({ group: 'autoscaling', kind: 'Scale', name: 'web' }, [
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ]),
  },
  {
    name: 'an older version of the workload',
    given: { metadata: { resourceVersion: '1' }, spec: { replicas: 3 } },
    want: failure({
      message:
        'Operation cannot be fulfilled on deployments.apps "web": the object has been modified; please apply ' +
        'your changes to the latest version and try again',
      reason: 'Conflict',
      details: { name: 'web', group: 'apps', kind: 'deployments' },
      code: 409,
    }),
  },
]

test.each(refusals)('a patch for $name is refused', async ({ given, want }) => {
  const { body } = await patch(given, 'merge-patch+json')
  expect(body).toEqual(want)
  expect(await workload()).toMatchObject({ spec: { replicas: 2 } })
})

test('the scale of a workload that is not there is not found, in the words of the workload', async () => {
  for (const sent of [{}, { method: 'PATCH', body: {}, type: 'application/merge-patch+json' }]) {
    const { body } = await send(plane, `${deployments}/nobody/scale`, sent)
    expect(body).toEqual(
      failure({
        message: 'deployments.apps "nobody" not found',
        reason: 'NotFound',
        details: { name: 'nobody', group: 'apps', kind: 'deployments' },
        code: 404,
      }),
    )
  }
})

test.each([
  ['a merge patch', 'merge-patch+json'],
  ['a strategic merge patch', 'strategic-merge-patch+json'],
  ['an apply', 'apply-patch+yaml'],
])('%s of the scale of another workload of that name is a conflict', async (_, type) => {
  const { metadata } = await workload()
  const scale = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'web', uid: 'other' } }
  const query = type.startsWith('apply') ? '?fieldManager=a&force=true' : ''
  const { code, body } = await patch({ ...scale, spec: { replicas: 9 } }, type, query)
  expect([code, body]).toEqual([
    409,
    failure({
      message:
        'Operation cannot be fulfilled on deployments/scale.apps "web": Precondition failed: UID in precondition: ' +
        `other, UID in object meta: ${metadata.uid}`,
      reason: 'Conflict',
      details: { name: 'web', group: 'apps', kind: 'deployments/scale' },
      code: 409,
    }),
  ])
  expect((await workload())['spec']).toMatchObject({ replicas: 2 })
})
