/** Quota over several namespaces through the whole server: what is counted, who is charged, and what is refused. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import {
  type ClusterResourceQuota,
  type ClusterResourceQuotaSpec,
  clusterQuotaResource,
} from '../../src/apis/clusterquotas/types.ts'
import { explainNamespace } from '../../src/apis/namespaces/explain.ts'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { createControlPlane } from '../../src/app/control-plane.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Client } from '../../src/client/client.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import type { Status } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { clusterQuotaSteps, contestClusterQuotas, contestMoves } from '../support/contested-cluster-quota.ts'
import { forbidden, invalidObject } from '../support/refusal.ts'
import { waitFor } from '../support/wait-for.ts'
import { type Answer, type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let admin: Wire
let alice: Wire
let bob: Wire

beforeEach(async () => {
  plane = await startControlPlane()
  admin = new Wire(plane)
  // Each is a creator of its own; what they may do is not the point here.
  ;[alice, bob] = [admin.as('alice', ['system:masters']), admin.as('bob', ['system:masters'])]
})
afterEach(() => plane[Symbol.asyncDispose]())

const quotas = '/apis/policy.borough.dev/v1alpha1/clusterresourcequotas'
const teams = { labels: { matchLabels: { kind: 'team' } } }
const merge = 'application/merge-patch+json'

async function observed(name: string): Promise<ClusterResourceQuota> {
  const quota = (await waitFor(plane.client, clusterQuotaResource, { name }, (found) => {
    const { metadata, status } = (found ?? { metadata: {} }) as ClusterResourceQuota
    return status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation
  })) as ClusterResourceQuota
  return quota
}

async function limit(name: string, spec: ClusterResourceQuotaSpec): Promise<ClusterResourceQuota> {
  await admin.must('POST', quotas, { metadata: { name }, spec })
  return observed(name)
}

const edit = async (name: string, spec: object): Promise<ClusterResourceQuota> => {
  await admin.must('PATCH', `${quotas}/${name}`, { spec }, merge)
  return observed(name)
}

const statusOf = async (name: string): Promise<NonNullable<ClusterResourceQuota['status']>> =>
  ((await admin.must('GET', `${quotas}/${name}`)) as ClusterResourceQuota).status ?? {}
const used = async (name: string): Promise<unknown> => (await statusOf(name)).total?.used

/** A server on a data directory, which can be started again. */
async function stored(
  dataDir: string,
  options: Partial<Config> = {},
): Promise<{ readonly wire: Wire } & AsyncDisposable> {
  const own = await createControlPlane({ ...defaultConfig, ...options, dataDir, storage: { engine: 'sqlite' } })
  const root = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
  const fetch = (path: string, init?: RequestInit): Promise<Response> =>
    fetchAdapter(own.serve, root)(new Request(new URL(path, 'https://borough.test'), init))
  return { wire: new Wire({ fetch }), [Symbol.asyncDispose]: () => own[Symbol.asyncDispose]() }
}

const namespace = (name: string, by = admin, metadata: object = {}): Promise<Answer> =>
  by.call('POST', '/api/v1/namespaces', { metadata: { name, labels: { kind: 'team' }, ...metadata } })
const configMap = (where: string, name: string, by = admin): Promise<Answer> =>
  by.call('POST', `/api/v1/namespaces/${where}/configmaps`, { metadata: { name } })
const relabel = (name: string, labels: object, by = admin): Promise<Answer> =>
  by.call('PATCH', `/api/v1/namespaces/${name}`, { metadata: { labels } }, merge)
const cpu = (name: string, amount: string): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: amount } } }] },
})

async function refused(answer: Promise<Answer>): Promise<AnswerBody> {
  const { status, body } = await answer
  expect([status, body.status]).toEqual([body['code'], 'Failure'])
  return body
}

const overAll = 'counted over all namespaces that this ClusterResourceQuota selects'
const overThoseOf = (who: string): string =>
  `counted over the namespaces of ${who} that this ClusterResourceQuota selects`
