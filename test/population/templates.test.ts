/** Namespace population through the whole server: each test is a sentence of the design document or of ours. */
import { request } from 'node:https'
import { json } from 'node:stream/consumers'
import { KubeConfig } from '@kubernetes/client-node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { JsonObject, KubeObject, Status } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure, invalidObject } from '../support/refusal.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const events = { group: '', version: 'v1', resource: 'events' }
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
const seedTemplates = { ...templates, group: 'policy' }

const creator = 'authorization.k8s.io/creator'
const label = 'policy/namespace-template-name'
const requirePermission = { 'policy/namespace-template-require-permission': 'true' }

let plane: TestControlPlane
let admin: Client

beforeEach(async () => {
  plane = await startControlPlane()
  admin = plane.client
})
afterEach(() => plane[Symbol.asyncDispose]())

const configMap = (name: string, data: Record<string, string> = { a: '1' }): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

interface Given {
  readonly annotations?: Record<string, string>
  readonly spec?: JsonObject
}

const users = { nameSelector: { exclude: ['default', 'kube-*'] } }

function template(name: string, objects: readonly JsonObject[], given: Given = {}, by = admin): Promise<KubeObject> {
  return by.create(templates, {
    metadata: { name, ...(given.annotations ? { annotations: given.annotations } : {}) },
    spec: { namespaces: users, ...given.spec, templates: [...objects] },
  })
}

async function editTemplate(name: string, spec: JsonObject): Promise<KubeObject> {
  return admin.patch(templates, { name }, { spec })
}

function namespace(name: string, metadata: KubeObject['metadata'] = {}, by = admin): Promise<KubeObject> {
  return by.create(namespaces, { metadata: { ...metadata, name } })
}

const find = async (where: string, name: string): Promise<KubeObject | undefined> =>
  (await admin.list(configMaps, { namespace: where, fieldSelector: `metadata.name=${name}` })).items[0]

const dataOf = (object: KubeObject | undefined): unknown => object?.['data']

async function refusal(write: Promise<unknown>): Promise<Status> {
  try {
    await write
  } catch (error) {
    const refused = findStatusError(error)
    if (refused) return refused.toStatus()
    throw error
  }
  throw new Error('was not refused')
}

async function grant(username: string, name: string, rules: readonly JsonObject[]): Promise<Client> {
  await admin.create(rbac('clusterroles'), { metadata: { name }, rules: [...rules] })
  await admin.create(rbac('clusterrolebindings'), {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }],
  })
  return plane.clientAs(username)
}

const rule = (verbs: string, group: string, resources: string, resourceNames?: string[]): JsonObject => ({
  verbs: verbs.split(' '),
  apiGroups: [group],
  resources: resources.split(' '),
  ...(resourceNames ? { resourceNames } : {}),
})

const creators = [rule('create get update patch', '', 'namespaces')]

const synced = (name: string, want: (status: JsonObject) => boolean): Promise<KubeObject | undefined> =>
  waitFor(admin, templates, { name }, (t) => t?.['status'] !== undefined && want(t['status'] as JsonObject))

