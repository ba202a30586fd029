/** Attempts to come to more rights than one holds, through the whole server. Each names the attack. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import {
  clusterRoleBindingsResource,
  clusterRolesResource,
  type PolicyRule,
  roleBindingsResource,
  rolesResource,
} from '../../src/kube/rbac.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import {
  allow,
  clusterRole,
  clusterRoleBinding,
  group,
  role,
  roleBinding,
  serviceAccount,
  user,
} from '../support/fake-rbac-source.ts'
import { send } from '../support/send.ts'
import { waitFor } from '../support/wait-for.ts'

const core = (resource: string) => ({ group: '', version: 'v1', resource })
const rbac = 'rbac.authorization.k8s.io'
const rbacPath = `/apis/${rbac}/v1`
const mine = `${rbacPath}/namespaces/mine`
const everything = allow('*', '*', '*')

let plane: TestControlPlane
let admin: Client

beforeAll(async () => {
  plane = await startControlPlane()
  admin = plane.client
  for (const name of ['mine', 'theirs']) await admin.create(core('namespaces'), { metadata: { name } })
  await admin.create(core('secrets'), { metadata: { name: 'db', namespace: 'theirs' }, data: {} } as KubeObject)
  await admin.create(rolesResource, role('mine', 'reader', allow('get', '', 'pods')))
  await admin.create(roleBindingsResource, roleBinding('mine', 'dora', 'ClusterRole/admin', user('dora')))
})
afterAll(() => plane[Symbol.asyncDispose]())

let count = 0
/** A user with exactly these rights, cluster-wide, besides what everybody has. */
async function holder(...rules: PolicyRule[]): Promise<string> {
  const name = `holder-${++count}`
  await admin.create(clusterRolesResource, clusterRole(name, ...rules))
  await admin.create(clusterRoleBindingsResource, clusterRoleBinding(name, name, user(name)))
  return name
}

interface Attempt {
  readonly name: string
  readonly method?: string
  readonly path: string
  readonly body?: object
  readonly type?: string
  readonly code?: number
}

