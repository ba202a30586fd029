import { expect, test } from 'vitest'
import type { AccessAnswer } from '../../../apis/rbac/why-denied.ts'
import { bindersOf, canICommand, grantCommand } from './next-step.ts'

const rbac = 'rbac.authorization.k8s.io'
const binding = (name: string, kind: string, role: string, user: string) => ({
  metadata: { name },
  roleRef: { apiGroup: rbac, kind, name: role },
  subjects: [{ kind: 'User', name: user }],
})
const binds = [{ verbs: ['create'], apiGroups: [rbac], resources: ['rolebindings'] }]

test('who may bind roles is told by rules, and where they may not be read by the names that all clusters have', () => {
  const objects = {
    roleBindings: [
      binding('a', 'ClusterRole', 'admin', 'alice'),
      binding('again', 'ClusterRole', 'admin', 'alice'),
      binding('e', 'ClusterRole', 'edit', 'eve'),
      binding('own', 'Role', 'binder', 'bob'),
      binding('named', 'Role', 'admin', 'mallory'),
      binding('one', 'Role', 'one', 'oscar'),
    ],
    roles: [
      { metadata: { name: 'binder' }, rules: binds },
      { metadata: { name: 'one' }, rules: binds.map((rule) => ({ ...rule, resourceNames: ['x'] })) },
    ],
    clusterRoleBindings: [
      binding('root', 'ClusterRole', 'cluster-admin', 'carol'),
      binding('system:x', 'ClusterRole', 'cluster-admin', 'part'),
    ],
    clusterRoles: [],
  }
  expect(bindersOf(objects)).toEqual([
    { subject: 'User alice', through: 'RoleBinding/a of ClusterRole/admin' },
    { subject: 'User bob', through: 'RoleBinding/own of Role/binder' },
    { subject: 'User carol', through: 'ClusterRoleBinding/root of ClusterRole/cluster-admin' },
  ])
  // Where the role can be read, what it says counts.
  const clusterRoles = [{ metadata: { name: 'admin' }, rules: [] }]
  expect(bindersOf({ ...objects, clusterRoles }).map(({ subject }) => subject)).toEqual(['User bob', 'User carol'])
})

test('the question as a command, of an object, a part of it and a path', () => {
  const question = { verb: 'get', target: 'pods', name: '', namespace: 'shop', subject: undefined }
  expect(canICommand(question)).toBe('kubectl auth can-i get pods -n shop')
  expect(canICommand({ ...question, target: 'pods/log', name: '$(id)' })).toBe(
    "kubectl auth can-i get 'pods/$(id)' --subresource=log -n shop",
  )
  expect(canICommand({ ...question, target: '/metrics' })).toBe('kubectl auth can-i get /metrics')
})

const answerOf = (user: string, attributes: object): AccessAnswer => ({
  user: { username: user, groups: [] },
  attributes: {
    user: { username: user, groups: [] },
    verb: 'get',
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
    namespace: 'shop',
    name: '',
    ...attributes,
  },
  allowed: false,
  reason: '',
  unservedSubresource: false,
})

test('what allows it is a binding of the role that is known to, else a role for this alone', () => {
  const role = { kind: 'ClusterRole', name: 'edit' } as const
  expect(grantCommand(answerOf('mia', {}), role)).toBe(
    'kubectl create rolebinding edit-mia --clusterrole=edit --user=mia -n shop',
  )
  expect(grantCommand(answerOf('mia', { subresource: 'scale', name: 'web' }), undefined)).toBe(
    'kubectl create role get-deployments-mia --verb=get --resource=deployments.apps/scale --resource-name=web -n shop' +
      ' && kubectl create rolebinding get-deployments-mia --role=get-deployments-mia --user=mia -n shop',
  )
  // A create has no name when it is authorized.
  expect(grantCommand(answerOf('$(id)', { verb: 'create', name: 'web' }), undefined)).toBe(
    'kubectl create role create-deployments-id --verb=create --resource=deployments.apps -n shop' +
      " && kubectl create rolebinding create-deployments-id --role=create-deployments-id '--user=$(id)' -n shop",
  )
  expect(grantCommand(answerOf('system:serviceaccount:ci:bot', { group: '', namespace: '' }), undefined)).toBe(
    'kubectl create clusterrole get-deployments-system-serviceaccount-ci-bot --verb=get --resource=deployments && ' +
      'kubectl create clusterrolebinding get-deployments-system-serviceaccount-ci-bot ' +
      '--clusterrole=get-deployments-system-serviceaccount-ci-bot --serviceaccount=ci:bot',
  )
})
