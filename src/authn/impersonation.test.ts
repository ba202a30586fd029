import { describe, expect, test } from 'vitest'
import { badRequest, thrown } from '../../test/support/refusal.ts'
import { StatusError } from '../kube/status-error.ts'
import type { UserInfo } from '../kube/user.ts'
import { impersonate } from './impersonation.ts'
import type { AskedAttributes } from './wanted-user.ts'

const alice: UserInfo = { username: 'alice', groups: ['system:authenticated'] }

type Given = Record<string, string | string[]>

/** `impersonate authentication.k8s.io/userextras/scopes ns/value`, `get /path` */
function written(a: AskedAttributes): string {
  if (a.path !== undefined) return `${a.verb} ${a.path}`
  const resource = a.subresource ? `${a.resource}/${a.subresource}` : a.resource
  return `${a.verb} ${a.group}/${resource} ${a.namespace}/${a.name}`
}

const getPods: Omit<Extract<AskedAttributes, { group: string }>, 'user'> = {
  verb: 'list',
  group: '',
  resource: 'pods',
  namespace: 'ns',
  name: '',
}

/** Header → value or values. `allows` says what the real user may. */
function ask(given: Given, allows: (check: string) => boolean, real = alice, asked: object = getPods) {
  const headers = Object.fromEntries(Object.entries(given).map(([k, v]) => [k, Array.isArray(v) ? v.join(', ') : v]))
  const checks: string[] = []
  const refusalOf = (a: AskedAttributes, why?: string): StatusError | undefined => {
    expect(a.user).toBe(real)
    checks.push(written(a))
    if (why !== undefined) return new StatusError(`${written(a)}: ${why}`, { reason: 'Forbidden' })
    return allows(written(a)) ? undefined : new StatusError(written(a), { reason: 'Forbidden' })
  }
  const values = (name: string): readonly string[] => [given[name] ?? []].flat()
  const attributes = { user: real, ...asked } as AskedAttributes
  return { result: impersonate({ headers, headerValues: values }, () => attributes, refusalOf), checks }
}

/** With the classic right to everything, and no constrained one. */
function run(given: Given): { user: UserInfo | undefined; checks: string[] } {
  const { result, checks } = ask(given, (check) => check.startsWith('impersonate '))
  expect(result?.constraint).toBeUndefined()
  return { user: result?.user, checks: checks.filter((check) => check.startsWith('impersonate ')) }
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
    name: 'the anonymous user is unauthenticated once, though asked for too',
    given: { 'impersonate-user': 'system:anonymous', 'impersonate-group': [unauth] },
    user: { username: 'system:anonymous', groups: [unauth] },
    checks: ['impersonate /users /system:anonymous', `impersonate /groups /${unauth}`],
  },
  {
    name: 'a user who is asked for as authenticated is that once',
    given: { 'impersonate-user': 'bob', 'impersonate-group': [auth] },
    user: { username: 'bob', groups: [auth] },
    checks: ['impersonate /users /bob', `impersonate /groups /${auth}`],
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
    name: 'a name of the system of another kind is a user, whatever it looks like',
    given: { 'impersonate-user': 'system:bootstrapper:ns:bot' },
    user: { username: 'system:bootstrapper:ns:bot', groups: [auth] },
    checks: ['impersonate /users /system:bootstrapper:ns:bot'],
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
    {
      given: { 'impersonate-group': ['a', 'b'] },
      asks: 'UID:"", Groups:[]string{"a", "b"}, Extra:map[string][]string(nil)',
    },
    { given: { 'impersonate-uid': '1' }, asks: 'UID:"1", Groups:[]string(nil), Extra:map[string][]string(nil)' },
    {
      given: { 'impersonate-extra-b': 'c', 'impersonate-extra-a': ['b', 'd'] },
      asks: 'UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"b", "d"}, "b":[]string{"c"}}',
    },
    {
      given: { 'impersonate-extra-a': ['b'], 'impersonate-extra-b': ['c'] },
      asks: 'UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"b"}, "b":[]string{"c"}}',
    },
    {
      given: { 'impersonate-user': '', 'impersonate-group': 'system:masters' },
      asks: 'UID:"", Groups:[]string{"system:masters"}, Extra:map[string][]string(nil)',
    },
  ])('attack: $given without a user is refused', ({ given, asks }) => {
    expect(thrown(() => run(given))).toEqual(
      badRequest(`requested &user.DefaultInfo{Name:"", ${asks}} without impersonating a user name`),
    )
  })

  test('the first refusal ends it', () => {
    const asked: string[] = []
    const refuse = (check: string): boolean => {
      if (check.startsWith('impersonate ')) asked.push(check)
      return false
    }
    expect(() => ask({ 'impersonate-user': 'bob', 'impersonate-group': ['system:masters'] }, refuse)).toThrow(
      'impersonate /users /bob',
    )
    expect(asked).toEqual(['impersonate /users /bob'])
  })
})