/** What dora tries, who is admin of namespace `mine` and nothing else. */
const attempts: readonly Attempt[] = [
  {
    name: 'a role: a star in one’s own namespace',
    path: `${mine}/roles`,
    body: role('mine', 'star', everything),
  },
  {
    name: 'a role: a verb that admins do not hold',
    path: `${mine}/roles`,
    body: role('mine', 'quota', allow('update', '', 'resourcequotas')),
  },
  {
    name: 'a role: the right to escalate',
    path: `${mine}/roles`,
    body: role('mine', 'escalate', allow('escalate', rbac, 'roles')),
  },
  {
    name: 'a role, by PUT of one that exists',
    method: 'PUT',
    path: `${mine}/roles/reader`,
    body: role('mine', 'reader', everything),
  },
  {
    name: 'a role, by JSON patch',
    method: 'PATCH',
    type: 'application/json-patch+json',
    path: `${mine}/roles/reader`,
    body: [{ op: 'add', path: '/rules/-', value: everything }],
  },
  {
    name: 'a role, by merge patch',
    method: 'PATCH',
    type: 'application/merge-patch+json',
    path: `${mine}/roles/reader`,
    body: { rules: [everything] },
  },
  {
    name: 'a role, by server-side apply of one that does not exist',
    method: 'PATCH',
    type: 'application/apply-patch+yaml',
    path: `${mine}/roles/applied?fieldManager=x&force=true`,
    body: role('mine', 'applied', everything),
  },
  {
    name: 'a ClusterRole',
    path: `${rbacPath}/clusterroles`,
    body: clusterRole('mine', allow('get', '', 'pods')),
  },
  {
    name: 'a binding to cluster-admin in one’s own namespace',
    path: `${mine}/rolebindings`,
    body: roleBinding('mine', 'boss', 'ClusterRole/cluster-admin', user('dora')),
  },
  {
    name: 'a binding to a role that does not exist yet',
    path: `${mine}/rolebindings`,
    body: roleBinding('mine', 'later', 'ClusterRole/made-later', user('dora')),
    code: 404,
  },
  {
    name: 'a binding, by server-side apply',
    method: 'PATCH',
    type: 'application/apply-patch+yaml',
    path: `${mine}/rolebindings/applied?fieldManager=x`,
    body: roleBinding('mine', 'applied', 'ClusterRole/cluster-admin', group('system:authenticated')),
  },
  {
    name: 'a binding, in a namespace of others',
    path: `${rbacPath}/namespaces/theirs/rolebindings`,
    body: roleBinding('theirs', 'dora', 'ClusterRole/view', user('dora')),
  },
  {
    name: 'a binding whose body names another namespace than the URL',
    path: `${mine}/rolebindings`,
    body: roleBinding('theirs', 'dora', 'ClusterRole/view', user('dora')),
    code: 400,
  },
  {
    name: 'a ClusterRoleBinding',
    path: `${rbacPath}/clusterrolebindings`,
    body: clusterRoleBinding('dora', 'view', user('dora')),
  },
  {
    name: 'a token of an account of another namespace',
    path: '/api/v1/namespaces/kube-system/serviceaccounts/default/token',
    body: { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1', spec: {} },
  },
  {
    name: 'a review about somebody else',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: { user: 'root', groups: ['system:masters'], nonResourceAttributes: { verb: 'get', path: '/' } },
    },
  },
  {
    name: 'a template that gives rights in every namespace',
    path: '/apis/policy.borough.dev/v1alpha1/namespacetemplates',
    body: {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name: 'mine' },
      spec: { templates: [roleBinding('', 'dora', 'ClusterRole/cluster-admin', user('dora'))] },
    },
  },
  {
    name: 'a definition that shadows a built-in kind',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'secrets.x.io' },
    },
  },
  {
    name: 'finalizing a namespace that hangs',
    method: 'PUT',
    path: '/api/v1/namespaces/mine/finalize',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'mine' }, spec: { finalizers: [] } },
  },
  {
    name: 'lifting one’s own quota',
    path: '/api/v1/namespaces/mine/resourcequotas',
    body: { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { pods: '1' } } },
  },
]

describe('attack: an admin of one namespace tries to gain', () => {
  test.each(attempts)('$name', async ({ method = 'POST', path, body, type, code = 403 }) => {
    const sent = { method, user: { username: 'dora', groups: ['system:authenticated'] }, ...(type ? { type } : {}) }
    const answer = await send(plane, path, body === undefined ? sent : { ...sent, body })
    expect(answer.code, answer.text).toBe(code)
    expect((await send(plane, '/api/v1/namespaces/theirs/secrets/db', { user: sent.user })).code).toBe(403)
  })

  test('what an admin may: pass on what admins hold, in the own namespace', async () => {
    const dora = plane.clientAs('dora')
    await dora.create(rolesResource, role('mine', 'pods', allow('get,list', '', 'pods')))
    await dora.create(roleBindingsResource, roleBinding('mine', 'bob', 'ClusterRole/view', user('bob')))
    expect((await plane.clientAs('bob').list(core('pods'), { namespace: 'mine' })).items).toEqual([])
  })
})