describe('what a namespace is given', () => {
  test('kubectl create namespace also populates all objects pre-defined, before it answers', async () => {
    await template('default', [configMap('one'), configMap('two')])
    const created = await namespace('team')
    expect(created['status']).toMatchObject({ phase: 'Active' })
    expect(created['spec']).not.toHaveProperty('initializers')
    expect(await find('team', 'one')).toMatchObject({ metadata: { labels: { [label]: 'default' } }, data: { a: '1' } })
    expect(await find('team', 'two')).toBeDefined()
  })

  test('when nothing matches, the namespace is Active at once and nothing else is said of it', async () => {
    expect((await namespace('plain'))['status']).toEqual({ phase: 'Active' })
  })

  const selections: { name: string; spec: JsonObject; matched: string[]; left: string[] }[] = [
    {
      name: 'labelSelector selects by labels',
      spec: { labelSelector: { matchLabels: { tier: 'a' } } },
      matched: ['tier-a'],
      left: ['bare'],
    },
    {
      name: 'matchExpressions exclude',
      spec: { ...users, labelSelector: { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['a'] }] } },
      matched: ['bare'],
      left: ['tier-a'],
    },
    {
      name: 'nameSelector selects by glob',
      spec: { nameSelector: { include: ['b?re', 'x*'] } },
      matched: ['bare'],
      left: ['tier-a'],
    },
    {
      name: 'nameSelector excludes by glob',
      spec: { nameSelector: { include: ['*'], exclude: ['tier-*', 'default', 'kube-*'] } },
      matched: ['bare'],
      left: ['tier-a'],
    },
    {
      name: 'creatorSelector selects by user',
      spec: { creatorSelector: { users: ['kubernetes-*'] } },
      matched: ['bare', 'tier-a'],
      left: ['default'],
    },
    {
      name: 'creatorSelector leaves others',
      spec: { creatorSelector: { users: ['bob'], serviceAccounts: ['ci/*'] } },
      matched: [],
      left: ['bare', 'tier-a'],
    },
  ]
  test.each(selections)('$name', async ({ spec, matched, left }) => {
    await template('t', [configMap('one')], { spec: { namespaces: spec } })
    await namespace('bare')
    await namespace('tier-a', { labels: { tier: 'a' } })
    for (const name of matched) expect(await find(name, 'one'), name).toBeDefined()
    for (const name of left) expect(await find(name, 'one'), name).toBeUndefined()
  })

  test('creatorSelector selects service accounts as namespace/name', async () => {
    await template('t', [configMap('one')], {
      spec: { namespaces: { creatorSelector: { serviceAccounts: ['ci/*'] } } },
    })
    await namespace('by-ci', {}, await grant('system:serviceaccount:ci:robot', 'ci', creators))
    await namespace('by-user')
    expect(await find('by-ci', 'one')).toBeDefined()
    expect(await find('by-user', 'one')).toBeUndefined()
  })

  test('templates apply in the order of their names, and the first keeps an object that two hold', async () => {
    const both = (tier: string): JsonObject => ({
      namespaces: { labelSelector: { matchExpressions: [{ key: tier, operator: 'Exists' }] } },
    })
    await template('b', [configMap('shared', { from: 'b' })], { spec: both('y') })
    await template('a', [configMap('shared', { from: 'a' })], { spec: both('x') })
    await namespace('team', { labels: { x: '1', y: '1' } })
    expect(dataOf(await find('team', 'shared'))).toEqual({ from: 'a' })
    const found = await admin.get(namespaces, { name: 'team' })
    expect(found['status']).toMatchObject({
      conditions: expect.arrayContaining([
        expect.objectContaining({ type: 'Populated', status: 'False', reason: 'Conflict' }),
      ]),
    })
    await synced('b', (s) => s['failed'] === 1)
  })

  test('a clash that is certain is refused when the template is written', async () => {
    await template('a', [configMap('shared')])
    const status = await refusal(template('b', [configMap('other'), configMap('shared')]))
    expect(status).toEqual(
      invalidObject({ group: 'policy.borough.dev', kind: 'NamespaceTemplate', name: 'b' }, [
        'spec.templates[1]: Invalid value: "ConfigMap/shared": template "a" gives it to the same namespaces',
      ]),
    )
    expect(status.message).toContain('template "a" gives it to the same namespaces')
  })

  test('policy/namespace-template-apply=disable stops a template, and what is there stays', async () => {
    await template('t', [configMap('one')])
    await namespace('before')
    await admin.patch(
      templates,
      { name: 't' },
      { metadata: { annotations: { 'policy/namespace-template-apply': 'disable' } } },
    )
    await namespace('after')
    expect(await find('before', 'one')).toBeDefined()
    expect(await find('after', 'one')).toBeUndefined()
  })

  test('either group serves the same templates', async () => {
    await admin.create(seedTemplates, {
      metadata: { name: 't' },
      spec: { templates: [configMap('one')], namespaces: users },
    })
    expect((await admin.get(templates, { name: 't' })).apiVersion).toBe('policy.borough.dev/v1alpha1')
    await namespace('team')
    expect(await find('team', 'one')).toBeDefined()
  })
  test('one of both groups comes first, and each answers in its own name', async () => {
    const ask = async (path: string): Promise<JsonObject> => (await admin.request('GET', path)) as JsonObject
    const { groups } = (await ask('/apis')) as { groups: { name: string }[] }
    const names = groups.map((g) => g.name).filter((name) => name.startsWith('policy'))
    expect(names).toEqual(['policy.borough.dev', 'policy'])
    await template('t', [])
    for (const { group } of [templates, seedTemplates]) {
      const { resources } = (await ask(`/apis/${group}/v1alpha1`)) as { resources: { name: string }[] }
      const apiVersion = `${group}/v1alpha1`
      expect(resources.find((r) => r.name === 'namespacetemplates')).toEqual({
        name: 'namespacetemplates',
        singularName: 'namespacetemplate',
        namespaced: false,
        kind: 'NamespaceTemplate',
        verbs: expect.arrayContaining(['get', 'list', 'watch']),
        storageVersionHash: expect.any(String),
        ...(group === 'policy' ? {} : { shortNames: ['nstpl'] }),
      })
      const path = `/apis/${apiVersion}/namespacetemplates`
      expect(await ask(`${path}/t`)).toMatchObject({ apiVersion, kind: 'NamespaceTemplate' })
      expect(await ask(path)).toMatchObject({ apiVersion, kind: 'NamespaceTemplateList' })
    }
  })

  test('a dry run creates nothing and says what would be created, at most 20', async () => {
    await template(
      't',
      Array.from({ length: 25 }, (_, i) => configMap(`c${i}-$(NAMESPACE)`)),
    )
    const body = JSON.stringify({ metadata: { name: 'dry' } })
    const headers = { 'content-type': 'application/json' }
    const answer = await plane.fetch('/api/v1/namespaces?dryRun=All', { method: 'POST', body, headers })
    expect(answer.status).toBe(201)
    const warnings = (answer.headers.get('warning') ?? '').split(', ')
    expect(warnings).toHaveLength(20)
    expect(warnings[0]).toBe('299 - "would create ConfigMap/c0-dry"')
    expect((await refusal(admin.get(namespaces, { name: 'dry' }))).code).toBe(404)
  })
})