const exceeded = (kind: string, name: string, said: string): Status =>
  forbidden({ kind, name }, `exceeded quota: ${said}`)

describe('a quota over several namespaces', () => {
  it('counts what is there already, and from then on what comes and goes in each of them', async () => {
    await namespace('a')
    await configMap('a', 'x')
    await namespace('other', admin, { labels: {} })
    await configMap('other', 'x')
    // kube-root-ca.crt counts as it does in a ResourceQuota.
    const { status } = await limit('q', {
      selector: teams,
      quota: { hard: { configmaps: '5', 'count/namespaces': '3' } },
    })
    const hard = { configmaps: '5', 'count/namespaces': '3' }
    expect(status).toEqual({
      observedGeneration: 1,
      total: { hard, used: { configmaps: '2', 'count/namespaces': '1' } },
      namespaceCount: 1,
      namespaces: [{ namespace: 'a', status: { hard, used: { configmaps: '2', 'count/namespaces': '1' } } }],
    })
    await namespace('b')
    await configMap('b', 'x')
    expect(await used('q')).toEqual({ configmaps: '4', 'count/namespaces': '2' })
    await admin.must('DELETE', '/api/v1/namespaces/a/configmaps/x')
    expect((await statusOf('q')).namespaces?.map(({ namespace: name, status: s }) => [name, s.used])).toEqual([
      ['b', { configmaps: '2', 'count/namespaces': '1' }],
      ['a', { configmaps: '1', 'count/namespaces': '1' }],
    ])
  })

  it('refuses a status that has an ended pod run again while others, elsewhere, use what it gave back', async () => {
    await limit('q', { selector: teams, quota: { hard: { 'requests.cpu': '1' } } })
    await namespace('a')
    await namespace('b')
    await admin.must('POST', '/api/v1/namespaces/a/pods', cpu('p', '1'))
    await admin.must('PATCH', '/api/v1/namespaces/a/pods/p/status', { status: { phase: 'Failed' } }, merge)
    await admin.must('POST', '/api/v1/namespaces/b/pods', cpu('p', '1'))
    const again = admin.call('PATCH', '/api/v1/namespaces/a/pods/p/status', { status: { phase: 'Running' } }, merge)
    expect(await refused(again)).toEqual(
      exceeded('pods', 'p', `q, requested: requests.cpu=1, used: requests.cpu=1, limited: requests.cpu=1, ${overAll}`),
    )
  })

  it('refuses what would exceed it, in whichever of them, and says over what it is counted', async () => {
    await limit('q', { selector: teams, quota: { hard: { configmaps: '4', 'count/namespaces': '2' } } })
    await namespace('a')
    await namespace('b')
    expect((await configMap('a', 'x')).status).toBe(201)
    expect((await configMap('b', 'x')).status).toBe(201)
    expect(await refused(configMap('b', 'y'))).toEqual(
      exceeded('configmaps', 'y', `q, requested: configmaps=1, used: configmaps=4, limited: configmaps=4, ${overAll}`),
    )
    expect(await refused(namespace('c'))).toEqual(
      exceeded(
        'namespaces',
        'c',
        // Its kube-root-ca.crt would be one too many as well.
        'q, requested: configmaps=1,count/namespaces=1, used: configmaps=4,count/namespaces=2, ' +
          `limited: configmaps=4,count/namespaces=2, ${overAll}`,
      ),
    )
    expect((await namespace('c', admin, { labels: {} })).status).toBe(201)
  })

  it('by creator gives each creator as much over all of theirs', async () => {
    await limit('per-person', {
      selector: teams,
      perCreator: true,
      quota: { hard: { 'count/namespaces': '2', 'requests.cpu': '2' } },
    })
    for (const name of ['a-1', 'a-2']) expect((await namespace(name, alice)).status).toBe(201)
    expect((await namespace('b-1', bob)).status).toBe(201)
    expect(await refused(namespace('a-3', alice))).toEqual(
      exceeded(
        'namespaces',
        'a-3',
        'per-person, requested: count/namespaces=1, used: count/namespaces=2, limited: count/namespaces=2, ' +
          overThoseOf('creator "alice"'),
      ),
    )
    await admin.must('POST', '/api/v1/namespaces/a-1/pods', cpu('p', '1500m'))
    // It is the namespace that says who is charged, not the client.
    expect(await refused(bob.call('POST', '/api/v1/namespaces/a-2/pods', cpu('p', '1')))).toEqual(
      exceeded(
        'pods',
        'p',
        'per-person, requested: requests.cpu=1, used: requests.cpu=1500m, limited: requests.cpu=2, ' +
          overThoseOf('creator "alice"'),
      ),
    )
    expect((await statusOf('per-person')).accounts).toEqual([
      { name: 'alice', namespaces: 2, used: { 'count/namespaces': '2', 'requests.cpu': '1500m' } },
      { name: 'bob', namespaces: 1, used: { 'count/namespaces': '1', 'requests.cpu': '0' } },
    ])
  })

  it('by owner charges the user that a portal creates for', async () => {
    await limit('per-owner', { selector: teams, perOwner: true, quota: { hard: { 'count/namespaces': '1' } } })
    const forCarol = { annotations: { 'borough.dev/owner': 'carol' } }
    expect((await namespace('c-1', alice, forCarol)).status).toBe(201)
    expect((await namespace('a-1', alice)).status).toBe(201)
    expect(await refused(namespace('c-2', bob, forCarol))).toEqual(
      exceeded(
        'namespaces',
        'c-2',
        'per-owner, requested: count/namespaces=1, used: count/namespaces=1, limited: count/namespaces=1, ' +
          overThoseOf('owner "carol"'),
      ),
    )
  })

  it('counts, and does not limit, namespaces of which no creator or owner is recorded, until an owner is', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'borough-quota-'))
    {
      // As it was before creators were recorded.
      await using former = await stored(dataDir, { population: false, featureGates: { NamespaceInitializers: false } })
      for (const name of ['a', 'b']) expect((await namespace(name, former.wire)).status).toBe(201)
      for (const name of ['x', 'y']) expect((await configMap('a', name, former.wire)).status).toBe(201)
      const spec = { selector: teams, perOwner: true, quota: { hard: { configmaps: '2' } } }
      expect(await refused(former.wire.call('POST', quotas, { metadata: { name: 'q' }, spec }))).toEqual(
        invalidObject({ group: 'policy.borough.dev', kind: 'ClusterResourceQuota', name: 'q' }, [
          'spec.perOwner: Forbidden: this server does not record who creates and owns namespaces: it takes ' +
            'population or the feature gate NamespaceInitializers',
        ]),
      )
    }
    await using own = await stored(dataDir)
    const { wire } = own
    await wire.must('POST', quotas, {
      metadata: { name: 'q' },
      spec: { selector: teams, perOwner: true, quota: { hard: { configmaps: '2' } } },
    })
    const statusNow = async (): Promise<unknown> => (await wire.must('GET', `${quotas}/q`)).status
    await expect
      .poll(statusNow, { timeout: 20_000 })
      .toMatchObject({ observedGeneration: 1, total: { used: { configmaps: '4' } }, namespaceCount: 2, accounts: [] })
    const owned = (name: string): Promise<Answer> =>
      wire.call(
        'PATCH',
        `/api/v1/namespaces/${name}`,
        { metadata: { annotations: { 'borough.dev/owner': 'carol' } } },
        merge,
      )
    expect((await owned('b')).status).toBe(200)
    expect(await refused(owned('a'))).toEqual(
      exceeded(
        'namespaces',
        'a',
        `q, requested: configmaps=3, used: configmaps=1, limited: configmaps=2, ${overThoseOf('owner "carol"')}`,
      ),
    )
    expect(await statusNow()).toMatchObject({
      total: { used: { configmaps: '4' } },
      accounts: [{ name: 'carol', namespaces: 1, used: { configmaps: '1' } }],
    })
  })

  it('selects by annotations as well, and by both where both are given', async () => {
    await limit('q', {
      selector: { ...teams, annotations: { 'ex.io/tier': 'small' } },
      quota: { hard: { 'count/namespaces': '1' } },
    })
    await namespace('large', admin, { annotations: { 'ex.io/tier': 'large' } })
    await namespace('small', admin, { annotations: { 'ex.io/tier': 'small' } })
    expect((await statusOf('q')).namespaces?.map((n) => n.namespace)).toEqual(['small'])
    expect((await namespace('small-2', admin, { annotations: { 'ex.io/tier': 'small' } })).status).toBe(403)
  })

  it('counts what is in its scopes only, and a new pod must say what is limited', async () => {
    await namespace('a')
    await limit('short', { selector: teams, quota: { hard: { pods: '1' }, scopes: ['Terminating'] } })
    await limit('cpu', { selector: teams, quota: { hard: { 'requests.cpu': '4' } } })
    const path = '/api/v1/namespaces/a/pods'
    await admin.must('POST', path, cpu('long', '1'))
    const short = cpu('short', '1') as { spec: object }
    await admin.must('POST', path, { ...short, spec: { ...short.spec, activeDeadlineSeconds: 5 } })
    expect([await used('short'), await used('cpu')]).toEqual([{ pods: '1' }, { 'requests.cpu': '2' }])
    const silent = { metadata: { name: 'silent' }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
    expect(await refused(admin.call('POST', path, silent))).toEqual(
      forbidden({ kind: 'pods', name: 'silent' }, 'failed quota: cpu: must specify requests.cpu for: main'),
    )
  })

  it('holds together with others that select the same namespace, and with its ResourceQuotas', async () => {
    await limit('wide', { selector: teams, quota: { hard: { secrets: '3' } } })
    await limit('narrow', { selector: { labels: { matchLabels: { name: 'a' } } }, quota: { hard: { secrets: '2' } } })
    await namespace('a', admin, { labels: { kind: 'team', name: 'a' } })
    await namespace('b')
    const secret = (where: string, name: string): Promise<Answer> =>
      admin.call('POST', `/api/v1/namespaces/${where}/secrets`, { metadata: { name } })
    expect([await secret('a', '1'), await secret('a', '2'), await secret('b', '1')].map((s) => s.status)).toEqual([
      201, 201, 201,
    ])
    expect((await secret('a', '3')).body.message).toContain('exceeded quota: narrow, ')
    expect((await secret('b', '2')).body.message).toContain('exceeded quota: wide, ')
    await admin.must('POST', '/api/v1/namespaces/b/resourcequotas', {
      metadata: { name: 'own' },
      spec: { hard: { configmaps: '1' } },
    })
    expect((await configMap('b', 'x')).body.message).toContain('exceeded quota: own, ')
    expect([await used('wide'), await used('narrow')]).toEqual([{ secrets: '3' }, { secrets: '2' }])
  })
})