describe('attack: a writer of roles tries to gain', () => {
  test('aggregation: a label that makes an own ClusterRole part of admin', async () => {
    const name = await holder(allow('*', rbac, 'clusterroles'), allow('get', '', 'pods'))
    const client = plane.clientAs(name)
    const gathered = { ...clusterRole('smuggled', everything) }
    const labels = { [`${rbac}/aggregate-to-admin`]: 'true' }
    // A holder of every verb on clusterroles holds escalate too; so here without it.
    const weak = await holder(allow('create,update,patch,get', rbac, 'clusterroles'), allow('get', '', 'pods'))
    await expect(
      plane.clientAs(weak).create(clusterRolesResource, { ...gathered, metadata: { name: 'smuggled', labels } }),
    ).rejects.toMatchObject({ code: 403, message: expect.stringContaining('attempting to grant RBAC permissions') })
    await expect(
      plane.clientAs(weak).create(clusterRolesResource, {
        ...clusterRole('gatherer'),
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
      } as KubeObject),
    ).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining('must have cluster-admin privileges to use the aggregationRule'),
    })
    // What it holds itself it may pass on, by a label as well.
    const own = { ...clusterRole('own', allow('get', '', 'pods')), metadata: { name: 'own', labels } }
    expect((await plane.clientAs(weak).create(clusterRolesResource, own)).metadata.name).toBe('own')
    expect((await client.create(clusterRolesResource, clusterRole('with-escalate', everything))).metadata.name).toBe(
      'with-escalate',
    )
  })

  test('a subresource: rights on pods are none on pods/exec, and the other way round', async () => {
    const name = await holder(allow('create,get', rbac, 'clusterroles'), allow('create', '', 'pods'))
    const attempt = (resource: string) =>
      plane.clientAs(name).create(clusterRolesResource, clusterRole(`sub-${++count}`, allow('create', '', resource)))
    await expect(attempt('pods/exec')).rejects.toMatchObject({ code: 403 })
    await expect(attempt('*/exec')).rejects.toMatchObject({ code: 403 })
    await expect(attempt('pods/*')).rejects.toMatchObject({ code: 403 })
    await expect(attempt('pods')).resolves.toBeDefined()
  })

  test('a kind of a definition: rights on a group’s kinds are none on another group’s of the same name', async () => {
    const name = await holder(allow('create,get', rbac, 'clusterroles'), allow('*', 'ex.io', 'secrets'))
    const attempt = (apiGroup: string) =>
      plane
        .clientAs(name)
        .create(clusterRolesResource, clusterRole(`kind-${++count}`, allow('get', apiGroup, 'secrets')))
    await expect(attempt('')).rejects.toMatchObject({ code: 403 })
    await expect(attempt('*')).rejects.toMatchObject({ code: 403 })
    await expect(attempt('ex.io')).resolves.toBeDefined()
  })

  test('the role of a binding is exchanged after it was judged', async () => {
    const name = await holder(allow('create,update,patch,get', rbac, 'rolebindings'), allow('get', '', 'pods'))
    const client = plane.clientAs(name)
    const made = await client.create(roleBindingsResource, roleBinding('mine', 'switch', 'Role/reader', user(name)))
    const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'cluster-admin' }
    await expect(client.update(roleBindingsResource, { ...made, roleRef } as KubeObject)).rejects.toMatchObject({
      code: expect.toBeOneOf([403, 422]),
    })
  })

  test('a subject that looks like an account of the system', async () => {
    const name = await holder(allow('create', rbac, 'rolebindings'))
    const subject = serviceAccount('namespace-controller', 'kube-system')
    await expect(
      plane.clientAs(name).create(roleBindingsResource, roleBinding('mine', 'sa', 'ClusterRole/edit', subject)),
    ).rejects.toMatchObject({ code: 403 })
  })
})