describe('tokens', () => {
  test('$(CREATOR) and $(NAMESPACE) are replaced in values', async () => {
    await template('t', [configMap('one', { who: 'by $(CREATOR) in $(NAMESPACE)', same: '$$(OTHER) ${CREATOR}' })])
    await namespace('team', {}, await grant('user1@corp.com', 'c', creators))
    expect(dataOf(await find('team', 'one'))).toEqual({ who: 'by user1@corp.com in team', same: '$(OTHER) ${CREATOR}' })
  })

  test.each(['a"},"injected":{"b":"c', 'x\nkind: Secret', '$(NAMESPACE)', '$& $1 $$', '__proto__'])(
    'a user name can not change the structure of an object: %j',
    async (username) => {
      await template('t', [configMap('one', { who: '$(CREATOR)' })])
      await namespace('team', {}, await grant(username, 'c', creators))
      expect(dataOf(await find('team', 'one'))).toEqual({ who: username })
    },
  )

  test('a token in a key is refused', async () => {
    const status = await refusal(template('t', [configMap('one', { '$(CREATOR)': 'x' })]))
    expect(status.message).toContain('tokens are replaced in values, never in keys')
  })
})

describe('who created it', () => {
  test('the server records the creator, never the client', async () => {
    const lies = { [creator]: 'mallory' }
    const alice = await grant('alice', 'c', creators)
    const created = await namespace('team', { labels: lies, annotations: lies }, alice)
    expect(created.metadata.annotations).toMatchObject({ [creator]: 'alice' })
    expect(created.metadata.labels).toMatchObject({ [creator]: 'alice' })
  })

  test('it is a label only where the name is a legal label value', async () => {
    const created = await namespace('team', {}, await grant('a@b.c', 'c', creators))
    expect(created.metadata.annotations?.[creator]).toBe('a@b.c')
    expect(created.metadata.labels).not.toHaveProperty([creator])
  })

  test('it is immutable: an update that changes it keeps the old value', async () => {
    await namespace('team')
    const lies = { [creator]: 'mallory', other: 'x' }
    const next = await admin.patch(namespaces, { name: 'team' }, { metadata: { labels: lies, annotations: lies } })
    expect(next.metadata.annotations).toMatchObject({ [creator]: 'kubernetes-admin', other: 'x' })
    expect(next.metadata.labels).toMatchObject({ [creator]: 'kubernetes-admin', other: 'x' })
    const gone = await admin.patch(namespaces, { name: 'team' }, { metadata: { annotations: { [creator]: null } } })
    expect(gone.metadata.annotations).toMatchObject({ [creator]: 'kubernetes-admin' })
  })
})

