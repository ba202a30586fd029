import { describe, expect, test } from 'vitest'
import {
  allow,
  clusterRole,
  clusterRoleBinding,
  group,
  role,
  roleBinding,
  serviceAccount,
  user,
} from '../../test/support/fake-rbac-source.ts'
import type { UserInfo } from '../kube/user.ts'
import type { AuthzAttributes } from './authz.ts'
import { explainRefusal, explanationLines, type RbacObjects } from './explain-refusal.ts'

const dora: UserInfo = { username: 'dora', groups: ['system:authenticated'] }
const inTeam = (verb: string, resource: string, name = ''): AuthzAttributes => ({
  user: dora,
  verb,
  group: '',
  resource,
  namespace: 'team',
  name,
})

const objects: RbacObjects = {
  clusterRoles: [
    clusterRole('system:controller:x', allow('get,delete', '', 'pods')),
    clusterRole('admin', allow('*', '*', '*')),
    clusterRole('viewer', allow('get,list,watch', '', 'pods,configmaps')),
    clusterRole('metrics', { verbs: ['get'], nonResourceURLs: ['/metrics'] }),
  ],
  clusterRoleBindings: [
    clusterRoleBinding('admins', 'admin', group('admins')),
    clusterRoleBinding('lost', 'gone', user('dora')),
    clusterRoleBinding('lost-of-others', 'gone', user('bob')),
  ],
  roles: [role('team', 'pod-reader', allow('get', '', 'pods'))],
  roleBindings: [
    roleBinding('team', 'readers', 'Role/pod-reader', user('bob'), serviceAccount('bot', 'ci')),
    roleBinding('team', 'viewers', 'ClusterRole/viewer'),
  ],
}

const rows: readonly { name: string; when: AuthzAttributes; given?: RbacObjects; want: readonly string[] }[] = [
  {
    name: 'bindings that allow it to others, roles that would, narrowest first, and what is broken',
    when: inTeam('get', 'pods', 'p'),
    want: [
      'ClusterRoleBinding "lost" refers to ClusterRole "gone", which is not there',
      'RoleBinding "readers/team" of Role "pod-reader" allows it to User "bob", ServiceAccount "bot/ci"',
      'RoleBinding "viewers/team" of ClusterRole "viewer" allows it to nobody',
      'ClusterRoleBinding "admins" of ClusterRole "admin" allows it to Group "admins"',
      'Role "pod-reader" would allow it through a binding',
      'ClusterRole "viewer" would allow it through a binding',
      'ClusterRole "admin" would allow it through a binding',
      'ClusterRole "system:controller:x" would allow it through a binding',
    ],
  },
  {
    name: 'a role that gives something else is not named',
    when: inTeam('delete', 'pods', 'p'),
    want: [
      'ClusterRoleBinding "lost" refers to ClusterRole "gone", which is not there',
      'ClusterRoleBinding "admins" of ClusterRole "admin" allows it to Group "admins"',
      'ClusterRole "admin" would allow it through a binding',
      'ClusterRole "system:controller:x" would allow it through a binding',
    ],
  },
  {
    name: 'rights inside a namespace do not count at the cluster scope',
    when: { ...inTeam('get', 'pods'), namespace: '' } as AuthzAttributes,
    want: [
      'ClusterRoleBinding "lost" refers to ClusterRole "gone", which is not there',
      'ClusterRoleBinding "admins" of ClusterRole "admin" allows it to Group "admins"',
      'ClusterRole "viewer" would allow it through a binding',
      'ClusterRole "admin" would allow it through a binding',
      'ClusterRole "system:controller:x" would allow it through a binding',
    ],
  },
  {
    name: 'for a path only ClusterRoles count',
    when: { user: dora, verb: 'get', path: '/metrics' },
    want: [
      'ClusterRoleBinding "lost" refers to ClusterRole "gone", which is not there',
      'ClusterRole "metrics" would allow it through a binding',
    ],
  },
  {
    name: 'what may not be read is not shown, and said',
    when: inTeam('get', 'pods', 'p'),
    given: { ...objects, clusterRoles: undefined, clusterRoleBindings: undefined },
    want: [
      'RoleBinding "readers/team" of Role "pod-reader" allows it to User "bob", ServiceAccount "bot/ci"',
      'Role "pod-reader" would allow it through a binding',
      "clusterrolebindings.rbac.authorization.k8s.io can't be listed by who asks",
      "clusterroles.rbac.authorization.k8s.io can't be listed by who asks",
    ],
  },
]

describe('what would have allowed a refused request', () => {
  test.each(rows)('$name', ({ when, given = objects, want }) => {
    expect(explanationLines(explainRefusal(when, given))).toEqual(want)
  })

  test('many are cut short, and counted', () => {
    const many = Array.from({ length: 30 }, (_, i) => clusterRoleBinding(`b${i}`, 'admin', user('x')))
    const lines = explanationLines(explainRefusal(inTeam('delete', 'pods'), { ...objects, clusterRoleBindings: many }))
    expect(lines).toContain('and 20 more bindings')
    expect(lines.length).toBeLessThan(15)
  })
})