describe('attack: an author of templates tries to gain', () => {
  const templates = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
  const template = (name: string, ...objects: object[]): KubeObject =>
    ({
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name },
      spec: { namespaces: { labelSelector: { matchLabels: { never: 'matches' } } }, templates: objects },
    }) as KubeObject
  const authors = [allow('*', 'policy.borough.dev,policy', 'namespacetemplates')]

  test.each([
    { name: 'a binding to more than the author holds', object: roleBinding('', 'b', 'ClusterRole/admin', user('x')) },
    { name: 'a role with more than the author holds', object: role('', 'r', everything) },
    {
      name: 'a verb that only the name of a creator would complete',
      object: role('', 'r', allow('$(CREATOR)', '', 'pods')),
    },
    {
      name: 'a kind that the author may not write',
      object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
    },
  ])('template: $name', async ({ object }) => {
    const name = await holder(...authors, allow('create,patch,delete', rbac, 'roles,rolebindings'))
    await expect(plane.clientAs(name).create(templates, template(`t-${++count}`, object))).rejects.toMatchObject({
      code: 403,
    })
  })

  describe('a Role of its template that is not what it binds', () => {
    const strong = role('', 'owner', everything)
    const weak = role('', 'owner', allow('get', '', 'configmaps'))
    const rights = [
      ...authors,
      allow('get,create,patch,delete', '', 'configmaps'),
      allow('create,patch,delete', rbac, 'roles,rolebindings'),
    ]
    const selecting = (label: string, name: string, ...objects: object[]): KubeObject => ({
      ...template(name, ...objects),
      spec: {
        namespaces: { labelSelector: { matchExpressions: [{ key: label, operator: 'Exists' }] } },
        templates: objects,
      },
    })
    const withheld = async (name: string): Promise<void> => {
      const told = await waitFor(admin, templates, { name }, (t) => String(JSON.stringify(t)).includes('RoleNotOurs'))
      expect(JSON.stringify(told?.['status'])).toContain('"object":"RoleBinding/b","reason":"RoleNotOurs"')
    }
    const bindingsIn = async (namespace: string): Promise<unknown[]> =>
      (await admin.list(roleBindingsResource, { namespace })).items.map((b) => b.metadata.name)

    test('template: one that was in a namespace which pretends to wait for its templates still', async () => {
      const name = await holder(...rights, allow('get,create,update,patch', '', 'namespaces,namespaces/status'))
      const author = plane.clientAs(name)
      const pending = 'policy/namespace-template-pending'
      const labels = { pretends: '', [pending]: 'true' }
      const made = await author.create(core('namespaces'), { metadata: { name: 'pretends', labels } })
      expect(made.metadata.labels).not.toHaveProperty([pending])
      await admin.create(rolesResource, { ...strong, metadata: { name: 'owner', namespace: 'pretends' } })
      const bound = [roleBinding('', 'b', 'Role/owner', user(name)), weak]
      await author.create(templates, selecting('pretends', 'pretends', ...bound))
      await withheld('pretends')
      for (const subresource of ['', 'status']) {
        const answer = await author.patch(
          core('namespaces'),
          { name: 'pretends' },
          { metadata: { labels } },
          { subresource },
        )
        expect(answer.metadata.labels, subresource).not.toHaveProperty([pending])
      }
      // Once the last object is there, a pass has gone over the binding too.
      const last = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'last' } }
      await author.patch(templates, { name: 'pretends' }, { spec: { templates: [...bound, last] } })
      await waitFor(admin, core('configmaps'), { namespace: 'pretends', name: 'last' }, (o) => o !== undefined)
      await withheld('pretends')
      expect(await bindingsIn('pretends')).toEqual([])
    })

    test('template: a kind of that name in another group', async () => {
      const name = await holder(...rights, allow('*', 'ex.io', '*'))
      const other = { ...weak, apiVersion: 'ex.io/v1' }
      const given = template(`t-${++count}`, other, roleBinding('', 'b', 'Role/owner', user(name)))
      await expect(plane.clientAs(name).create(templates, given)).rejects.toMatchObject({ code: 403 })
    })

    test('template: one that was in the namespace before', async () => {
      const name = await holder(...rights)
      await admin.create(core('namespaces'), { metadata: { name: 'before', labels: { before: '' } } })
      await admin.create(rolesResource, { ...strong, metadata: { name: 'owner', namespace: 'before' } })
      const given = selecting('before', 'before', roleBinding('', 'b', 'Role/owner', user(name)), weak)
      await plane.clientAs(name).create(templates, given)
      await withheld('before')
      expect(await bindingsIn('before')).toEqual([])
      // Where it is its own, it is bound.
      await admin.create(core('namespaces'), { metadata: { name: 'after', labels: { before: '' } } })
      expect(await bindingsIn('after')).toEqual(['b'])
      // And in a namespace that is open, once the other has gone.
      await admin.delete(rolesResource, { namespace: 'before', name: 'owner' })
      await admin.patch(core('namespaces'), { name: 'before' }, { metadata: { labels: { again: '' } } })
      await waitFor(admin, roleBindingsResource, { namespace: 'before', name: 'b' }, (b) => b !== undefined)
      await admin.delete(templates, { name: 'before' })
    })

    test('template: one of a version that is not served', async () => {
      const name = await holder(...rights, allow('create,patch,delete', rbac, '*'))
      await admin.create(core('namespaces'), { metadata: { name: 'unserved', labels: { unserved: '' } } })
      await admin.create(rolesResource, { ...strong, metadata: { name: 'owner', namespace: 'unserved' } })
      const unserved = { ...weak, apiVersion: `${rbac}/v9` }
      const last = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'last' } }
      const bound = roleBinding('', 'b', 'Role/owner', user(name))
      await plane.clientAs(name).create(templates, selecting('unserved', 'unserved', bound, unserved, last))
      await waitFor(admin, core('configmaps'), { namespace: 'unserved', name: 'last' }, (o) => o !== undefined)
      await withheld('unserved')
      expect(await bindingsIn('unserved')).toEqual([])
    })

    const last = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'last' } }
    const entries = (...objects: object[]) => objects.map((one) => ({ template: one }))
    test.each<{ name: string; label: string; spec: (bound: object) => object }>([
      {
        name: 'one that was there and is taken over, of whose rules the template says nothing',
        label: 'ruleless',
        spec: (bound) => ({ adopt: true, templates: [bound, { ...weak, rules: undefined }, last] }),
      },
      {
        name: 'one that was there and is taken over, whose rules are left to the manager that wrote them',
        label: 'yielding',
        spec: (bound) => ({
          adopt: true,
          objects: [{ yieldTo: ['borough'], template: weak }, ...entries(bound, last)],
        }),
      },
    ])('template: $name', async ({ label, spec }) => {
      const name = await holder(...rights)
      await admin.create(core('namespaces'), { metadata: { name: label, labels: { [label]: '' } } })
      await admin.create(rolesResource, { ...strong, metadata: { name: 'owner', namespace: label } })
      const { spec: selects, ...given } = selecting(label, label)
      const namespaces = (selects as { namespaces: object }).namespaces
      const bound = roleBinding('', 'b', 'Role/owner', user(name))
      await plane.clientAs(name).create(templates, { ...given, spec: { namespaces, ...spec(bound) } })
      await waitFor(admin, core('configmaps'), { namespace: label, name: 'last' }, (o) => o !== undefined)
      await withheld(label)
      const held = (await admin.get(rolesResource, { namespace: label, name: 'owner' }))['rules']
      expect(held).toEqual(strong.rules)
      expect(await bindingsIn(label)).toEqual([])
      // Nor when the pass finds it as it left it.
      await admin.patch(core('namespaces'), { name: label }, { metadata: { annotations: { again: '' } } })
      const deleted = { namespace: label, name: 'last' }
      await admin.delete(core('configmaps'), deleted)
      await waitFor(admin, core('configmaps'), deleted, (o) => o !== undefined)
      expect(await bindingsIn(label)).toEqual([])
    })

    test('template: its own, which was made stronger and is left so, for drift is only reported', async () => {
      const name = await holder(...rights)
      const author = plane.clientAs(name)
      const reporting = selecting('reported', 'reported', weak)
      await author.create(templates, {
        ...reporting,
        spec: { ...(reporting['spec'] as object), driftPolicy: 'Report' },
      })
      await admin.create(core('namespaces'), { metadata: { name: 'reported', labels: { reported: '' } } })
      const place = { namespace: 'reported', name: 'owner' }
      await waitFor(admin, rolesResource, place, (o) => o !== undefined)
      await admin.patch(rolesResource, place, { rules: strong.rules })
      const bound = roleBinding('', 'b', 'Role/owner', user(name))
      await author.patch(templates, { name: 'reported' }, { spec: { templates: [bound, weak, last] } })
      await waitFor(admin, core('configmaps'), { namespace: 'reported', name: 'last' }, (o) => o !== undefined)
      await withheld('reported')
      expect(await bindingsIn('reported')).toEqual([])
      // What it says again is bound.
      await admin.patch(rolesResource, place, { rules: weak.rules })
      await waitFor(admin, roleBindingsResource, { namespace: 'reported', name: 'b' }, (b) => b !== undefined)
    })

    test('template: one that another template gives to the same namespace', async () => {
      const name = await holder(...rights)
      await admin.create(templates, selecting('first', 'a-first', strong))
      const given = selecting('second', 'b-second', weak, roleBinding('', 'b', 'Role/owner', user(name)))
      await plane.clientAs(name).create(templates, given)
      await admin.create(core('namespaces'), { metadata: { name: 'both', labels: { first: '', second: '' } } })
      await withheld('b-second')
      expect(await bindingsIn('both')).toEqual([])
    })
  })

  test('template: more is put in by a patch afterwards', async () => {
    const name = await holder(...authors, allow('create,patch,delete', '', 'configmaps'))
    const client = plane.clientAs(name)
    const harmless = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }
    const made = await client.create(templates, template(`t-${++count}`, harmless))
    const spec = { templates: [harmless, roleBinding('', 'b', 'ClusterRole/cluster-admin', user(name))] }
    await expect(client.patch(templates, { name: made.metadata.name ?? '' }, { spec })).rejects.toMatchObject({
      code: 403,
    })
  })
})