describe('a namespace', () => {
  it('that goes is counted until it is gone, and so is what is in it', async () => {
    await limit('q', { selector: teams, quota: { hard: { configmaps: '9', 'count/namespaces': '9' } } })
    await namespace('a')
    await admin.must('POST', '/api/v1/namespaces/a/configmaps', { metadata: { name: 'x', finalizers: ['ex.io/hold'] } })
    await admin.must('DELETE', '/api/v1/namespaces/a')
    await waitFor(
      plane.client,
      { group: '', version: 'v1', resource: 'configmaps' },
      { namespace: 'a', name: 'kube-root-ca.crt' },
      (c) => c === undefined,
    )
    expect(await used('q')).toEqual({ configmaps: '1', 'count/namespaces': '1' })
    await admin.must('PATCH', '/api/v1/namespaces/a/configmaps/x', { metadata: { finalizers: null } }, merge)
    await waitFor(
      plane.client,
      { group: '', version: 'v1', resource: 'namespaces' },
      { name: 'a' },
      (n) => n === undefined,
    )
    expect(await statusOf('q')).toMatchObject({
      total: { used: { configmaps: '0', 'count/namespaces': '0' } },
      namespaceCount: 0,
      namespaces: [],
    })
    await namespace('a')
    expect(await used('q')).toEqual({ configmaps: '1', 'count/namespaces': '1' })
  })

  it('that is relabelled takes what it uses into the quota, or out of it', async () => {
    await limit('q', { selector: teams, quota: { hard: { configmaps: '4' } } })
    await namespace('in')
    await namespace('out', admin, { labels: {} })
    for (const name of ['x', 'y']) await configMap('out', name)
    expect((await relabel('out', { kind: 'team' })).status).toBe(200)
    expect(await used('q')).toEqual({ configmaps: '4' })
    expect((await configMap('in', 'x')).status).toBe(403)
    expect((await relabel('out', { kind: null })).status).toBe(200)
    expect((await configMap('in', 'x')).status).toBe(201)
    expect(await refused(relabel('out', { kind: 'team' }))).toEqual(
      exceeded(
        'namespaces',
        'out',
        `q, requested: configmaps=3, used: configmaps=2, limited: configmaps=4, ${overAll}`,
      ),
    )
    expect(await used('q')).toEqual({ configmaps: '2' })
    const dry = await admin.call(
      'PATCH',
      '/api/v1/namespaces/out?dryRun=All',
      { metadata: { labels: { kind: 'team' } } },
      merge,
    )
    expect(dry.status).toBe(403)
  })

  it('is taken into a quota, and out of it, by those alone who may use it', async () => {
    await limit('q', { selector: teams, quota: { hard: { configmaps: '4' } } })
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await admin.must('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'labeller' },
      rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['create', 'get', 'patch'] }],
    })
    await admin.must('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'user-of-q' },
      rules: [
        {
          apiGroups: ['policy.borough.dev'],
          resources: ['clusterresourcequotas'],
          resourceNames: ['q'],
          verbs: ['use'],
        },
      ],
    })
    const bind = (role: string): Promise<AnswerBody> =>
      admin.must('POST', `${rbac}/clusterrolebindings`, {
        metadata: { name: role },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dora' }],
      })
    await bind('labeller')
    const dora = admin.as('dora')
    expect((await namespace('mine', dora)).status).toBe(201)
    const cannot = (relation: string): Status =>
      forbidden(
        { kind: 'namespaces', name: 'mine' },
        `user "dora" cannot use clusterresourcequotas "q", which ${relation} this namespace`,
      )
    expect(await refused(relabel('mine', { kind: null }, dora))).toEqual(cannot('would no longer select'))
    expect((await relabel('mine', { more: 'x' }, dora)).status).toBe(200)
    await relabel('mine', { kind: null })
    expect(await refused(relabel('mine', { kind: 'team' }, dora))).toEqual(cannot('selects'))
    await bind('user-of-q')
    expect((await relabel('mine', { kind: 'team' }, dora)).status).toBe(200)
  })
})

