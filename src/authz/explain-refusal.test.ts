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
import type { PolicyRule, Role } from '../kube/rbac.ts'
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

const nothing: RbacObjects = { clusterRoles: [], clusterRoleBindings: [], roles: [], roleBindings: [] }

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
    name: 'for a path no RoleBinding counts, readable or not',
    when: { user: dora, verb: 'get', path: '/metrics' },
    given: {
      ...nothing,
      clusterRoles: [clusterRole('metrics', { verbs: ['get'], nonResourceURLs: ['/metrics'] })],
      roles: undefined,
      roleBindings: [roleBinding('team', 'scrapers', 'ClusterRole/metrics', user('bob'))],
    },
    want: ['ClusterRole "metrics" would allow it through a binding'],
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
  {
    name: 'what may not be read in the namespace is said there, and not at the cluster scope',
    when: inTeam('get', 'pods', 'p'),
    given: { clusterRoles: [], clusterRoleBindings: [], roles: undefined, roleBindings: undefined },
    want: [
      "rolebindings.rbac.authorization.k8s.io can't be listed by who asks",
      "roles.rbac.authorization.k8s.io can't be listed by who asks",
    ],
  },
  {
    name: 'at the cluster scope what is in namespaces is not missed',
    when: { ...inTeam('get', 'pods'), namespace: '' } as AuthzAttributes,
    given: { clusterRoles: [], clusterRoleBindings: [], roles: undefined, roleBindings: undefined },
    want: [],
  },
  {
    name: 'a binding is broken for the members of its groups, not for a user of that name',
    when: inTeam('delete', 'pods', 'p'),
    given: {
      ...nothing,
      roleBindings: [
        roleBinding('team', 'of-all', 'Role/gone', group('system:authenticated')),
        roleBinding('team', 'of-a-group', 'Role/gone', group('dora')),
        roleBinding('team', 'of-a-user', 'Role/gone', user('system:authenticated')),
      ],
    },
    want: ['RoleBinding "of-all/team" refers to Role "gone", which is not there'],
  },
  {
    name: 'a binding is broken for each of its subjects',
    when: inTeam('delete', 'pods', 'p'),
    given: { ...nothing, roleBindings: [roleBinding('team', 'of-two', 'Role/gone', user('bob'), user('dora'))] },
    want: ['RoleBinding "of-two/team" refers to Role "gone", which is not there'],
  },
  {
    name: 'a binding of the user is not broken if its role is there, or may not be read',
    when: inTeam('delete', 'pods', 'p'),
    given: {
      clusterRoles: undefined,
      clusterRoleBindings: [clusterRoleBinding('unread', 'viewer', user('dora'))],
      roles: [role('team', 'pod-reader', allow('get', '', 'pods'))],
      roleBindings: [roleBinding('team', 'readers', 'Role/pod-reader', user('dora'))],
    },
    want: ["clusterroles.rbac.authorization.k8s.io can't be listed by who asks"],
  },
  {
    name: 'a Role means nothing to a ClusterRoleBinding, and one without rules allows nothing',
    when: inTeam('get', 'pods', 'p'),
    given: {
      ...nothing,
      clusterRoles: [{ ...clusterRole('empty'), rules: undefined } as unknown as Role],
      clusterRoleBindings: [
        {
          ...clusterRoleBinding('b', 'pod-reader', user('dora')),
          roleRef: { apiGroup: '', kind: 'Role', name: 'pod-reader' },
        },
      ],
      roles: [role('team', 'pod-reader', allow('get', '', 'pods'))],
    },
    want: ['Role "pod-reader" would allow it through a binding'],
  },
  {
    name: 'what binds roles of the system comes after what was made for people, also in the namespace',
    when: inTeam('get', 'pods', 'p'),
    given: {
      ...nothing,
      clusterRoles: [clusterRole('system:x', allow('get', '', 'pods')), clusterRole('y', allow('get', '', 'pods'))],
      roleBindings: [
        roleBinding('team', 'a', 'ClusterRole/system:x', user('bob')),
        roleBinding('team', 'b', 'ClusterRole/y', user('bob')),
      ],
    },
    want: [
      'RoleBinding "b/team" of ClusterRole "y" allows it to User "bob"',
      'RoleBinding "a/team" of ClusterRole "system:x" allows it to User "bob"',
      'ClusterRole "y" would allow it through a binding',
      'ClusterRole "system:x" would allow it through a binding',
    ],
  },
]