test('under impersonation the impersonated user is the creator', async () => {
  // Only what comes through a socket can impersonate.
  await using served = await startControlPlane({ port: 0 })
  const remote = new KubeConfig()
  remote.loadFromString(served.kubeconfig)
  const cluster = remote.getCurrentCluster()
  const user = remote.getCurrentUser()
  const answer = await new Promise<KubeObject>((resolve, reject) => {
    const sent = request(
      `${cluster?.server}/api/v1/namespaces`,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'impersonate-user': 'alice',
          'impersonate-group': 'system:masters',
        },
        ca: Buffer.from(cluster?.caData ?? '', 'base64'),
        cert: Buffer.from(user?.certData ?? '', 'base64'),
        key: Buffer.from(user?.keyData ?? '', 'base64'),
      },
      (response) => {
        json(response).then((body) => resolve(body as KubeObject), reject)
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify({ metadata: { name: 'team' } }))
  })
  expect(answer.metadata.annotations?.[creator]).toBe('alice')
})

describe('permission', () => {
  test('a template that requires permission needs the verb use, of whoever creates the namespace', async () => {
    await template('privileged', [configMap('one')], { annotations: requirePermission })
    const bob = await grant('bob', 'c', creators)
    expect(await refusal(namespace('team', {}, bob))).toEqual(
      failure({
        message:
          'namespaces "team" is forbidden: user "bob" cannot use namespacetemplates "privileged", which ' +
          'selects this namespace',
        reason: 'Forbidden',
        details: { name: 'team', kind: 'namespaces' },
        code: 403,
      }),
    )
  })

  test.each(['policy', 'policy.borough.dev'])('the right may be given in group %s', async (group) => {
    await template('privileged', [configMap('one')], { annotations: requirePermission })
    const carol = await grant('carol', 'c', [...creators, rule('use', group, 'namespacetemplates', ['privileged'])])
    await namespace('team', {}, carol)
    expect(await find('team', 'one')).toBeDefined()
  })

  test('one template that may not be used is enough to refuse', async () => {
    await template('free', [configMap('one')])
    await template('paid', [configMap('two')], { annotations: requirePermission })
    expect((await refusal(namespace('team', {}, await grant('bob', 'c', creators)))).code).toBe(403)
  })

  test('new labels that bring a template need use of it too; what matched before is not asked again', async () => {
    const by = (tier: string): Given => ({
      annotations: requirePermission,
      spec: { namespaces: { labelSelector: { matchLabels: { tier } } } },
    })
    await template('gold', [configMap('gold')], by('gold'))
    const bob = await grant('bob', 'c', creators)
    await namespace('team', {}, bob)
    const relabel = (labels: JsonObject): Promise<KubeObject> =>
      bob.patch(namespaces, { name: 'team' }, { metadata: { labels } })
    expect(await refusal(relabel({ tier: 'gold' }))).toEqual(
      failure({
        message:
          'namespaces "team" is forbidden: user "bob" cannot use namespacetemplates "gold", which selects ' +
          'this namespace',
        reason: 'Forbidden',
        details: { name: 'team', kind: 'namespaces' },
        code: 403,
      }),
    )
    await admin.patch(namespaces, { name: 'team' }, { metadata: { labels: { tier: 'gold' } } })
    await relabel({ other: 'x' })
    await waitFor(admin, configMaps, { namespace: 'team', name: 'gold' }, isThere)
  })
})

