import { describe, expect, test } from 'vitest'
import {
  bootstrapClusterRoleBindings,
  bootstrapClusterRoles,
  defaultPolicy,
} from '../../../test/support/default-policy.ts'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { FakeRbacSource } from '../../../test/support/fake-rbac-source.ts'
import type { AuthzAttributes } from '../../authz/authz.ts'
import { RbacAuthorizer } from '../../authz/rbac-authorizer.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { clusterRole } from '../../catalog/kinds/rbac.authorization.k8s.io/role.ts'
import { clusterRoleBinding } from '../../catalog/kinds/rbac.authorization.k8s.io/role-binding.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import {
  type Binding,
  type ClusterRole,
  clusterRoleBindingsResource,
  clusterRolesResource,
  type Role,
  rolesResource,
} from '../../kube/rbac.ts'
import { alreadyExists, forbidden } from '../../kube/status-error.ts'
import { serviceAccountUser, type UserInfo } from '../../kube/user.ts'
import { bootstrapRbac, systemPolicy } from './bootstrap.ts'

const edit = async <T extends ClusterRole | Binding>(
  client: FakeClient,
  name: string,
  change: (object: T) => T,
): Promise<void> => {
  const resource: GroupVersionResource = name.startsWith('binding:')
    ? clusterRoleBindingsResource
    : clusterRolesResource
  const object = await client.get(resource, { name: name.replace('binding:', '') })
  await client.update(resource, change(object as T))
}
const role = (client: FakeClient, name: string): Promise<ClusterRole> => client.get(clusterRolesResource, { name })
const binding = async (client: FakeClient, name: string): Promise<Binding> =>
  (await client.get(clusterRoleBindingsResource, { name })) as Binding

async function started(): Promise<FakeClient> {
  const client = new FakeClient()
  await bootstrapRbac({ policy: defaultPolicy, client })
  client.writes.length = 0
  return client
}