const narrower: readonly { name: string; narrow: PolicyRule[]; wide: PolicyRule[] }[] = [
  { name: 'fewer resources', narrow: [allow('get,list,watch', '', 'pods')], wide: [allow('get', '', 'pods,a,b,c')] },
  {
    name: 'fewer verbs, groups and resources, multiplied',
    narrow: [allow('get', '', 'pods,a,b,c,d')],
    wide: [allow('get,list', ',x,y', 'pods')],
  },
  { name: 'no star', narrow: [allow('get,list,watch,create', '', 'pods')], wide: [allow('*', '', 'pods')] },
  {
    name: 'fewer rules',
    narrow: [allow('get', '', 'pods'), allow('get', '', 'a')],
    wide: [allow('get', '', 'pods'), allow('get', '', 'a,b')],
  },
  {
    name: 'fewer paths beside the same resources',
    narrow: [allow('get', '', 'pods'), { verbs: ['get', 'head', 'post'], nonResourceURLs: ['/a'] }],
    wide: [allow('get', '', 'pods'), { verbs: ['get'], nonResourceURLs: ['/a', '/b', '/c', '/d'] }],
  },
  {
    name: 'fewer paths of a second rule',
    narrow: [allow('get', '', 'pods,a')],
    wide: [
      allow('get', '', 'pods'),
      { verbs: ['get'], nonResourceURLs: ['/a'] },
      { verbs: ['get'], nonResourceURLs: ['/b'] },
    ],
  },
]

describe('what would have allowed a refused request', () => {
  test.each(rows)('$name', ({ when, given = objects, want }) => {
    expect(explanationLines(explainRefusal(when, given))).toEqual(want)
  })

  test.each(narrower)('the narrowest role is named first: $name', ({ narrow, wide }) => {
    for (const [first, second] of [
      [narrow, wide],
      [wide, narrow],
    ] as const) {
      const clusterRoles = [clusterRole(first === narrow ? 'narrow' : 'wide', ...first)]
      clusterRoles.push(clusterRole(second === narrow ? 'narrow' : 'wide', ...second))
      const { roles } = explainRefusal(inTeam('get', 'pods', 'p'), { ...nothing, clusterRoles })
      expect(roles.map(({ name }) => name)).toEqual(['narrow', 'wide'])
    }
  })

  test('for one request neither a role of everything nor one of the system is suggested', () => {
    const everything = clusterRole('everything', allow('*', '*', '*'))
    const system = clusterRole('system:reader', allow('get', '', 'pods'))
    const suggested = (...clusterRoles: Role[]): unknown =>
      explainRefusal(inTeam('get', 'pods', 'p'), { ...nothing, clusterRoles }).suggested
    expect(suggested(everything, system)).toBeUndefined()
    const everythingAndMore = clusterRole('more', allow('get', '', 'pods'), allow('*', '*', '*'))
    expect(suggested(everythingAndMore, everything)).toBeUndefined()
    // Much, and yet not everything.
    for (const rule of [allow('get', '*', '*'), allow('*', '', '*'), allow('*', '*', 'pods')]) {
      const wide = clusterRole('wide', rule)
      expect(suggested(system, everything, wide)).toEqual({ kind: 'ClusterRole', name: 'wide' })
    }
  })

  test('exactly as many as are shown are not followed by a count', () => {
    const clusterRoles = Array.from({ length: 11 }, (_, i) => clusterRole(`r${i}`, allow('get', '', 'pods')))
    const lines = (limit: number): readonly string[] =>
      explanationLines(explainRefusal(inTeam('get', 'pods'), { ...nothing, clusterRoles }), limit)
    expect(lines(11)).toHaveLength(11)
    expect(lines(11)).not.toContain('and 0 more roles')
    expect(lines(10).at(-1)).toBe('and 1 more roles')
  })

  test('many are cut short, and counted', () => {
    const many = Array.from({ length: 30 }, (_, i) => clusterRoleBinding(`b${i}`, 'admin', user('x')))
    const lines = explanationLines(explainRefusal(inTeam('delete', 'pods'), { ...objects, clusterRoleBindings: many }))
    expect(lines).toContain('and 20 more bindings')
    expect(lines.length).toBeLessThan(15)
  })
})