describe('opt-out', () => {
  const optOut = { 'policy/namespace-template-opt-out': 'true' }

  test('kube-system is always left out', async () => {
    await template('all', [configMap('one')], { spec: { namespaces: { labelSelector: {} } } })
    await waitFor(admin, configMaps, { namespace: 'default', name: 'one' }, isThere)
    await synced('all', (s) => s['matched'] === 3 && s['synced'] === 3)
    expect(await find('kube-system', 'one')).toBeUndefined()
  })

  test('the annotation needs the verb optout', async () => {
    await template('t', [configMap('one')])
    const bob = await grant('bob', 'c', creators)
    expect(await refusal(namespace('team', { annotations: optOut }, bob))).toEqual(
      failure({
        message:
          'namespaces "team" is forbidden: user "bob" cannot opt a namespace out of its templates: ' +
          'annotation policy/namespace-template-opt-out needs the verb "optout" on namespacetemplates',
        reason: 'Forbidden',
        details: { name: 'team', kind: 'namespaces' },
        code: 403,
      }),
    )
    const carol = await grant('carol', 'd', [...creators, rule('optout', 'policy', 'namespacetemplates')])
    await namespace('team', { annotations: optOut }, carol)
    expect(await find('team', 'one')).toBeUndefined()
    await namespace('other', {}, bob)
    expect((await refusal(bob.patch(namespaces, { name: 'other' }, { metadata: { annotations: optOut } }))).code).toBe(
      403,
    )
  })

  test('objects populated before are left as they are', async () => {
    await template('t', [configMap('one')])
    await namespace('team')
    await admin.patch(namespaces, { name: 'team' }, { metadata: { annotations: optOut } })
    await synced('t', (s) => s['matched'] === 0)
    await admin.patch(configMaps, { namespace: 'team', name: 'one' }, { data: { a: '2' } })
    await editTemplate('t', { templates: [configMap('two')] })
    await namespace('next')
    expect(dataOf(await find('team', 'one'))).toEqual({ a: '2' })
    expect(await find('team', 'two')).toBeUndefined()
  })

  test('namespaces made by the listed accounts are annotated by themselves', async () => {
    await template('t', [configMap('one')])
    const robot = await grant('system:serviceaccount:ci:robot', 'c', creators)
    const accounts = {
      metadata: { namespace: 'kube-system', name: 'borough-population' },
      data: { optOutAccounts: 'ci/rob*\njenkins' },
    }
    await admin.create(configMaps, accounts)
    expect((await namespace('build', {}, robot)).metadata.annotations).toMatchObject(optOut)
    expect(await find('build', 'one')).toBeUndefined()
    await namespace('human')
    expect(await find('human', 'one')).toBeDefined()
    await admin.delete(configMaps, { namespace: 'kube-system', name: 'borough-population' })
    await namespace('later', {}, robot)
    expect(await find('later', 'one')).toBeDefined()
  })
})

describe('what stays right', () => {
  const one = { namespace: 'team', name: 'one' }

  test('a change of the template reaches the namespaces it selects', async () => {
    await template('t', [configMap('one')])
    await namespace('team')
    await editTemplate('t', { templates: [configMap('one', { a: '2' })] })
    await waitFor(admin, configMaps, one, (o) => JSON.stringify(dataOf(o)) === '{"a":"2"}')
  })

  test('namespaces that exist are populated by a new template', async () => {
    await namespace('team')
    await template('t', [configMap('one')])
    await waitFor(admin, configMaps, one, isThere)
  })

  test.each([
    {
      name: 'a changed value is forced back',
      drift: (): Promise<unknown> => admin.patch(configMaps, one, { data: { a: 'x' } }),
    },
    { name: 'a deleted object comes back', drift: (): Promise<unknown> => admin.delete(configMaps, one) },
  ])('$name', async ({ drift }) => {
    await template('t', [configMap('one')])
    await namespace('team')
    const before = await find('team', 'one')
    await drift()
    const back = await waitFor(
      admin,
      configMaps,
      one,
      (o) =>
        JSON.stringify(dataOf(o)) === '{"a":"1"}' && o?.metadata.resourceVersion !== before?.metadata.resourceVersion,
    )
    expect(back?.metadata.labels).toMatchObject({ [label]: 't' })
  })

  test('fields that the template does not name belong to whoever sets them', async () => {
    await template('t', [configMap('one')])
    await namespace('team')
    await admin.patch(configMaps, one, { data: { mine: 'x' } })
    await editTemplate('t', { templates: [configMap('one', { a: '2' })] })
    await waitFor(admin, configMaps, one, (o) => JSON.stringify(dataOf(o)) === '{"a":"2","mine":"x"}')
  })

  test('driftPolicy Report says so and leaves it', async () => {
    await template('t', [configMap('one')], { spec: { driftPolicy: 'Report' } })
    await namespace('team')
    await admin.patch(configMaps, one, { data: { a: 'x' } })
    await synced('t', (s) => s['failed'] === 1)
    expect(dataOf(await find('team', 'one'))).toEqual({ a: 'x' })
    await waitFor(admin, namespaces, { name: 'team' }, (n) =>
      JSON.stringify(n?.['status']).includes('"reason":"Drift"'),
    )
    await admin.patch(configMaps, one, { data: { a: '1' } })
    await waitFor(admin, namespaces, { name: 'team' }, (n) =>
      JSON.stringify(n?.['status']).includes('"reason":"Populated"'),
    )
  })

  test('a field that another applier took over is left to it where the template only reports', async () => {
    await template('t', [configMap('one')], { spec: { driftPolicy: 'Report' } })
    await namespace('team')
    const theirs = { apiVersion: 'v1', kind: 'ConfigMap', metadata: one, data: { a: 'theirs' } }
    await admin.apply(configMaps, theirs, { fieldManager: 'gitops', force: true })
    const status = await synced('t', (s) => s['failed'] === 1)
    expect(status?.['status']).toMatchObject({
      matched: 1,
      synced: 0,
      failures: [{ namespace: 'team', object: 'ConfigMap/one', reason: 'Drift' }],
    })
    expect(dataOf(await find('team', 'one'))).toEqual({ a: 'theirs' })
  })
})