describe('a spec that changes', () => {
  it('counts what it limits from now on, and what was used before', async () => {
    await namespace('a')
    await limit('q', { selector: teams, quota: { hard: { configmaps: '9' } } })
    await admin.must('POST', '/api/v1/namespaces/a/secrets', { metadata: { name: 's' } })
    const { status } = await edit('q', { quota: { hard: { configmaps: null, secrets: '1' } } })
    expect(status?.total).toEqual({ hard: { secrets: '1' }, used: { secrets: '1' } })
    expect((await admin.call('POST', '/api/v1/namespaces/a/secrets', { metadata: { name: 't' } })).status).toBe(403)
    // A limit may be lowered below what is used.
    expect((await edit('q', { quota: { hard: { secrets: '0' } } })).status?.total?.used).toEqual({ secrets: '1' })
  })

  it('charges others where its accounts change', async () => {
    await namespace('a', alice)
    await namespace('b', bob)
    await limit('q', { selector: teams, quota: { hard: { 'count/namespaces': '2' } } })
    expect((await edit('q', { perCreator: true })).status?.accounts).toEqual([
      { name: 'alice', namespaces: 1, used: { 'count/namespaces': '1' } },
      { name: 'bob', namespaces: 1, used: { 'count/namespaces': '1' } },
    ])
    expect((await namespace('a-2', alice)).status).toBe(201)
    expect((await edit('q', { perCreator: null })).status).not.toHaveProperty('accounts')
    expect(await used('q')).toEqual({ 'count/namespaces': '3' })
  })

  it('selects others by those alone who may use it, and only as many as its limits allow', async () => {
    await namespace('a')
    await namespace('b', admin, { labels: { kind: 'other' } })
    await limit('q', { selector: teams, quota: { hard: { configmaps: '1' } } })
    const both = {
      selector: { labels: { matchLabels: null, matchExpressions: [{ key: 'kind', operator: 'Exists' }] } },
    }
    expect(await refused(admin.call('PATCH', `${quotas}/q`, { spec: both }, merge))).toEqual(
      forbidden(
        { group: 'policy.borough.dev', kind: 'clusterresourcequotas', name: 'q' },
        `exceeded quota: q, requested: configmaps=1, used: configmaps=1, limited: configmaps=1, ${overAll}`,
      ),
    )
    const { status } = await edit('q', { ...both, quota: { hard: { configmaps: '2' } } })
    expect([status?.namespaceCount, status?.total?.used]).toEqual([2, { configmaps: '2' }])
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    await admin.must('POST', `${rbac}/clusterroles`, {
      metadata: { name: 'editor' },
      rules: [{ apiGroups: ['policy.borough.dev'], resources: ['clusterresourcequotas'], verbs: ['get', 'patch'] }],
    })
    await admin.must('POST', `${rbac}/clusterrolebindings`, {
      metadata: { name: 'editor' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'editor' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'erin' }],
    })
    expect(await refused(admin.as('erin').call('PATCH', `${quotas}/q`, { spec: { selector: teams } }, merge))).toEqual(
      forbidden(
        { group: 'policy.borough.dev', kind: 'clusterresourcequotas', name: 'q' },
        'user "erin" cannot change which namespaces are counted: spec.selector needs the verb "use" on ' +
          'clusterresourcequotas "q"',
      ),
    )
  })

  it('that goes lets everything go, and one that comes under its name counts anew', async () => {
    await limit('q', { selector: teams, quota: { hard: { 'count/namespaces': '1' } } })
    await namespace('a')
    await admin.must('DELETE', `${quotas}/q`)
    expect((await namespace('b')).status).toBe(201)
    const { status } = await limit('q', { selector: teams, quota: { hard: { 'count/namespaces': '1' } } })
    expect(status?.total?.used).toEqual({ 'count/namespaces': '2' })
    expect((await namespace('c')).status).toBe(403)
  })

  it('is the server’s to say what is used of', async () => {
    await limit('q', { selector: teams, quota: { hard: { 'count/namespaces': '1' } } })
    await namespace('a')
    const status = { total: { hard: {}, used: { 'count/namespaces': '0' } } }
    for (const path of [`${quotas}/q`, `${quotas}/q/status`]) {
      expect((await admin.call('PATCH', path, { status }, merge)).status).toBe(200)
    }
    expect(await used('q')).toEqual({ 'count/namespaces': '1' })
    expect((await namespace('b')).status).toBe(403)
  })
})

