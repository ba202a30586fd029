import { expect, test } from 'vitest'
import { accessRows } from './access-rows.ts'

const rbac = 'rbac.authorization.k8s.io'
const binding = (name: string, kind: string, role: string, ...subjects: object[]) => ({
  metadata: { name },
  roleRef: { apiGroup: rbac, kind, name: role },
  subjects: subjects as never[],
})
const alice = { kind: 'User', name: 'alice' }
const account = { kind: 'ServiceAccount', name: 'ci', namespace: 'build' }

test('a row for each subject of each binding, those of the namespace first', () => {
  const rows = accessRows({
    roleBindings: [binding('edit', 'ClusterRole', 'edit', alice, account), binding('own', 'Role', 'owner', alice)],
    roles: [{ metadata: { name: 'owner' }, rules: [{ verbs: ['*'], apiGroups: ['apps'], resources: ['*'] }] }],
    clusterRoleBindings: [
      binding('admins', 'ClusterRole', 'root', { kind: 'Group', name: 'ops' }),
      binding('system:node', 'ClusterRole', 'root', alice),
      binding('metrics', 'ClusterRole', 'metrics', alice),
    ],
    clusterRoles: [
      { metadata: { name: 'root' }, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] },
      { metadata: { name: 'metrics' }, rules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }] },
    ],
  })
  expect(rows).toEqual([
    {
      subject: 'ServiceAccount build/ci',
      role: 'ClusterRole/edit',
      binding: 'RoleBinding/edit',
      isClusterWide: false,
      rules: undefined,
    },
    {
      subject: 'User alice',
      role: 'ClusterRole/edit',
      binding: 'RoleBinding/edit',
      isClusterWide: false,
      rules: undefined,
    },
    {
      subject: 'User alice',
      role: 'Role/owner',
      binding: 'RoleBinding/own',
      isClusterWide: false,
      rules: ['anything: everything of apps'],
    },
    {
      subject: 'Group ops',
      role: 'ClusterRole/root',
      binding: 'ClusterRoleBinding/admins',
      isClusterWide: true,
      rules: ['anything: everything'],
    },
  ])
})

test('a rule is told in words, with the names it is bound to', () => {
  const [row] = accessRows({
    roleBindings: [binding('b', 'Role', 'r', alice)],
    roles: [
      {
        metadata: { name: 'r' },
        rules: [
          {
            verbs: ['get', 'list'],
            apiGroups: ['', 'apps'],
            resources: ['pods', 'deployments'],
            resourceNames: ['web'],
          },
        ],
      },
    ],
    clusterRoleBindings: [],
    clusterRoles: [],
  })
  expect(row?.rules).toEqual(['get, list: pods, deployments of apps named web'])
})
