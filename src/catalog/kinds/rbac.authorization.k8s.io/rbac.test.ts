import { describe, expect, test } from 'vitest'
import {
  allow,
  clusterRole,
  clusterRoleBinding,
  role,
  roleBinding,
  user,
} from '../../../../test/support/fake-rbac-source.ts'
import { notSubdomain } from '../../../../test/support/name-faults.ts'
import { faultsOf } from '../../../../test/support/refusal.ts'
import { runAtOnce } from '../../../base/resumable.ts'
import type { KubeObject } from '../../../kube/types.ts'
import type { BuiltInKind } from '../kind.ts'
import { clusterRole as clusterRoleKind, role as roleKind } from './role.ts'
import { clusterRoleBinding as clusterRoleBindingKind, roleBinding as roleBindingKind } from './role-binding.ts'

const kinds: Readonly<Record<string, BuiltInKind>> = {
  Role: roleKind,
  ClusterRole: clusterRoleKind,
  RoleBinding: roleBindingKind,
  ClusterRoleBinding: clusterRoleBindingKind,
}
const bindTo = (ref: object, ...subjects: object[]): KubeObject => ({
  ...roleBinding('ns', 'b', 'Role/r'),
  roleRef: ref,
  subjects,
})
const group = 'rbac.authorization.k8s.io'
const ref = { apiGroup: group, kind: 'ClusterRole', name: 'x' }

const cases: readonly { name: string; given: KubeObject; old?: KubeObject; want: string[] }[] = [
  { name: 'a sound role', given: role('ns', 'r', allow('get', '', 'pods')), want: [] },
  {
    name: 'a rule of nothing',
    given: clusterRole('r', { verbs: [] }),
    want: [
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ],
  },
  {
    name: 'an aggregation of roles that no selector finds',
    given: {
      ...clusterRole('r'),
      aggregationRule: { clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] },
    },
    want: [
      'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: Required value: must be specified when ' +
        "`operator` is 'In' or 'NotIn'",
      'aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.',
    ],
  },
  {
    name: 'a subject of no kind',
    given: bindTo(ref, { name: 'u' }),
    want: ['subjects[0].kind: Unsupported value: "": supported values: "ServiceAccount", "User", "Group"'],
  },
  {
    name: 'resources and paths in one rule',
    given: clusterRole('r', { ...allow('get', '', 'pods'), nonResourceURLs: ['/x'] }),
    want: [
      'rules[0].nonResourceURLs: Invalid value: ["/x"]: rules cannot apply to both regular resources and ' +
        'non-resource URLs',
    ],
  },
  {
    name: 'a path in a Role',
    given: role('ns', 'r', allow('get', '', 'pods'), { verbs: ['get'], nonResourceURLs: ['/x'] }),
    want: ['rules[1].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
  },
  {
    name: 'an aggregationRule that selects nothing',
    given: { ...clusterRole('r'), aggregationRule: {} },
    want: [
      'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if ' +
        'aggregationRule is non-nil',
    ],
  },
  { name: 'a sound binding', given: clusterRoleBinding('b', 'r', user('u')), want: [] },
  {
    name: 'subjects of every wrong sort',
    given: {
      ...clusterRoleBinding('b', 'x'),
      subjects: [
        { kind: 'ServiceAccount', apiGroup: group, name: 'sa', namespace: 'ns' },
        { kind: 'User', name: 'u' },
        { kind: 'Foo', name: 'f' },
        { kind: 'ServiceAccount', name: 'sa' },
        { kind: 'Group', apiGroup: group, name: '' },
      ],
    },
    want: [
      `subjects[0].apiGroup: Unsupported value: "${group}": supported values: ""`,
      `subjects[1].apiGroup: Unsupported value: "": supported values: "${group}"`,
      'subjects[2].kind: Unsupported value: "Foo": supported values: "ServiceAccount", "User", "Group"',
      'subjects[3].namespace: Required value',
      'subjects[4].name: Required value',
    ],
  },
  {
    name: 'a service account without namespace in a RoleBinding',
    given: bindTo(ref, { kind: 'ServiceAccount', name: 'sa' }),
    want: [],
  },
  {
    name: 'a roleRef to something else',
    given: bindTo({ apiGroup: 'x', kind: 'Pod', name: 'a/b' }),
    want: [
      `roleRef.apiGroup: Unsupported value: "x": supported values: "${group}"`,
      'roleRef.kind: Unsupported value: "Pod": supported values: "Role", "ClusterRole"',
      `roleRef.name: Invalid value: "a/b": may not contain '/'`,
    ],
  },
  {
    name: 'a roleRef to nothing',
    given: bindTo({ ...ref, name: '' }),
    want: ['roleRef.name: Required value'],
  },
  {
    name: 'a ClusterRoleBinding to a Role',
    given: { ...clusterRoleBinding('b', 'r'), roleRef: { ...ref, kind: 'Role' } },
    want: ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
  },
  {
    name: 'an account and a role whose names are none',
    given: { ...clusterRoleBinding('b', 'a/b'), subjects: [{ kind: 'ServiceAccount', name: 'A_b', namespace: 'n' }] },
    want: [
      `roleRef.name: Invalid value: "a/b": may not contain '/'`,
      `subjects[0].name: Invalid value: "A_b": ${notSubdomain}`,
    ],
  },
  {
    name: 'another roleRef than before',
    old: bindTo({ ...ref, name: 'y' }),
    given: bindTo(ref),
    want: [`roleRef: Invalid value: {"APIGroup":"${group}","Kind":"ClusterRole","Name":"x"}: cannot change roleRef`],
  },
]

describe('validation', () => {
  test.each(cases)('$name', ({ given, old, want }) => {
    const errors = runAtOnce(
      kinds[given.kind ?? '']?.strategy?.validate?.(given, old, { subresource: '', now: '' }) ?? [],
    )
    expect(faultsOf(errors)).toEqual(want)
  })

  test('names may hold colons and dots, but be no path', () => {
    for (const { strategy } of Object.values(kinds)) {
      expect(strategy?.validateName?.('system:controller:x', false)).toEqual([])
      for (const bad of ['.', '..', 'a/b', 'a%b']) expect(strategy?.validateName?.(bad, false)).not.toEqual([])
    }
  })
})