const agent: UserInfo = {
  username: 'system:serviceaccount:kube-system:agent',
  groups: ['system:serviceaccounts'],
  extra: { 'authentication.kubernetes.io/node-name': ['n1'] },
}

interface Row {
  readonly name: string
  readonly given: Given
  readonly grants: readonly string[]
  readonly real?: UserInfo
  readonly asked?: object
  readonly want: { readonly user: UserInfo; readonly constraint: string } | string
}

const identity = 'authentication.k8s.io'
/** Of an extra: its key as the header has it, its values, and why it is never allowed. */
const badExtras: readonly (readonly [key: string, values: readonly string[], why: string])[] = [
  ['', ['a'], 'impersonating the empty string key in extra is not allowed'],
  ['ex.io%2f', ['a'], invalidKey('ex.io/')],
  ['%2fkey', ['a'], invalidKey('/key')],
  ['ex..io%2fkey', ['a'], invalidKey('ex..io/key')],
  ['ex.io%2fk%20y', ['a'], invalidKey('ex.io/k y')],
  ['ex.io%2f%4bey', ['a'], 'impersonating a non-lowercase key in extra is not allowed: "ex.io/Key"'],
  ['ex.io%2fkey', [], 'impersonating empty values in extra is not allowed'],
  ['ex.io%2fkey', ['a', ''], 'impersonating the empty string value in extra is not allowed'],
]

function invalidKey(key: string): string {
  return (
    `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "${key}": ` +
    'must be a domain-prefixed path (such as "acme.io/foo")'
  )
}

const rows: readonly Row[] = [
  {
    name: 'a user, for listing pods here',
    given: { 'impersonate-user': 'bob' },
    grants: [`impersonate:user-info ${identity}/users /bob`, 'impersonate-on:user-info:list /pods ns/'],
    want: { user: { username: 'bob', groups: [auth] }, constraint: 'impersonate:user-info' },
  },
  {
    name: 'a user with uid, groups and extra, each of which is asked for',
    given: {
      'impersonate-user': 'bob',
      'impersonate-uid': '7',
      'impersonate-group': ['devs', 'ops'],
      'impersonate-extra-ex.io%2fkey': ['a', 'b'],
    },
    grants: [
      `impersonate:user-info ${identity}/users /bob`,
      `impersonate:user-info ${identity}/uids /7`,
      `impersonate:user-info ${identity}/groups /devs`,
      `impersonate:user-info ${identity}/groups /ops`,
      `impersonate:user-info ${identity}/userextras/ex.io/key /a`,
      `impersonate:user-info ${identity}/userextras/ex.io/key /b`,
      'impersonate-on:user-info:list /pods ns/',
    ],
    want: {
      user: { username: 'bob', uid: '7', groups: ['devs', 'ops', auth], extra: { 'ex.io/key': ['a', 'b'] } },
      constraint: 'impersonate:user-info',
    },
  },
  {
    name: 'a service account, with the groups it has',
    given: { 'impersonate-user': 'system:serviceaccount:ns:bot' },
    grants: [
      `impersonate:serviceaccount ${identity}/serviceaccounts ns/bot`,
      'impersonate-on:serviceaccount:list /pods ns/',
    ],
    want: {
      user: {
        username: 'system:serviceaccount:ns:bot',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', auth],
      },
      constraint: 'impersonate:serviceaccount',
    },
  },
  {
    name: 'any node, with the group of nodes',
    given: { 'impersonate-user': 'system:node:n2' },
    grants: [`impersonate:arbitrary-node ${identity}/nodes /n2`, 'impersonate-on:arbitrary-node:list /pods ns/'],
    want: {
      user: { username: 'system:node:n2', groups: ['system:nodes', auth] },
      constraint: 'impersonate:arbitrary-node',
    },
  },
  {
    name: 'the node that the account is on, by one right for all nodes',
    given: { 'impersonate-user': 'system:node:n1' },
    real: agent,
    grants: [`impersonate:associated-node ${identity}/nodes /*`, 'impersonate-on:associated-node:list /pods ns/'],
    want: {
      user: { username: 'system:node:n1', groups: ['system:nodes', auth] },
      constraint: 'impersonate:associated-node',
    },
  },
  {
    name: 'a path',
    given: { 'impersonate-user': 'bob' },
    asked: { verb: 'get', path: '/metrics' },
    grants: [`impersonate:user-info ${identity}/users /bob`, 'impersonate-on:user-info:get /metrics'],
    want: { user: { username: 'bob', groups: [auth] }, constraint: 'impersonate:user-info' },
  },
  {
    name: 'attack: the right to a user is no right to do anything else in its name',
    given: { 'impersonate-user': 'bob' },
    grants: [`impersonate:user-info ${identity}/users /bob`, 'impersonate-on:user-info:get /pods ns/'],
    want: 'impersonate-on:user-info:list /pods ns/',
  },
  {
    name: 'attack: the right to do something in a name is no right to every name',
    given: { 'impersonate-user': 'eve' },
    grants: [`impersonate:user-info ${identity}/users /bob`, 'impersonate-on:user-info:list /pods ns/'],
    want: `impersonate:user-info ${identity}/users /eve`,
  },
  {
    name: 'attack: the node of another account by the right to the own one',
    given: { 'impersonate-user': 'system:node:n2' },
    real: agent,
    grants: [`impersonate:associated-node ${identity}/nodes /*`, 'impersonate-on:associated-node:list /pods ns/'],
    want: 'impersonate /users /system:node:n2',
  },
  {
    name: 'attack: a person who claims to be on a node',
    given: { 'impersonate-user': 'system:node:n1' },
    real: { ...agent, username: 'mallory' },
    grants: [`impersonate:associated-node ${identity}/nodes /*`, 'impersonate-on:associated-node:list /pods ns/'],
    want: 'impersonate /users /system:node:n1',
  },
  {
    name: 'attack: a service account by the right to users',
    given: { 'impersonate-user': 'system:serviceaccount:ns:bot' },
    grants: [
      `impersonate:user-info ${identity}/users /system:serviceaccount:ns:bot`,
      'impersonate-on:user-info:list /pods ns/',
    ],
    want: 'impersonate /serviceaccounts ns/bot',
  },
  {
    name: 'attack: a service account with groups of one’s choice',
    given: { 'impersonate-user': 'system:serviceaccount:ns:bot', 'impersonate-group': ['system:masters'] },
    grants: [
      `impersonate:serviceaccount ${identity}/serviceaccounts ns/bot`,
      'impersonate-on:serviceaccount:list /pods ns/',
    ],
    want: 'impersonate /serviceaccounts ns/bot',
  },
  {
    name: 'attack: system:masters by the right to every group',
    given: { 'impersonate-user': 'bob', 'impersonate-group': ['devs', 'system:masters'] },
    grants: [
      `impersonate:user-info ${identity}/users /bob`,
      `impersonate:user-info ${identity}/groups /devs`,
      `impersonate:user-info ${identity}/groups /system:masters`,
      'impersonate-on:user-info:list /pods ns/',
    ],
    want:
      `impersonate:user-info ${identity}/groups /system:masters: impersonating the system:masters group is not ` +
      'allowed',
  },
  {
    name: 'attack: an extra key that is no domain-prefixed path',
    given: { 'impersonate-user': 'bob', 'impersonate-extra-scopes': ['a'] },
    grants: [
      `impersonate:user-info ${identity}/users /bob`,
      `impersonate:user-info ${identity}/userextras/scopes /a`,
      'impersonate-on:user-info:list /pods ns/',
    ],
    want:
      `impersonate:user-info ${identity}/userextras /: impersonating an invalid key in extra is not allowed: ` +
      'extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")',
  },
  {
    name: 'who holds nothing reads the refusal of the classic right',
    given: { 'impersonate-user': 'bob' },
    grants: [],
    want: 'impersonate /users /bob',
  },
]