const mustRestrict = 'must restrict the selected namespaces'
test.each([
  { name: 'no selector', spec: {}, faults: [`spec.selector: Required value: ${mustRestrict}`] },
  {
    name: 'a selector of everything',
    spec: { selector: { labels: {} } },
    faults: [`spec.selector.labels: Invalid value: {}: ${mustRestrict}`],
  },
  {
    name: 'an operator that is none',
    spec: { selector: { labels: { matchExpressions: [{ key: 'a', operator: 'Near' }] } } },
    faults: ['spec.selector.labels.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator'],
  },
  {
    name: 'an annotation that is none',
    spec: { selector: { annotations: { 'a b': 'x' } } },
    faults: [
      'spec.selector.annotations: Invalid value: "a b": name part must consist of alphanumeric characters, ' +
        "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  " +
        "or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  },
  {
    name: 'both ways to be charged',
    spec: { selector: teams, perCreator: true, perOwner: true },
    faults: ['spec.perOwner: Invalid value: true: may not be set together with `perCreator`'],
  },
  {
    name: 'limits that a ResourceQuota would be refused for',
    spec: { selector: teams, quota: { hard: { nonsense: '1', pods: '-1', 'count/namespaces': '1500m' } } },
    faults: [
      'spec.quota.hard[count/namespaces]: Invalid value: "1500m": must be an integer',
      'spec.quota.hard[nonsense]: Invalid value: "nonsense": must be a standard resource type or fully qualified',
      'spec.quota.hard[nonsense]: Invalid value: "nonsense": must be a standard resource for quota',
      'spec.quota.hard[pods]: Invalid value: "-1": must be greater than or equal to 0',
    ],
  },
])('is refused: $name', async ({ spec, faults }) => {
  const kind = { group: 'policy.borough.dev', kind: 'ClusterResourceQuota', name: 'q' }
  expect(await refused(admin.call('POST', quotas, { metadata: { name: 'q' }, spec }))).toEqual(
    invalidObject(kind, faults),
  )
})

it('is told of a namespace by `borough why`: which quota, who is charged, and what is used', async () => {
  const hard = { configmaps: '2', secrets: '5' }
  await limit('per-person', { selector: teams, perCreator: true, quota: { hard } })
  await limit('all', { selector: teams, quota: { hard: { secrets: '0' } } })
  await limit('others', { selector: { labels: { matchLabels: { kind: 'other' } } }, quota: { hard } })
  await namespace('a', alice)
  await configMap('a', 'x', alice)
  const why = async (client: Client): Promise<readonly string[]> =>
    (await explainNamespace(client, 'a', systemClock, AbortSignal.timeout(60_000))).notes
  expect(await why(plane.client)).toEqual([
    `ClusterResourceQuota "all" counts it: secrets 0 of 0 (no more), ${overAll}`,
    'ClusterResourceQuota "per-person" counts it: configmaps 2 of 2 (no more), secrets 0 of 5, ' +
      overThoseOf('creator "alice"'),
  ])
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  await admin.must('POST', `${rbac}/clusterroles`, {
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'delete'] }],
  })
  await admin.must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dora' }],
  })
  expect(await why(plane.clientAs('dora'))).toEqual([])
})

