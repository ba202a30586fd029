import { describe, expect, test } from 'vitest'
import type { UserInfo } from '../kube/user.ts'
import { type ImpersonateAttributes, impersonate } from './impersonation.ts'

const alice: UserInfo = { username: 'alice', groups: ['system:authenticated'] }

/** Header → value or values. */
function run(given: Record<string, string | string[]>): { user: UserInfo | undefined; checks: string[] } {
  const headers = Object.fromEntries(Object.entries(given).map(([k, v]) => [k, Array.isArray(v) ? v.join(', ') : v]))
  const checks: string[] = []
  const check = (a: ImpersonateAttributes): void => {
    expect(a.user).toBe(alice)
    const resource = a.subresource === undefined ? a.resource : `${a.resource}/${a.subresource}`
    checks.push(`${a.verb} ${a.group}/${resource} ${a.namespace}/${a.name}`)
  }
  const values = (name: string): readonly string[] => [given[name] ?? []].flat()
  return { user: impersonate({ headers, headerValues: values }, alice, check), checks }
}

const auth = 'system:authenticated'
const unauth = 'system:unauthenticated'

const cases: readonly {
  readonly name: string
  readonly given: Record<string, string | string[]>
  readonly user: UserInfo | undefined
  readonly checks: readonly string[]
}[] = [
  { name: 'no header: nobody is impersonated', given: { accept: '*/*' }, user: undefined, checks: [] },
  {
    name: 'an empty user alone: nobody is impersonated',
    given: { 'impersonate-user': '' },
    user: undefined,
    checks: [],
  },
  {
    name: 'a user is authenticated',
    given: { 'impersonate-user': 'bob' },
    user: { username: 'bob', groups: [auth] },
    checks: ['impersonate /users /bob'],
  },
  {
    name: 'groups are checked one by one',
    given: { 'impersonate-user': 'bob', 'impersonate-group': ['devs', 'a, b'] },
    user: { username: 'bob', groups: ['devs', 'a, b', auth] },
    checks: ['impersonate /users /bob', 'impersonate /groups /devs', 'impersonate /groups /a, b'],
  },
  {
    name: 'asking for system:unauthenticated does not add its opposite',
    given: { 'impersonate-user': 'bob', 'impersonate-group': [unauth] },
    user: { username: 'bob', groups: [unauth] },
    checks: ['impersonate /users /bob', `impersonate /groups /${unauth}`],
  },
  {
    name: 'the anonymous user is unauthenticated',
    given: { 'impersonate-user': 'system:anonymous' },
    user: { username: 'system:anonymous', groups: [unauth] },
    checks: ['impersonate /users /system:anonymous'],
  },
  {
    name: 'a service account is checked in its namespace and has its groups',
    given: { 'impersonate-user': 'system:serviceaccount:ns:bot' },
    user: {
      username: 'system:serviceaccount:ns:bot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', auth],
    },
    checks: ['impersonate /serviceaccounts ns/bot'],
  },
  {
    name: 'a service account with groups given has those alone',
    given: { 'impersonate-user': 'system:serviceaccount:ns:bot', 'impersonate-group': ['x'] },
    user: { username: 'system:serviceaccount:ns:bot', groups: ['x', auth] },
    checks: ['impersonate /serviceaccounts ns/bot', 'impersonate /groups /x'],
  },
  {
    name: 'what only looks like a service account is a user',
    given: { 'impersonate-user': 'system:serviceaccount:NS:bot:more' },
    user: { username: 'system:serviceaccount:NS:bot:more', groups: [auth] },
    checks: ['impersonate /users /system:serviceaccount:NS:bot:more'],
  },
  {
    name: 'extra keys are decoded, every value is checked, the uid comes last',
    given: {
      'impersonate-user': 'bob',
      'impersonate-uid': '7',
      'impersonate-extra-scopes': ['a', 'b'],
      'impersonate-extra-ex.io%2fkey': ['c'],
      'impersonate-extra-%zz': ['d'],
    },
    user: {
      username: 'bob',
      uid: '7',
      groups: [auth],
      extra: { scopes: ['a', 'b'], 'ex.io/key': ['c'], '%zz': ['d'] },
    },
    checks: [
      'impersonate /users /bob',
      'impersonate authentication.k8s.io/userextras/scopes /a',
      'impersonate authentication.k8s.io/userextras/scopes /b',
      'impersonate authentication.k8s.io/userextras/ex.io/key /c',
      'impersonate authentication.k8s.io/userextras/%zz /d',
      'impersonate authentication.k8s.io/uids /7',
    ],
  },
]

describe('impersonation', () => {
  test.each(cases)('$name', ({ given, user, checks }) => {
    expect(run(given)).toEqual({ user, checks })
  })

  test.each([
    { 'impersonate-group': ['system:masters'] },
    { 'impersonate-uid': '1' },
    { 'impersonate-extra-a': ['b'] },
    { 'impersonate-user': '', 'impersonate-group': ['system:masters'] },
  ])('attack: %o without a user is refused', (given) => {
    expect(() => run(given as Record<string, string | string[]>)).toThrow(
      expect.objectContaining({ code: 500, message: expect.stringContaining('without impersonating a user') }),
    )
  })

  test('the first refusal ends it', () => {
    const headers = { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' }
    const asked: string[] = []
    const refuse = (a: ImpersonateAttributes): void => {
      asked.push(a.resource)
      throw new Error('no')
    }
    expect(() => impersonate({ headers, headerValues: () => ['system:masters'] }, alice, refuse)).toThrow('no')
    expect(asked).toEqual(['users'])
  })
})