describe('constrained impersonation', () => {
  test.each(rows)('$name', ({ given, grants, real, asked, want }) => {
    const attempt = () => ask(given, (check) => grants.includes(check), real, asked).result
    if (typeof want === 'string') expect(attempt).toThrow(expect.objectContaining({ message: want, code: 403 }))
    else expect(attempt()).toEqual(want)
  })

  test.each(badExtras)('attack: the extra "%s" of values %j by the right to every extra', (key, values, why) => {
    const given = { 'impersonate-user': 'bob', [`impersonate-extra-${key}`]: [...values] }
    const allows = (check: string): boolean => check.startsWith('impersonate:') || check.startsWith('impersonate-on:')
    expect(() => ask(given, allows)).toThrow(
      expect.objectContaining({ message: `impersonate:user-info ${identity}/userextras /: ${why}`, code: 403 }),
    )
  })

  test('attack: the group without a name by the right to every group', () => {
    const given = { 'impersonate-user': 'bob', 'impersonate-group': ['devs', ''] }
    const why = 'impersonating the empty string group is not allowed'
    expect(() => ask(given, (check) => !check.startsWith('impersonate '))).toThrow(
      expect.objectContaining({ message: `impersonate:user-info ${identity}/groups /: ${why}`, code: 403 }),
    )
  })

  test.each(rows.filter(({ want }) => typeof want !== 'string'))(
    'needs every one of its rights: $name',
    ({ given, grants, real, asked }) => {
      for (const missing of grants) {
        const rest = (check: string): boolean => grants.includes(check) && check !== missing
        expect(() => ask(given, rest, real, asked), `without ${missing}`).toThrow()
      }
    },
  )
})