describe('attack: parts of an object, by the right to another part', () => {
  beforeAll(async () => {
    const labels = { app: 'x' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    const apps = { group: 'apps', version: 'v1', resource: 'deployments' }
    await admin.create(apps, { metadata: { name: 'd', namespace: 'mine' }, spec } as KubeObject)
  })
  const path = '/apis/apps/v1/namespaces/mine/deployments/d'
  const merge = 'application/merge-patch+json'
  const image = { spec: { template: { spec: { containers: [{ name: 'c', image: 'evil' }] } } } }

  test.each([
    { part: 'status', body: { ...image, status: { observedGeneration: 7 } } },
    { part: 'scale', body: { spec: { replicas: 2, ...image.spec } } },
  ])('the template of a deployment by the right to deployments/$part', async ({ part, body }) => {
    const name = await holder(allow('patch,update', 'apps', `deployments/${part}`))
    const who = { username: name, groups: ['system:authenticated'] }
    expect((await send(plane, path, { method: 'PATCH', type: merge, body: image, user: who })).code).toBe(403)
    await send(plane, `${path}/${part}`, { method: 'PATCH', type: merge, body, user: who })
    expect((await send(plane, path)).text).not.toContain('evil')
  })

  test('the finalizers of a namespace by the right to its status', async () => {
    const name = await holder(allow('patch,update', '', 'namespaces/status'))
    const user = { username: name, groups: ['system:authenticated'] }
    const body = { spec: { finalizers: [] }, status: { phase: 'Terminating' } }
    await send(plane, '/api/v1/namespaces/mine/status', { method: 'PATCH', type: merge, body, user })
    expect((await admin.get(core('namespaces'), { name: 'mine' }))['spec']).toEqual({ finalizers: ['kubernetes'] })
  })

  test('the right to update is none to create, by PUT or by apply of what is not there', async () => {
    const name = await holder(allow('update,patch,get', '', 'events,configmaps'))
    const user = { username: name, groups: ['system:authenticated'] }
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new', namespace: 'mine' } }
    const apply = 'application/apply-patch+yaml'
    const applied = `/api/v1/namespaces/mine/configmaps/new?fieldManager=x`
    expect((await send(plane, applied, { method: 'PATCH', type: apply, body: configMap, user })).code).toBe(403)
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'new', namespace: 'mine' },
      involvedObject: { namespace: 'mine' },
    }
    const put = await send(plane, '/api/v1/namespaces/mine/events/new', { method: 'PUT', body: event, user })
    expect(put.code).toBe(403)
  })

  test('a question about oneself that names somebody else is still about oneself', async () => {
    const body = {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: { user: 'root', groups: ['system:masters'], nonResourceAttributes: { verb: 'get', path: '/metrics' } },
    }
    const who = { username: 'dora', groups: ['system:authenticated'] }
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const { body: answer } = await send(plane, path, { method: 'POST', body, user: who })
    expect((answer as { status: object }).status).toMatchObject({ allowed: false })
  })
})