describe('pruning', () => {
  const one = { namespace: 'team', name: 'one' }

  test('what a template no longer holds is deleted', async () => {
    await template('t', [configMap('one'), configMap('two')])
    await namespace('team')
    await editTemplate('t', { templates: [configMap('two')] })
    await waitFor(admin, configMaps, one, isGone)
    expect(await find('team', 'two')).toBeDefined()
  })

  test('what a template no longer selects is pruned', async () => {
    await template('t', [configMap('one')], { spec: { namespaces: { labelSelector: { matchLabels: { tier: 'a' } } } } })
    await namespace('team', { labels: { tier: 'a' } })
    await admin.patch(namespaces, { name: 'team' }, { metadata: { labels: { tier: null } } })
    await waitFor(admin, configMaps, one, isGone)
  })

  test('deletionPolicy Orphan takes the label off and leaves the object', async () => {
    await template('t', [configMap('one')], { spec: { deletionPolicy: 'Orphan' } })
    await namespace('team')
    await editTemplate('t', { templates: [] })
    const left = await waitFor(admin, configMaps, one, (o) => o?.metadata.labels?.[label] === undefined)
    expect(dataOf(left)).toEqual({ a: '1' })
  })

  test('an object that only carries the label is not ours, and is not touched', async () => {
    await template('t', [configMap('one')])
    await namespace('team')
    await admin.create(configMaps, {
      ...configMap('mine'),
      metadata: { namespace: 'team', name: 'mine', labels: { [label]: 't' } },
    })
    await editTemplate('t', { templates: [] })
    await waitFor(admin, configMaps, one, isGone)
    expect(await find('team', 'mine')).toBeDefined()
    await admin.delete(templates, { name: 't' })
    await waitFor(admin, templates, { name: 't' }, isGone)
    expect(await find('team', 'mine')).toBeDefined()
  })

  test('a deleted template stays until what it populated is pruned, then goes', async () => {
    await template('t', [configMap('one')])
    for (const name of ['team', 'team2', 'team3']) await namespace(name)
    await admin.delete(templates, { name: 't' })
    await waitFor(admin, templates, { name: 't' }, isGone)
    for (const name of ['team', 'team2', 'team3']) expect(await find(name, 'one')).toBeUndefined()
  })

  test('a deleted template waits for an object that something else holds', async () => {
    await template('t', [configMap('one')])
    await namespace('team')
    await admin.patch(configMaps, one, { metadata: { finalizers: ['example.com/held'] } })
    await admin.delete(templates, { name: 't' })
    await waitFor(admin, configMaps, one, (o) => o?.metadata.deletionTimestamp !== undefined)
    expect((await admin.get(templates, { name: 't' })).metadata.deletionTimestamp).toBeDefined()
    await admin.patch(configMaps, one, { metadata: { finalizers: null } })
    await waitFor(admin, templates, { name: 't' }, isGone)
  })

  test('a namespace made again under an old name is populated again', async () => {
    await template('t', [configMap('one')])
    await namespace('team')
    await admin.delete(namespaces, { name: 'team' })
    await waitFor(admin, namespaces, { name: 'team' }, isGone)
    await namespace('team')
    expect(await find('team', 'one')).toBeDefined()
  })
})

