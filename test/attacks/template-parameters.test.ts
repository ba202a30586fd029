/**
 * A tenant who may create, change and apply its namespaces tries to get by its values and labels what it was not meant
 * to have: an answer of 5xx, another shape of an object, or a namespace without the level that its template sets.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { Wire } from '../support/wire.ts'

const enforce = 'pod-security.kubernetes.io/enforce'
const holders = 'policy.borough.dev/set-by-templates'
const settles = 'policy.borough.dev/settles'
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const path = '/api/v1/namespaces'

let plane: TestControlPlane
let admin: Wire
let tenant: Wire
beforeAll(async () => {
  plane = await startControlPlane()
  admin = new Wire(plane)
  tenant = admin.as('tenant')
  const rule = { apiGroups: [''], resources: ['namespaces', 'namespaces/status', 'namespaces/finalize'], verbs: ['*'] }
  await admin.must('POST', `${rbac}/clusterroles`, { metadata: { name: 'tenant' }, rules: [rule] })
  await admin.must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'tenant' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'tenant' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tenant' }],
  })
  await admin.must('POST', '/apis/policy.borough.dev/v1alpha1/namespacetemplates', {
    metadata: { name: 'all' },
    spec: {
      namespaces: { nameSelector: { include: ['team-*'] } },
      parameters: [{ name: 'note', fromAnnotation: 'note' }],
      namespaceMetadata: { labels: { [enforce]: 'restricted' }, annotations: { noted: '<$(note)>' } },
      templates: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'about' }, data: { note: '$(note)' } }],
    },
  })
  await tenant.must('POST', path, { metadata: { name: 'team-a' } })
})
afterAll(() => plane[Symbol.asyncDispose]())

const strange: JsonValue[] = [null, 1, true, '', 'x', [], ['x'], {}, { [enforce]: 1 }, { [enforce]: null }, { a: {} }]
const types = ['application/merge-patch+json', 'application/strategic-merge-patch+json'] as const

async function levelStands(): Promise<void> {
  const { metadata } = await admin.must('GET', `${path}/team-a`)
  expect(metadata.labels?.[enforce]).toBe('restricted')
  expect(JSON.parse(metadata.annotations?.[holders] ?? '')).toEqual({
    labels: { [enforce]: 'all' },
    annotations: { noted: 'all' },
  })
  expect(metadata.annotations).not.toHaveProperty([settles])
}

test('attack: labels and annotations of the wrong shape', async () => {
  const bodies: JsonObject[] = strange.flatMap((value) => [
    { labels: value },
    { annotations: value },
    { annotations: { [holders]: value } },
    { annotations: { [settles]: value } },
    { annotations: { note: value } },
    { labels: { [enforce]: value } },
  ])
  for (const metadata of bodies) {
    const answers = [
      ...(await Promise.all(types.map((type) => tenant.call('PATCH', `${path}/team-a`, { metadata }, type)))),
      await tenant.call('PUT', `${path}/team-a`, { metadata: { name: 'team-a', ...metadata } }),
      await tenant.call('PUT', `${path}/team-a/status`, { metadata: { name: 'team-a', ...metadata } }),
      await tenant.call('POST', `${path}?dryRun=All`, { metadata: { name: 'team-b', ...metadata } }),
      await tenant.call(
        'PATCH',
        `${path}/team-a?fieldManager=x&force=true`,
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a', ...metadata } },
        'application/apply-patch+yaml',
      ),
    ]
    for (const { status, body } of answers) {
      // What an apply of another shape is answered by upstream as well.
      if (JSON.stringify(body).includes('failed to create typed patch object')) continue
      expect(status, JSON.stringify([metadata, body])).toBeLessThan(500)
    }
    await levelStands()
  }
})

test('attack: JSON patches that move, copy and test their way around', async () => {
  const at = (key: string): string => `/metadata/labels/${key.replace('/', '~1')}`
  const note = (key: string): string => `/metadata/annotations/${key.replace('/', '~1')}`
  const patches: JsonObject[][] = [
    [{ op: 'remove', path: at(enforce) }],
    [{ op: 'move', from: at(enforce), path: at('mine') }],
    [{ op: 'replace', path: '/metadata/labels', value: {} }],
    [{ op: 'remove', path: '/metadata/labels' }],
    [{ op: 'replace', path: '/metadata', value: { name: 'team-a' } }],
    [
      { op: 'remove', path: at(enforce) },
      { op: 'add', path: at(enforce), value: 'privileged' },
    ],
    [
      { op: 'remove', path: note(holders) },
      { op: 'remove', path: at(enforce) },
    ],
    [
      { op: 'add', path: note(settles), value: '{"all":1}' },
      { op: 'remove', path: at(enforce) },
    ],
    [{ op: 'copy', from: at('kubernetes.io/metadata.name'), path: at(enforce) }],
  ]
  for (const patch of patches) {
    for (const where of ['', '/status']) {
      const { status } = await tenant.call('PATCH', `${path}/team-a${where}`, patch, 'application/json-patch+json')
      expect([403, 422]).toContain(status)
      await levelStands()
    }
  }
})

test('attack: values that would be more than a text where they end up', async () => {
  const values = [
    '"}}',
    "'",
    '\\',
    '${x}',
    '$(note)',
    '$$(note)',
    '$&',
    '__proto__',
    '{{.x}}',
    '<script>',
    ' ',
    '&a *a',
  ]
  for (const note of values) {
    await tenant.must('PATCH', `${path}/team-a`, { metadata: { annotations: { note } } }, types[0])
    const { metadata } = await admin.must('GET', `${path}/team-a`)
    expect(metadata.annotations?.['noted']).toBe(`<${note}>`)
    await levelStands()
  }
})

test('attack: many relabel at once, and one of them would be free', async () => {
  const writes = Array.from({ length: 40 }, (_, i) => {
    const labels = i % 2 === 0 ? { [enforce]: null } : { [enforce]: 'privileged' }
    const annotations = { note: String(i) }
    return tenant.call('PATCH', `${path}/team-a`, { metadata: i % 4 < 2 ? { labels } : { annotations } }, types[0])
  })
  const codes = (await Promise.all(writes)).map(({ status }) => status)
  expect(new Set(codes.filter((_, i) => i % 4 < 2))).toEqual(new Set([403]))
  await levelStands()
})