describe('whatever many do at once', () => {
  test.each([
    { engine: 'memory', runs: 12 },
    { engine: 'sqlite', runs: 6 },
  ] as const)('every account equals a recount at every revision, in $engine', { timeout: 120_000 }, async (how) => {
    await fc.assert(
      fc.asyncProperty(clusterQuotaSteps, async (steps) => {
        const dataDir = await mkdtemp(join(tmpdir(), 'borough-quota-'))
        await using own = await createControlPlane({
          ...defaultConfig,
          storage: { engine: how.engine },
          ...(how.engine === 'sqlite' ? { dataDir } : {}),
        })
        const clients = Array.from({ length: 8 }, (_, i) =>
          own.client({ username: `user-${i % 3}`, groups: ['system:masters', 'system:authenticated'] }),
        )
        await contestClusterQuotas(clients, own.core.storage, steps)
      }),
      { numRuns: how.runs, endOnFailure: true },
    )
  })

  test.each(['memory', 'sqlite'] as const)(
    'nothing gets by while namespaces move and quotas come and go, in %s',
    { timeout: 120_000 },
    async (engine) => {
      await using own = await createControlPlane({
        ...defaultConfig,
        storage: { engine },
        ...(engine === 'sqlite' ? { dataDir: await mkdtemp(join(tmpdir(), 'borough-quota-')) } : {}),
      })
      await contestMoves([own.client()], own.core.storage, 6)
    },
  )
})