describe('what was there before', () => {
  const mine = { ...configMap('one', { a: 'mine' }), metadata: { namespace: 'team', name: 'one' } }

  test('is not touched, and the template says so', async () => {
    await namespace('team')
    await admin.create(configMaps, mine)
    await template('t', [configMap('one'), configMap('two')])
    await waitFor(admin, configMaps, { namespace: 'team', name: 'two' }, isThere)
    await synced('t', (s) => s['failed'] === 1)
    expect(dataOf(await find('team', 'one'))).toEqual({ a: 'mine' })
    expect((await find('team', 'one'))?.metadata.labels).toBeUndefined()
  })

  test('is taken over with spec.adopt: true', async () => {
    await namespace('team')
    await admin.create(configMaps, mine)
    await template('t', [configMap('one')], { spec: { adopt: true } })
    await waitFor(admin, configMaps, { namespace: 'team', name: 'one' }, (o) => o?.metadata.labels?.[label] === 't')
    expect(dataOf(await find('team', 'one'))).toEqual({ a: '1' })
  })
})

describe('failure', () => {
  test('of one object: events, conditions, the others are applied, and it is tried again', async () => {
    const widget = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'of-$(CREATOR)' } }
    await namespace('team', {}, await grant('Not_Legal', 'c', creators))
    await template('t', [configMap('one'), widget])
    await waitFor(admin, configMaps, { namespace: 'team', name: 'one' }, isThere)
    const found = await synced('t', (s) => s['failed'] === 1)
    expect(found?.['status']).toMatchObject({
      observedGeneration: 1,
      matched: 1,
      synced: 0,
      conditions: [{ type: 'Synced', status: 'False', reason: 'Invalid' }, { type: 'Progressing' }],
    })
    const team = await waitFor(admin, namespaces, { name: 'team' }, (n) =>
      JSON.stringify(n?.['status']).includes('Populated'),
    )
    expect(team?.['status']).toMatchObject({ conditions: [{ type: 'Populated', status: 'False', reason: 'Invalid' }] })
    for (const where of ['team', 'default']) {
      const told = (await admin.list(events, { namespace: where })).items.filter(
        (e) => e['reason'] === 'PopulationInvalid',
      )
      expect(told, where).toHaveLength(1)
    }
    await editTemplate('t', { templates: [configMap('one')] })
    await synced('t', (s) => s['failed'] === 0 && s['synced'] === 1)
    await waitFor(admin, namespaces, { name: 'team' }, (n) =>
      JSON.stringify(n?.['status']).includes('"reason":"Populated"'),
    )
  })

  test.each([
    {
      name: 'a cluster-scoped kind',
      object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' } },
      want: 'spec.templates[0].kind',
    },
    {
      name: 'a namespace in an object',
      object: { ...configMap('x'), metadata: { name: 'x', namespace: 'y' } },
      want: 'spec.templates[0].metadata.namespace',
    },
    {
      name: 'an object without a name',
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} },
      want: 'spec.templates[0].metadata.name',
    },
  ])('$name is refused when the template is written', async ({ object, want }) => {
    expect((await refusal(template('t', [object]))).details?.causes).toContainEqual(
      expect.objectContaining({ field: want }),
    )
  })

  test('a template name that makes no label value is refused', async () => {
    expect(await refusal(template('x'.repeat(64), []))).toEqual(
      invalidObject(
        {
          group: 'policy.borough.dev',
          kind: 'NamespaceTemplate',
          name: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
        },
        ['metadata.name: Too long: may not be more than 63 bytes'],
      ),
    )
  })
})

