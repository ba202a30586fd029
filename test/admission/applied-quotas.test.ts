/** What a tenant reads, in its namespace, of the quotas over several namespaces that count it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ClusterResourceQuotaSpec, clusterQuotaResource } from '../../src/apis/clusterquotas/types.ts'
import { explainNamespace } from '../../src/apis/namespaces/explain.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, forbidden } from '../support/refusal.ts'
import { waitFor } from '../support/wait-for.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane
let admin: Wire
let tenant: Wire

const group = '/apis/policy.borough.dev/v1alpha1'
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const applied = (namespace: string, rest = ''): string =>
  `${group}/namespaces/${namespace}/appliedclusterresourcequotas${rest}`
const teams = { labels: { matchLabels: { kind: 'team' } } }
const hard = { configmaps: '9', 'count/namespaces': '3' }
const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }

beforeEach(async () => {
  plane = await startControlPlane()
  admin = new Wire(plane)
  tenant = admin.as('tenant')
})
afterEach(() => plane[Symbol.asyncDispose]())

async function limit(name: string, spec: ClusterResourceQuotaSpec, labels = {}): Promise<KubeObject> {
  await admin.must('POST', `${group}/clusterresourcequotas`, { metadata: { name, labels }, spec })
  const counted = await waitFor(plane.client, clusterQuotaResource, { name }, (found) => {
    const status = found?.['status'] as { observedGeneration?: number } | undefined
    return status?.observedGeneration === found?.metadata.generation
  })
  return counted as KubeObject
}

const namespace = (name: string, by = admin, labels: object = { kind: 'team' }): Promise<unknown> =>
  by.must('POST', '/api/v1/namespaces', { metadata: { name, labels } })

const bind = (where: string, user: string, role: string): Promise<unknown> =>
  admin.must('POST', `${rbac}/namespaces/${where}/rolebindings`, {
    metadata: { name: `${user}-${role}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  })

const names = async (path: string, by = tenant): Promise<unknown> =>
  (await by.must('GET', path)).items.map(({ metadata }) => metadata.name)

describe('an AppliedClusterResourceQuota', () => {
  it('shows a tenant the quotas that count its namespace, with what is used there and by all together', async () => {
    await namespace('a')
    await namespace('b')
    await namespace('other', admin, {})
    const source = await limit('q', { selector: teams, quota: { hard } })
    await limit('others', { selector: { labels: { matchLabels: { kind: 'other' } } }, quota: { hard } })
    await bind('a', 'tenant', 'view')
    await admin.must('POST', '/api/v1/namespaces/b/configmaps', { metadata: { name: 'x' } })
    const { apiVersion, kind, metadata, items } = await tenant.must('GET', applied('a'))
    expect({ apiVersion, kind, names: items.map((item) => item.metadata.name) }).toEqual({
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'AppliedClusterResourceQuotaList',
      names: ['q'],
    })
    expect(metadata).toEqual({ resourceVersion: expect.stringMatching(/^[1-9]\d*$/) })
    const one = await tenant.must('GET', applied('a', '/q'))
    expect(one).toEqual({
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'AppliedClusterResourceQuota',
      metadata: {
        ...source.metadata,
        namespace: 'a',
        resourceVersion: one.metadata.resourceVersion,
      },
      spec: { selector: teams, quota: { hard } },
      status: {
        observedGeneration: 1,
        total: { hard, used: { configmaps: '3', 'count/namespaces': '2' } },
        namespaceCount: 2,
        namespaces: [{ namespace: 'a', status: { hard, used: { configmaps: '1', 'count/namespaces': '1' } } }],
      },
    })
    expect(items).toEqual([{ metadata: one.metadata, spec: one['spec'], status: one.status }])
  })

  it('is read by those alone who may read the namespace, and by none in another', async () => {
    await namespace('a')
    await namespace('b')
    await limit('q', { selector: teams, quota: { hard } })
    for (const role of ['view', 'edit', 'admin']) {
      await bind('a', role, role)
      expect(await names(applied('a'), admin.as(role))).toEqual(['q'])
      expect((await admin.as(role).must('GET', applied('a', '/q'))).metadata.namespace).toBe('a')
      const { body } = await admin.as(role).call('GET', applied('b'))
      const details = { group: 'policy.borough.dev', kind: 'appliedclusterresourcequotas' }
      const message =
        `appliedclusterresourcequotas.policy.borough.dev is forbidden: User ${JSON.stringify(role)} cannot list ` +
        'resource "appliedclusterresourcequotas" in API group "policy.borough.dev" in the namespace "b"'
      expect(body).toEqual(failure({ message, reason: 'Forbidden', details, code: 403 }))
      expect((await admin.as(role).call('GET', `${group}/clusterresourcequotas/q`)).status).toBe(403)
    }
  })

  it('shows where each has an account of its own that of the namespace, and none of the others', async () => {
    const [alice, bob] = [admin.as('alice', ['system:masters']), admin.as('bob', ['system:masters'])]
    await namespace('a', alice)
    await namespace('a2', alice)
    await namespace('b', bob)
    await limit('per', { selector: teams, perCreator: true, quota: { hard } })
    const { status } = await admin.must('GET', applied('a2', '/per'))
    const used = { configmaps: '2', 'count/namespaces': '2' }
    expect(status).toEqual({
      observedGeneration: 1,
      total: { hard, used },
      namespaceCount: 2,
      namespaces: [{ namespace: 'a2', status: { hard, used: { configmaps: '1', 'count/namespaces': '1' } } }],
      accounts: [{ name: 'alice', namespaces: 2, used }],
    })
    expect(JSON.stringify(status)).not.toMatch(/bob|"b"/)
  })

  it('shows what was acknowledged, at the next read, in each of more namespaces than a status lists', async () => {
    await limit('q', { selector: teams, quota: { hard: { configmaps: '999' } } })
    const count = 105
    for (let i = 0; i < count; i++) await namespace(`n${i}`)
    for (const i of [0, 50, count - 1]) {
      await admin.must('POST', `/api/v1/namespaces/n${i}/configmaps`, { metadata: { name: 'x' } })
      const { status } = await admin.must('GET', applied(`n${i}`, '/q'))
      expect(status).toMatchObject({
        namespaceCount: count,
        namespaces: [{ namespace: `n${i}`, status: { used: { configmaps: '2' } } }],
      })
    }
    expect((await admin.must('GET', applied('n7', '/q'))).status).toMatchObject({
      total: { used: { configmaps: String(count + 3) } },
    })
  })

  it('comes and goes with the labels of the namespace', async () => {
    await namespace('a')
    await limit('q', { selector: teams, quota: { hard } })
    await admin.must('PATCH', '/api/v1/namespaces/a', { metadata: { labels: { kind: null } } }, merge)
    expect(await names(applied('a'), admin)).toEqual([])
    const { body } = await admin.call('GET', applied('a', '/q'))
    expect(body).toEqual(missing('q'))
    await admin.must('PATCH', '/api/v1/namespaces/a', { metadata: { labels: { kind: 'team' } } }, merge)
    expect(await names(applied('a'), admin)).toEqual(['q'])
  })

  it('is not there under other names, in namespaces that are not there, and in all namespaces together', async () => {
    await namespace('a')
    await limit('q', { selector: teams, quota: { hard } })
    expect((await admin.call('GET', applied('a', '/none'))).body).toEqual(missing('none'))
    expect((await admin.call('GET', applied('gone', '/q'))).body).toEqual(missing('q'))
    expect(await names(applied('gone'), admin)).toEqual([])
    expect(await names(`${group}/appliedclusterresourcequotas`, admin)).toEqual([])
  })

  it('is selected by the labels and the name of its quota, and listed in pages', async () => {
    await namespace('a')
    for (const name of ['q1', 'q2', 'q3']) await limit(name, { selector: teams, quota: { hard } }, { of: name })
    await limit('r', { selector: { labels: { matchLabels: { kind: 'other' } } }, quota: { hard } })
    expect(await names(applied('a', '?labelSelector=of%3Dq2'), admin)).toEqual(['q2'])
    expect(await names(applied('a', '?fieldSelector=metadata.name%3Dq3'), admin)).toEqual(['q3'])
    const first = await admin.must('GET', applied('a', '?limit=2'))
    const { continue: next = '' } = first.metadata as { continue?: string }
    expect(first.items.map(({ metadata }) => metadata.name)).toEqual(['q1', 'q2'])
    expect(await names(applied('a', `?limit=2&continue=${encodeURIComponent(next)}`), admin)).toEqual(['q3'])
  })

  it('can only be got and listed', async () => {
    await namespace('a')
    await limit('q', { selector: teams, quota: { hard } })
    const calls = [
      ['POST', applied('a'), { metadata: { name: 'x' } }],
      ['PUT', applied('a', '/q'), { metadata: { name: 'q' } }],
      ['PATCH', applied('a', '/q'), {}],
      ['DELETE', applied('a', '/q')],
      ['DELETE', applied('a')],
      ['GET', applied('a', '?watch=true')],
      ['GET', `${group}/watch/namespaces/a/appliedclusterresourcequotas`],
    ] as const
    for (const [method, path, body] of calls) {
      const answer = await admin.call(method, path, body, method === 'PATCH' ? merge : undefined)
      expect([method, path, answer.status, answer.body.reason]).toEqual([method, path, 405, 'MethodNotAllowed'])
    }
    expect((await admin.call('GET', applied('a', '/q/status'))).status).toBe(404)
  })

  it('is in discovery and OpenAPI as it is, and kubectl shows what is used of what', async () => {
    await namespace('a')
    await limit('q', { selector: teams, quota: { hard: { configmaps: '9' } } })
    const { resources } = (await admin.must('GET', group)) as unknown as { resources: { name: string }[] }
    expect(resources.find(({ name }) => name === 'appliedclusterresourcequotas')).toEqual({
      name: 'appliedclusterresourcequotas',
      singularName: 'appliedclusterresourcequota',
      namespaced: true,
      kind: 'AppliedClusterResourceQuota',
      verbs: ['get', 'list'],
      shortNames: ['appliedclusterquota'],
    })
    const { paths } = (await admin.must('GET', `/openapi/v3${group}`)) as unknown as { paths: Record<string, object> }
    const methods = (path: string): string[] => Object.keys(paths[path] ?? {}).filter((key) => key !== 'parameters')
    expect(methods(`${group}/namespaces/{namespace}/appliedclusterresourcequotas`)).toEqual(['get'])
    expect(methods(`${group}/namespaces/{namespace}/appliedclusterresourcequotas/{name}`)).toEqual(['get'])
    const shown = (await (await plane.fetch(applied('a'), { headers: table })).json()) as {
      columnDefinitions: { name: string; priority: number }[]
      rows: { cells: unknown[] }[]
    }
    expect(shown.columnDefinitions.filter((c) => c.priority === 0).map((c) => c.name)).toEqual([
      ...['Name', 'Used', 'Hard', 'Age'],
    ])
    expect(shown.rows.map(({ cells }) => cells.slice(0, 3))).toEqual([['q', 'configmaps: 1', 'configmaps: 9']])
  })
})

it('lets `borough why` say to a tenant which quota refused it', async () => {
  await namespace('a')
  await limit('q', { selector: teams, quota: { hard: { configmaps: '2' } } })
  await bind('a', 'tenant', 'edit')
  await tenant.must('POST', '/api/v1/namespaces/a/configmaps', { metadata: { name: 'x' } })
  const { body } = await tenant.call('POST', '/api/v1/namespaces/a/configmaps', { metadata: { name: 'y' } })
  const over = 'counted over all namespaces that this ClusterResourceQuota selects'
  expect(body).toEqual(
    forbidden(
      { kind: 'configmaps', name: 'y' },
      `exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2, ${over}`,
    ),
  )
  const { notes } = await explainNamespace(plane.clientAs('tenant'), 'a', systemClock, AbortSignal.timeout(60_000))
  expect(notes).toEqual([`ClusterResourceQuota "q" counts it: configmaps 2 of 2 (no more), ${over}`])
})

const merge = 'application/merge-patch+json'
const missing = (name: string): object =>
  failure({
    message: `appliedclusterresourcequotas.policy.borough.dev ${JSON.stringify(name)} not found`,
    reason: 'NotFound',
    details: { name, group: 'policy.borough.dev', kind: 'appliedclusterresourcequotas' },
    code: 404,
  })
