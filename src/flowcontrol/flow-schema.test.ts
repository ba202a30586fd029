import { describe, expect, test } from 'vitest'
import { infoOf, nonResource } from '../../test/support/flow-control.ts'
import type { UserInfo } from '../kube/user.ts'
import type { RequestAttributes } from './flow-control.ts'
import { bySchemaPrecedence, matchesRequest, parseFlowSchema } from './flow-schema.ts'
import type { NonResourceRuleSpec, ResourceRuleSpec, SubjectSpec } from './types.ts'

const anyResource: ResourceRuleSpec = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['*'],
  clusterScope: true,
  namespaces: ['*'],
}
const alice: UserInfo = { username: 'alice', groups: ['dev', 'system:authenticated'] }
const account: UserInfo = { username: 'system:serviceaccount:kube-system:gc', groups: ['system:serviceaccounts'] }

function matches(
  user: UserInfo,
  info: RequestAttributes,
  rule: {
    readonly subjects: readonly SubjectSpec[]
    readonly resourceRules?: readonly ResourceRuleSpec[]
    readonly nonResourceRules?: readonly NonResourceRuleSpec[]
  },
): boolean {
  const { rules } = parseFlowSchema({ metadata: { name: 'x' }, spec: { rules: [rule] } })
  return rules.some((r) => r.matchesUser(user) && matchesRequest(r, info))
}

describe('the subjects of a FlowSchema', () => {
  test.each<{ readonly subject: SubjectSpec; readonly user: UserInfo; readonly want: boolean }>([
    { subject: { kind: 'User', user: { name: 'alice' } }, user: alice, want: true },
    { subject: { kind: 'User', user: { name: 'bob' } }, user: alice, want: false },
    { subject: { kind: 'User', user: { name: '*' } }, user: alice, want: true },
    { subject: { kind: 'User', group: { name: 'dev' } }, user: alice, want: false },
    { subject: { kind: 'Group', group: { name: 'dev' } }, user: alice, want: true },
    { subject: { kind: 'Group', group: { name: 'ops' } }, user: alice, want: false },
    { subject: { kind: 'Group', group: { name: '*' } }, user: { username: 'x', groups: [] }, want: true },
    {
      subject: { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: 'gc' } },
      user: account,
      want: true,
    },
    {
      subject: { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } },
      user: account,
      want: true,
    },
    {
      subject: { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube', name: '*' } },
      user: account,
      want: false,
    },
    {
      subject: { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: 'g' } },
      user: account,
      want: false,
    },
    {
      subject: { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } },
      user: alice,
      want: false,
    },
    { subject: { kind: 'Robot', user: { name: 'alice' } }, user: alice, want: false },
  ])('$subject matches $user.username: $want', ({ subject, user, want }) => {
    expect(matches(user, infoOf({}), { subjects: [subject], resourceRules: [anyResource] })).toBe(want)
  })
})

describe('the resource rules of a FlowSchema', () => {
  const pods = { verb: 'list', group: '', resource: 'pods', namespace: 'team-a' }
  test.each<{
    readonly rule: Partial<ResourceRuleSpec>
    readonly info: Partial<RequestAttributes>
    readonly want: boolean
  }>([
    { rule: {}, info: pods, want: true },
    { rule: { verbs: ['get', 'list'] }, info: pods, want: true },
    { rule: { verbs: ['get'] }, info: pods, want: false },
    { rule: { apiGroups: [''] }, info: pods, want: true },
    { rule: { apiGroups: ['apps'] }, info: pods, want: false },
    { rule: { resources: ['pods'] }, info: pods, want: true },
    { rule: { resources: ['pods'] }, info: { ...pods, subresource: 'status' }, want: false },
    { rule: { resources: ['pods/status'] }, info: { ...pods, subresource: 'status' }, want: true },
    { rule: { resources: ['*', 'nodes'] }, info: pods, want: false },
    { rule: { namespaces: ['team-a'] }, info: pods, want: true },
    { rule: { namespaces: ['team-b'] }, info: pods, want: false },
    { rule: { namespaces: ['team-a'], clusterScope: false }, info: { ...pods, namespace: '' }, want: false },
    { rule: { namespaces: ['*'], clusterScope: false }, info: { ...pods, namespace: '' }, want: false },
    { rule: { namespaces: [], clusterScope: true }, info: { ...pods, namespace: '' }, want: true },
    { rule: { namespaces: [], clusterScope: true }, info: pods, want: false },
  ])('$rule matches $info: $want', ({ rule, info, want }) => {
    const resourceRules = [{ ...anyResource, ...rule }]
    expect(matches(alice, infoOf(info), { subjects: [{ kind: 'User', user: { name: '*' } }], resourceRules })).toBe(
      want,
    )
  })
})

describe('the non-resource rules of a FlowSchema', () => {
  test.each([
    { verbs: ['get'], urls: ['/healthz'], path: '/healthz', want: true },
    { verbs: ['get'], urls: ['/healthz'], path: '/healthz/etcd', want: true },
    { verbs: ['get'], urls: ['/healthz'], path: '/healthzz', want: false },
    { verbs: ['get'], urls: ['/openapi/*'], path: '/openapi/v3', want: true },
    { verbs: ['get'], urls: ['/openapi/*'], path: '/openapi', want: false },
    { verbs: ['get'], urls: ['*'], path: '/anything', want: true },
    { verbs: ['post'], urls: ['*'], path: '/anything', want: false },
    { verbs: ['*'], urls: ['/'], path: '/version', want: true },
  ])('$verbs $urls matches get $path: $want', ({ verbs, urls, path, want }) => {
    const nonResourceRules = [{ verbs, nonResourceURLs: urls }]
    const subjects = [{ kind: 'User', user: { name: '*' } }]
    expect(matches(alice, nonResource(path), { subjects, nonResourceRules })).toBe(want)
  })

  test('say nothing of requests for resources, nor resource rules of others', () => {
    const subjects = [{ kind: 'User', user: { name: '*' } }]
    expect(matches(alice, nonResource('/version'), { subjects, resourceRules: [anyResource] })).toBe(false)
    const nonResourceRules = [{ verbs: ['*'], nonResourceURLs: ['*'] }]
    expect(matches(alice, infoOf({}), { subjects, nonResourceRules })).toBe(false)
  })
})

test('schemas are tried by precedence, then by name', () => {
  const schema = (name: string, matchingPrecedence: number) =>
    parseFlowSchema({ metadata: { name }, spec: { matchingPrecedence } })
  const sorted = [schema('b', 5), schema('c', 1), schema('a', 5)].sort(bySchemaPrecedence)
  expect(sorted.map(({ name }) => name)).toEqual(['c', 'a', 'b'])
})
