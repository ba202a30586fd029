import { describe, expect, test } from 'vitest'
import type { StatusDetails } from '../kube/types.ts'
import type { AuthzAttributes } from './authz.ts'
import { forbiddenError } from './forbidden.ts'
import { mastersAuthorizer, unionAuthorizer } from './union-authorizer.ts'

const user = { username: 'bob', groups: ['devs'] }

const cases: readonly {
  readonly name: string
  readonly given: AuthzAttributes
  readonly reason?: string
  readonly want: string
  readonly details: StatusDetails
}[] = [
  {
    name: 'a named object of a group in a namespace',
    given: { user, verb: 'get', group: 'apps', resource: 'deployments', namespace: 'ns', name: 'web' },
    want:
      'deployments.apps "web" is forbidden: User "bob" cannot get resource "deployments" in API group "apps" ' +
      'in the namespace "ns"',
    details: { name: 'web', group: 'apps', kind: 'deployments' },
  },
  {
    name: 'a collection of the core group at the cluster scope',
    given: { user, verb: 'list', group: '', resource: 'pods', namespace: '', name: '' },
    want: 'pods is forbidden: User "bob" cannot list resource "pods" in API group "" at the cluster scope',
    details: { kind: 'pods' },
  },
  {
    name: 'a sub-resource, with a reason',
    given: { user, verb: 'get', group: '', resource: 'pods', subresource: 'log', namespace: 'ns', name: 'p' },
    reason: 'RBAC: role.rbac.authorization.k8s.io "x" not found',
    want:
      'pods "p" is forbidden: User "bob" cannot get resource "pods/log" in API group "" in the namespace "ns": ' +
      'RBAC: role.rbac.authorization.k8s.io "x" not found',
    details: { name: 'p', kind: 'pods' },
  },
  {
    name: 'a path',
    given: { user, verb: 'get', path: '/metrics' },
    want: 'forbidden: User "bob" cannot get path "/metrics"',
    details: {},
  },
  {
    name: 'markup and quotes in names are made harmless',
    given: { user: { username: '<b>"&\n', groups: [] }, verb: 'get', path: '/<script>' },
    want: 'forbidden: User "&lt;b&gt;\\"&amp;\\n" cannot get path "/&lt;script&gt;"',
    details: {},
  },
]

describe('a refusal', () => {
  test.each(cases)('$name', ({ given, reason, want, details }) => {
    const status = forbiddenError(given, reason).toStatus()
    expect(status).toMatchObject({ reason: 'Forbidden', code: 403, message: want })
    expect(status.details).toEqual(details)
  })
})

describe('the union of authorizers', () => {
  const saysNo = (reason: string) => ({
    authorize: () => ({ allowed: false, reason }),
    rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false, evaluationError: reason }),
  })
  const attributes: AuthzAttributes = { user, verb: 'get', path: '/metrics' }

  test('members of system:masters may do everything', () => {
    const union = unionAuthorizer([mastersAuthorizer, saysNo('')])
    const master = { username: 'root', groups: ['system:masters'] }
    expect(union.authorize({ ...attributes, user: master })).toEqual({ allowed: true, reason: '' })
    expect(union.rulesFor(master, 'ns').resourceRules).toEqual([{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }])
    expect(union.authorize(attributes).allowed).toBe(false)
    expect(union.authorize({ ...attributes, user: { username: 'system:masters', groups: [] } }).allowed).toBe(false)
  })

  test('the refusal joins the reasons that were given', () => {
    const union = unionAuthorizer([mastersAuthorizer, saysNo('one'), saysNo(''), saysNo('two')])
    expect(union.authorize(attributes)).toEqual({ allowed: false, reason: 'one\ntwo' })
    expect(union.rulesFor(user, '').evaluationError).toBe('one, two')
  })

  test('the first that allows decides, and the others are not asked', () => {
    const yes = { authorize: () => ({ allowed: true, reason: 'yes' }), rulesFor: saysNo('').rulesFor }
    const never = {
      authorize: (): never => {
        throw new Error('asked')
      },
      rulesFor: saysNo('').rulesFor,
    }
    expect(unionAuthorizer([saysNo('no'), yes, never]).authorize(attributes)).toEqual({ allowed: true, reason: 'yes' })
  })

  test('where none has a reason there is none, and no fault in the rules', () => {
    const union = unionAuthorizer([mastersAuthorizer, saysNo('')])
    expect(union.authorize(attributes)).toEqual({ allowed: false, reason: '' })
    expect(union.rulesFor(user, '')).toEqual({ resourceRules: [], nonResourceRules: [], incomplete: false })
  })

  test('members of system:masters may ask for every path, and the rules are complete', () => {
    const { resourceRules, ...rest } = unionAuthorizer([mastersAuthorizer]).rulesFor(
      { username: 'root', groups: ['system:masters'] },
      'ns',
    )
    expect(resourceRules).toHaveLength(1)
    expect(rest).toEqual({ nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }], incomplete: false })
  })

  test('the rules are incomplete if those of one member are', () => {
    const rules = { resourceRules: [], nonResourceRules: [], incomplete: true }
    const partial = { authorize: () => ({ allowed: false, reason: '' }), rulesFor: () => rules }
    expect(unionAuthorizer([mastersAuthorizer, partial]).rulesFor(user, '')).toEqual(rules)
  })
})