describe('the default policy', () => {
  test('is made on first start, and a second start writes nothing', async () => {
    const client = new FakeClient()
    const count = bootstrapClusterRoles.length + bootstrapClusterRoleBindings.length
    expect(await bootstrapRbac({ policy: defaultPolicy, client })).toBe(count)
    expect(client.writes).toHaveLength(count)
    expect(count).toBeLessThanOrEqual(80)
    expect(await bootstrapRbac({ policy: defaultPolicy, client })).toBe(0)
    expect(client.writes).toHaveLength(count)
  })

  test('has a part in kube-system, which is brought back like the rest', async () => {
    const client = new FakeClient()
    expect(await bootstrapRbac({ client, policy: systemPolicy })).toBe(2)
    const ref = { name: 'extension-apiserver-authentication-reader', namespace: 'kube-system' }
    const made = (await client.get(rolesResource, ref)) as Role
    await client.update(rolesResource, { ...made, rules: [] })
    expect(await bootstrapRbac({ client, policy: systemPolicy })).toBe(1)
    expect((await client.get(rolesResource, ref)) as Role).toMatchObject({ rules: made.rules })
  })

  test('is valid', () => {
    const context = { subresource: '', now: '' }
    for (const object of bootstrapClusterRoles) {
      expect(clusterRole.strategy?.validate?.(object, undefined, context)).toEqual([])
    }
    for (const object of bootstrapClusterRoleBindings) {
      expect(clusterRoleBinding.strategy?.validate?.(object, undefined, context)).toEqual([])
    }
  })

  test('rules that were taken out come back, rules that were added stay', async () => {
    const client = await started()
    await edit<ClusterRole>(client, 'system:basic-user', (o) => ({
      ...o,
      rules: [
        { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews'] },
        { verbs: ['get'], apiGroups: ['x'], resources: ['y'] },
      ],
    }))
    expect(await bootstrapRbac({ policy: defaultPolicy, client })).toBe(1)
    expect((await role(client, 'system:basic-user')).rules).toEqual([
      { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectaccessreviews'] },
      { verbs: ['get'], apiGroups: ['x'], resources: ['y'] },
      { verbs: ['create'], apiGroups: ['authorization.k8s.io'], resources: ['selfsubjectrulesreviews'] },
      { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
    ])
  })

  test('subjects that were taken out come back, subjects that were added stay', async () => {
    const client = await started()
    const mine = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'me' }
    await edit<Binding>(client, 'binding:cluster-admin', (o) => ({ ...o, subjects: [mine] }))
    await bootstrapRbac({ policy: defaultPolicy, client })
    expect((await binding(client, 'cluster-admin')).subjects?.map((s) => s.name)).toEqual(['me', 'system:masters'])
  })

  test('a binding to another role is made anew', async () => {
    const client = await started()
    await edit<Binding>(client, 'binding:system:discovery', (o) => ({
      ...o,
      roleRef: { ...o.roleRef, name: 'cluster-admin' },
    }))
    client.writes.length = 0
    await bootstrapRbac({ policy: defaultPolicy, client })
    expect(client.writes).toEqual([
      'delete clusterrolebindings system:discovery',
      'create clusterrolebindings system:discovery',
    ])
    expect((await binding(client, 'system:discovery')).roleRef.name).toBe('system:discovery')
  })

  test('what is annotated autoupdate false stays as the operator left it', async () => {
    const client = await started()
    const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
    await edit<ClusterRole>(client, 'system:discovery', (o) => ({
      ...o,
      metadata: { ...o.metadata, annotations },
      rules: [],
    }))
    await edit<Binding>(client, 'binding:system:discovery', (o) => ({
      ...o,
      metadata: { ...o.metadata, annotations },
      subjects: [],
    }))
    expect(await bootstrapRbac({ policy: defaultPolicy, client })).toBe(0)
  })

  test('what aggregation has put into a role is not touched', async () => {
    const client = await started()
    await edit<ClusterRole>(client, 'view', (o) => ({
      ...o,
      rules: [{ verbs: ['get'], apiGroups: ['x'], resources: ['y'] }],
    }))
    expect(await bootstrapRbac({ policy: defaultPolicy, client })).toBe(0)
  })

  test('a replica that starts at the same moment does no harm', async () => {
    const client = new FakeClient()
    const [a, b] = await Promise.all([
      bootstrapRbac({ policy: defaultPolicy, client }),
      bootstrapRbac({ policy: defaultPolicy, client }),
    ])
    expect(Math.min(a, b)).toBe(0)
    const all = await client.list(clusterRolesResource)
    expect(all.items).toHaveLength(bootstrapClusterRoles.length)
  })

  test('a refusal is told with its cause', async () => {
    const refusal = forbidden(clusterRolesResource, 'admin', 'no')
    const bootstrapping = bootstrapRbac({
      policy: defaultPolicy,
      client: new FakeClient(),
      write: () => Promise.reject(refusal),
    })
    await expect(bootstrapping).rejects.toMatchObject({ cause: refusal })
  })

  test('it does not try for ever', async () => {
    let writes = 0
    const write = (): Promise<never> => {
      writes++
      return Promise.reject(alreadyExists(clusterRolesResource, 'admin'))
    }
    await expect(bootstrapRbac({ policy: defaultPolicy, client: new FakeClient(), write })).rejects.toThrow(
      'could not be written',
    )
    expect(writes).toBe(5 * (bootstrapClusterRoles.length + bootstrapClusterRoleBindings.length))
  })
})

describe('what the default roles allow', () => {
  const source = new FakeRbacSource()
  for (const object of [...bootstrapClusterRoles, ...bootstrapClusterRoleBindings]) source.put(object)
  for (const name of ['admin', 'edit', 'view', 'borough:namespace-creator', 'borough:template-author']) {
    source.put({
      kind: 'ClusterRoleBinding',
      metadata: { name: `test:${name}` },
      roleRef: { kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name }],
    })
  }
  const rbac = new RbacAuthorizer(source, new FakeClock())
  const may = (user: UserInfo, verb: string, what: string): boolean => {
    if (what.startsWith('/')) return rbac.authorize({ user, verb, path: what }).allowed
    const [resource = '', group = ''] = what.split('@')
    const [plural = '', subresource = ''] = resource.split('/')
    const attributes: AuthzAttributes = { user, verb, group, resource: plural, subresource, namespace: 'ns', name: 'x' }
    return rbac.authorize(attributes).allowed
  }

  const verbs = ['get', 'list', 'create', 'update', 'delete', 'deletecollection']
  const columns = ['view', 'edit', 'admin'] as const
  /** Per resource: the verbs of view, edit, admin. `r` = get list, `w` = the others, `-` = none. */
  const matrix: Readonly<Record<string, string>> = {
    pods: 'r rw rw',
    'pods/log': 'r r r',
    'pods/status': 'r r r',
    'pods/exec': '- rw rw',
    configmaps: 'r rw rw',
    secrets: '- rw rw',
    services: 'r rw rw',
    serviceaccounts: 'r rw rw',
    endpoints: 'r r r',
    events: 'r rw rw',
    persistentvolumeclaims: 'r rw rw',
    resourcequotas: 'r r r',
    limitranges: 'r r r',
    namespaces: 'r r r',
    'namespaces/finalize': '- - -',
    nodes: '- - -',
    persistentvolumes: '- - -',
    'deployments@apps': 'r rw rw',
    'deployments/scale@apps': 'r rw rw',
    'deployments/status@apps': 'r r r',
    'controllerrevisions@apps': 'r r r',
    'jobs@batch': 'r rw rw',
    'horizontalpodautoscalers@autoscaling': 'r rw rw',
    'ingresses@networking.k8s.io': 'r rw rw',
    'networkpolicies@networking.k8s.io': 'r rw rw',
    'poddisruptionbudgets@policy': 'r rw rw',
    'leases@coordination.k8s.io': '- rw rw',
    'endpointslices@discovery.k8s.io': 'r r r',
    'roles@rbac.authorization.k8s.io': '- - rw',
    'rolebindings@rbac.authorization.k8s.io': '- - rw',
    'clusterroles@rbac.authorization.k8s.io': '- - -',
    'clusterrolebindings@rbac.authorization.k8s.io': '- - -',
    'customresourcedefinitions@apiextensions.k8s.io': '- - -',
    'namespacetemplates@policy': '- - -',
    'namespacetemplates@policy.borough.dev': '- - -',
    'namespaceinitializerconfigurations@admissionregistration.k8s.io': '- - -',
    'widgets@ex.io': '- - -',
  }

  test.each(Object.entries(matrix))('%s: view, edit, admin = %s', (what, want) => {
    const got = columns.map((username) => {
      const user = { username, groups: [] }
      const allowed = verbs.map((verb) => may(user, verb, what))
      const letters = `${allowed[0] && allowed[1] ? 'r' : ''}${allowed.slice(2).every(Boolean) ? 'w' : ''}`
      expect(allowed.filter(Boolean)).toHaveLength(
        letters.length === 0 ? 0 : letters === 'r' ? 2 : letters === 'w' ? 4 : 6,
      )
      return letters || '-'
    })
    expect(got.join(' ')).toBe(want)
  })

  const alice: UserInfo = { username: 'alice', groups: ['system:authenticated'] }
  const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
  const as = (username: string): UserInfo => ({ username, groups: [] })
  const controller = (name: string): UserInfo => serviceAccountUser('kube-system', name)

  test.each([
    ['anybody authenticated may discover', alice, 'get', '/openapi/v3/apis/apps/v1', true],
    ['and ask about themselves', alice, 'create', 'selfsubjectrulesreviews@authorization.k8s.io', true],
    ['and see the version', alice, 'get', '/version', true],
    ['and nothing else', alice, 'get', '/metrics', false],
    ['the anonymous may see health', anonymous, 'get', '/livez', true],
    ['but not discover', anonymous, 'get', '/api', false],
    ['nor ask about themselves', anonymous, 'create', 'selfsubjectaccessreviews@authorization.k8s.io', false],
    ['monitoring may read metrics', { username: 'm', groups: ['system:monitoring'] }, 'get', '/metrics', true],
    ['service accounts may read the issuer keys', serviceAccountUser('ns', 'sa'), 'get', '/openid/v1/jwks', true],
    ['edit may act as service accounts', as('edit'), 'impersonate', 'serviceaccounts', true],
    ['view may not', as('view'), 'impersonate', 'serviceaccounts', false],
    ['admin may not initialize', as('admin'), 'initialize', 'namespaces', false],
    ['admin may not opt out', as('admin'), 'optout', 'namespacetemplates@policy', false],
    ['admin may not use templates by right', as('admin'), 'use', 'namespacetemplates@policy', false],
    ['admin may not escalate', as('admin'), 'escalate', 'roles@rbac.authorization.k8s.io', false],
    ['a namespace creator may create namespaces', as('borough:namespace-creator'), 'create', 'namespaces', true],
    ['but not delete them', as('borough:namespace-creator'), 'delete', 'namespaces', false],
    [
      'a template author may write templates',
      as('borough:template-author'),
      'update',
      'namespacetemplates@policy',
      true,
    ],
    ['but not use them', as('borough:template-author'), 'use', 'namespacetemplates@policy', false],
    [
      'the namespace controller may empty anything',
      controller('namespace-controller'),
      'deletecollection',
      'widgets@ex.io',
      true,
    ],
    ['but not create', controller('namespace-controller'), 'create', 'configmaps', false],
    [
      'the template controller may bind',
      controller('namespace-template-controller'),
      'bind',
      'clusterroles@rbac.authorization.k8s.io',
      true,
    ],
    ['and initialize', controller('namespace-template-controller'), 'initialize', 'namespaces', true],
    ['but not impersonate', controller('namespace-template-controller'), 'impersonate', 'users', false],
    ['the garbage collector may not create', controller('generic-garbage-collector'), 'create', 'pods', false],
    [
      'a service account of that name elsewhere is nobody',
      serviceAccountUser('ns', 'namespace-controller'),
      'get',
      'secrets',
      false,
    ],
  ] as const)('%s', (_name, user, verb, what, want) => {
    expect(may(user, verb, what)).toBe(want)
  })
})