describe('the author', () => {
  const author = [rule('create get update patch', 'policy.borough.dev', 'namespacetemplates')]
  const full = (resource: string, group = ''): JsonObject => rule('create patch delete get', group, resource)
  const rbacGroup = 'rbac.authorization.k8s.io'
  const role = (...rules: JsonObject[]): JsonObject => ({
    apiVersion: `${rbacGroup}/v1`,
    kind: 'Role',
    metadata: { name: 'r' },
    rules,
  })
  const binding = (kind: string, name: string): JsonObject => ({
    apiVersion: `${rbacGroup}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'b' },
    roleRef: { apiGroup: rbacGroup, kind, name },
    subjects: [{ apiGroup: rbacGroup, kind: 'User', name: '$(CREATOR)' }],
  })
  const writesRbac = full('roles rolebindings', rbacGroup)

  const cases: { name: string; holds: JsonObject[]; objects: JsonObject[]; want: 'accepted' | string }[] = [
    {
      name: 'may template what they may write everywhere',
      holds: [full('configmaps')],
      objects: [configMap('one')],
      want: 'accepted',
    },
    {
      name: 'may not template what they may not write',
      holds: [],
      objects: [configMap('one')],
      want: 'spec.templates[0]: needs "create", "patch", "delete" on configmaps in all namespaces',
    },
    {
      name: 'needs every verb that population uses',
      holds: [rule('create patch', '', 'configmaps')],
      objects: [configMap('one')],
      want: 'needs "delete" on configmaps',
    },
    {
      name: 'needs all of a group for a kind that is not served yet',
      holds: [rule('create', 'ex.io', 'widgets')],
      objects: [{ apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'w' } }],
      want: 'all resources of group "ex.io"',
    },
    {
      name: 'may give rules that they hold',
      holds: [writesRbac, full('configmaps')],
      objects: [role(rule('get create', '', 'configmaps'))],
      want: 'accepted',
    },
    {
      name: 'may not give rules that they lack',
      holds: [writesRbac],
      objects: [role(rule('get', '', 'secrets'))],
      want: 'attempting to grant RBAC permissions not currently held',
    },
    {
      name: 'may give any rule with escalate',
      holds: [writesRbac, rule('escalate', rbacGroup, 'roles')],
      objects: [role(rule('get', '', 'secrets'))],
      want: 'accepted',
    },
    {
      name: 'a token inside a rule counts as everything',
      holds: [writesRbac, rule('get', '', 'namespaces', ['mine'])],
      objects: [role(rule('get', '', 'namespaces', ['$(NAMESPACE)']))],
      want: 'not currently held',
    },
    {
      name: 'a token inside a rule is fine for who holds everything of it',
      holds: [writesRbac, rule('get', '', 'namespaces')],
      objects: [role(rule('get', '', 'namespaces', ['$(NAMESPACE)']))],
      want: 'accepted',
    },
    {
      name: 'may not bind a ClusterRole that holds more than they do',
      holds: [writesRbac],
      objects: [binding('ClusterRole', 'admin')],
      want: 'not currently held',
    },
    {
      name: 'may bind a ClusterRole with bind',
      holds: [writesRbac, rule('bind', rbacGroup, 'clusterroles', ['admin'])],
      objects: [binding('ClusterRole', 'admin')],
      want: 'accepted',
    },
    {
      name: 'may not bind a ClusterRole that may be made later',
      holds: [writesRbac],
      objects: [binding('ClusterRole', 'nobody-yet')],
      want: 'does not exist',
    },
    {
      name: 'may bind a Role of the same template, whose rules are looked at there',
      holds: [writesRbac, full('configmaps')],
      objects: [role(rule('get', '', 'configmaps')), binding('Role', 'r')],
      want: 'accepted',
    },
    {
      name: 'may not bind a Role of somebody else',
      holds: [writesRbac],
      objects: [binding('Role', 'r')],
      want: 'is not in this template',
    },
  ]
  test.each(cases)('$name', async ({ holds, objects, want }) => {
    const by = await grant('author', 'author', [...author, ...holds])
    const write = template('t', objects, {}, by)
    if (want === 'accepted') await write
    else expect(await refusal(write)).toMatchObject({ code: 403, message: expect.stringContaining(want) })
  })

  test('is asked at every change of the spec, not of the rest', async () => {
    await template('t', [configMap('one')])
    const by = await grant('author', 'author', author)
    await by.patch(templates, { name: 't' }, { metadata: { labels: { x: 'y' } } })
    expect((await refusal(by.patch(templates, { name: 't' }, { spec: { adopt: true } }))).code).toBe(403)
  })
})

test('status figures are columns of kubectl get', async () => {
  await template('t', [configMap('one')])
  await namespace('team')
  await synced('t', (s) => s['synced'] === 1)
  const answer = await plane.fetch('/apis/policy/v1alpha1/namespacetemplates', {
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  })
  const table = (await answer.json()) as {
    columnDefinitions: { name: string; priority: number }[]
    rows: { cells: unknown[] }[]
  }
  const columns = table.columnDefinitions
  expect(columns.filter((c) => c.priority === 0).map((c) => c.name)).toEqual([
    'Name',
    'Matched',
    'Synced',
    'Failed',
    'Skipped',
    'Age',
  ])
  expect(table.rows[0]?.cells.slice(0, 5)).toEqual(['t', 1, 1, 0, 0])
  // With -o wide.
  expect(columns.filter((c) => c.priority === 1).map((c) => c.name)).toEqual(['Extended', 'Waiting', 'Rollout'])
  expect(table.rows[0]?.cells.slice(6)).toEqual([0, 0, 'Complete'])
})
