/** What a cluster says about rights, and what an answer that says nothing is worth. */
import { expect, test } from 'vitest'
import type { AuthzAttributes, RuleSet } from '../../authz/authz.ts'
import type { Client, ServedKind } from '../../client/client.ts'
import type { UserInfo } from '../../kube/user.ts'
import { remoteAuthorizer } from './remote-authorizer.ts'
import { RemoteLookups } from './remote-lookups.ts'
import { worldOf } from './webhook-world.ts'

const alice: UserInfo = { username: 'alice', groups: ['devs'] }
const pod = { user: alice, verb: 'get', group: '', resource: 'pods', namespace: 'a', name: 'p' }
const noRules: RuleSet = { resourceRules: [], nonResourceRules: [], incomplete: false }

/** A cluster that answers so; `asked` are the requests. */
const answering = (answer: object, asked: unknown[] = []) => ({
  client: {
    request(...request: unknown[]) {
      asked.push(request)
      return Promise.resolve(answer)
    },
  } as unknown as Client,
  rulesOf: () => Promise.resolve({ ...noRules, incomplete: true }),
})

const apiVersion = 'authorization.k8s.io/v1'
const reviewed = (kind: string, spec: object): unknown[] => [
  ...['POST', `/apis/${apiVersion}/${kind.toLowerCase()}s`],
  { apiVersion, kind, spec },
]

test.each<{ name: string; attributes: AuthzAttributes; spec: object }>([
  {
    name: 'an object',
    attributes: pod,
    spec: {
      ...{ user: 'alice', groups: ['devs'] },
      resourceAttributes: {
        ...{ verb: 'get', group: '', version: '', resource: 'pods', subresource: '', namespace: 'a', name: 'p' },
      },
    },
  },
  {
    name: 'a sub-resource of it, by a user of whom more is known',
    attributes: {
      ...{ ...pod, version: 'v1', subresource: 'log' },
      user: { ...alice, uid: 'u', extra: { scopes: ['s'] } },
    },
    spec: {
      ...{ user: 'alice', groups: ['devs'], uid: 'u', extra: { scopes: ['s'] } },
      resourceAttributes: {
        ...{ verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: 'log', namespace: 'a', name: 'p' },
      },
    },
  },
  {
    name: 'a path',
    attributes: { user: alice, verb: 'get', path: '/metrics' },
    spec: { user: 'alice', groups: ['devs'], nonResourceAttributes: { verb: 'get', path: '/metrics' } },
  },
])('it is asked about $name', async ({ attributes, spec }) => {
  const asked: unknown[] = []
  const lookups = new RemoteLookups()
  const authorizer = remoteAuthorizer(answering({ status: { allowed: true } }, asked), lookups)
  expect(await lookups.settle(async () => authorizer.authorize(attributes).allowed)).toBe(true)
  expect(asked).toEqual([reviewed('SubjectAccessReview', spec)])
})

test('each question is asked once, and answered by itself', async () => {
  const asked: unknown[] = []
  const lookups = new RemoteLookups()
  const authorizer = remoteAuthorizer(answering({ status: { allowed: true } }, asked), lookups)
  const names = ['p', 'q', 'p']
  await lookups.settle(async () => names.map((name) => authorizer.authorize({ ...pod, name })))
  expect(asked).toHaveLength(2)
  const heard: string[] = []
  const rulesOf = ({ username }: UserInfo): Promise<RuleSet> => {
    heard.push(username)
    return Promise.resolve(noRules)
  }
  const another = new RemoteLookups()
  const holds = remoteAuthorizer({ ...answering({}), rulesOf }, another)
  const bob = { ...alice, username: 'bob' }
  await another.settle(async () => [alice, bob, alice].map((who) => holds.rulesFor(who, '')))
  expect(heard).toEqual(['alice', 'bob'])
})

test('until it has answered nothing is allowed, and nothing is held', async () => {
  const lookups = new RemoteLookups()
  const authorizer = remoteAuthorizer(answering({ status: { allowed: true } }), lookups)
  const seen: unknown[] = []
  await lookups.settle(async () => seen.push(authorizer.authorize(pod), authorizer.rulesFor(alice, '')))
  expect(seen).toEqual([
    ...[{ allowed: false, reason: '' }, noRules],
    ...[
      { allowed: true, reason: '' },
      { ...noRules, incomplete: true },
    ],
  ])
})

test.each<[string, object, object]>([
  ['yes', { status: { allowed: true, reason: 'a binding' } }, { allowed: true, reason: 'a binding' }],
  ['no', { status: { allowed: false } }, { allowed: false, reason: '' }],
  ['no, whatever else is true', { status: { allowed: 'true', denied: false } }, { allowed: false, reason: '' }],
  ['nothing, which allows nothing', {}, { allowed: false, reason: '' }],
])('the cluster says %s', async (_, answer, decision) => {
  const lookups = new RemoteLookups()
  const authorizer = remoteAuthorizer(answering(answer), lookups)
  expect(await lookups.settle(async () => authorizer.authorize(pod))).toEqual(decision)
})

test.each<[string, object, boolean]>([
  ['yes', { status: { allowed: true } }, true],
  ['nothing, which allows nothing', {}, false],
])('of what we may ourselves it says %s', async (_, answer, may) => {
  const asked: unknown[] = []
  const { lookups, mayOurselves } = worldOf(answering(answer, asked))
  const pods = { group: '', version: 'v1', resource: 'pods' }
  expect(await lookups.settle(async () => mayOurselves('create', pods as ServedKind))).toBe(may)
  expect(asked).toEqual([reviewed('SelfSubjectAccessReview', { resourceAttributes: { verb: 'create', ...pods } })])
})

test('what is held in one namespace is not asked: it would be more than is known', () => {
  const authorizer = remoteAuthorizer(answering({}), new RemoteLookups())
  expect(() => authorizer.rulesFor(alice, 'a')).toThrow('only what is held in all namespaces can be asked')
})
