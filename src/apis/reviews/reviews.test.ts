import { describe, expect, test } from 'vitest'
import {
  allow,
  clusterRole,
  clusterRoleBinding,
  FakeRbacSource,
  group,
  role,
  roleBinding,
  user,
} from '../../../test/support/fake-rbac-source.ts'
import { countingIds, testPki } from '../../../test/support/identity-fixtures.ts'
import { failure, invalidObject } from '../../../test/support/refusal.ts'
import { authenticatorChain } from '../../authn/authenticator-chain.ts'
import type { Authenticator } from '../../authn/authn.ts'
import { ServiceAccountTokens } from '../../authn/service-account-token.ts'
import type { TokenObjectLookup } from '../../authn/tokens.ts'
import { RbacAuthorizer } from '../../authz/rbac-authorizer.ts'
import { mastersAuthorizer, unionAuthorizer } from '../../authz/union-authorizer.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { KubeObject, Status } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import { type ReviewHandlers, reviewHandlers } from './review-handlers.ts'

const issuer = 'https://kubernetes.default.svc'
const alice: UserInfo = {
  username: 'alice',
  uid: '7',
  groups: ['devs', 'system:authenticated'],
  extra: { scopes: ['a'] },
}

async function setUp(): Promise<{ handlers: ReviewHandlers; clock: FakeClock; objects: Map<string, KubeObject> }> {
  const clock = new FakeClock()
  const source = new FakeRbacSource()
  for (const object of [
    clusterRole('pods', allow('get', '', 'pods')),
    clusterRoleBinding('devs', 'pods', group('devs')),
    role('ns', 'secrets', allow('get', '', 'secrets', 's')),
    roleBinding('ns', 'secrets', 'Role/secrets', user('alice')),
    clusterRole('metrics', { verbs: ['get'], nonResourceURLs: ['/metrics'] }),
    clusterRoleBinding('metrics', 'metrics', user('bob')),
    clusterRoleBinding('lost', 'gone', user('bob')),
  ]) {
    source.put(object)
  }
  const objects = new Map<string, KubeObject>()
  const put = (resource: string, namespace: string, name: string, uid: string, spec?: object): void => {
    objects.set(`${resource}/${namespace}/${name}`, { metadata: { name, namespace, uid }, ...(spec ? { spec } : {}) })
  }
  put('serviceaccounts', 'ns', 'bot', 'bot-uid')
  put('pods', 'ns', 'p', 'p-uid', { serviceAccountName: 'bot', nodeName: 'n' })
  put('pods', 'ns', 'other', 'other-uid', { serviceAccountName: 'else' })
  put('secrets', 'ns', 's', 's-uid')
  put('nodes', '', 'n', 'n-uid')
  const find: TokenObjectLookup = (resource, namespace, name) => objects.get(`${resource}/${namespace}/${name}`)
  const { serviceAccountKeys: keys } = await testPki(clock)
  const tokens = new ServiceAccountTokens({
    issuer,
    audiences: [issuer],
    keys: () => keys,
    clock,
    ids: countingIds(),
    find,
  })
  const opaque: Authenticator = {
    authenticate: async (c) => (c.bearerToken === 'opaque' ? alice : undefined),
  }
  const chain = authenticatorChain([opaque, tokens], { allowsAnonymous: () => true })
  const handlers = reviewHandlers({
    authorizer: unionAuthorizer([mastersAuthorizer, new RbacAuthorizer(source, clock)]),
    authenticate: async (credentials) => chain.authenticate(credentials),
    tokens,
    audiences: [issuer],
    find,
    clock,
  })
  return { handlers, clock, objects }
}

interface Ask {
  readonly kind: string
  readonly spec?: object
  readonly metadata?: object
  readonly user?: UserInfo
  readonly namespace?: string
  readonly name?: string
}

async function ask({ handlers }: Pick<Awaited<ReturnType<typeof setUp>>, 'handlers'>, a: Ask): Promise<KubeObject> {
  const handler = handlers.kinds.get(a.kind) ?? handlers.subresources.get(a.kind)
  if (!handler) throw new Error(`no handler of ${a.kind}`)
  const question = { metadata: { ...a.metadata }, ...(a.spec ? { spec: a.spec } : {}) }
  const context = { user: a.user ?? alice, namespace: a.namespace ?? '', name: a.name ?? '', warn: () => undefined }
  try {
    return await handler(question, context)
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return error.toStatus() as unknown as KubeObject
  }
}

const sar = 'subjectaccessreviews.authorization.k8s.io'
const lsar = 'localsubjectaccessreviews.authorization.k8s.io'
const ssar = 'selfsubjectaccessreviews.authorization.k8s.io'
const podInAny = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'nowhere', name: 'p' } }
const podInNs = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: 'ns' } }
const metrics = { nonResourceAttributes: { verb: 'get', path: '/metrics' } }
const selecting = (fieldSelector?: object, labelSelector?: object): object => ({
  resourceAttributes: {
    ...podInNs.resourceAttributes,
    ...(fieldSelector ? { fieldSelector } : {}),
    ...(labelSelector ? { labelSelector } : {}),
  },
})
/** Upstream names no kind here. */
const invalid = (...faults: readonly string[]): Status =>
  invalidObject({ group: 'authorization.k8s.io', kind: '', name: '' }, faults)
const bad = (message: string): Status => failure({ message, reason: 'BadRequest', code: 400 })

const cases: readonly { name: string; when: Ask; status?: object; refusal?: Status }[] = [
  {
    name: 'may I: yes, and why; the namespace need not exist',
    when: { kind: ssar, spec: podInAny },
    status: {
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "devs" of ClusterRole "pods" to Group "devs"',
    },
  },
  {
    name: 'may I: no',
    when: { kind: ssar, spec: { resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'ns' } } },
    status: { allowed: false },
  },
  {
    name: 'may I, by name',
    when: {
      kind: ssar,
      spec: { resourceAttributes: { verb: 'get', resource: 'secrets', namespace: 'ns', name: 's' } },
    },
    status: { allowed: true, reason: 'RBAC: allowed by RoleBinding "secrets/ns" of Role "secrets" to User "alice"' },
  },
  { name: 'may I see a path', when: { kind: ssar, spec: metrics }, status: { allowed: false } },
  {
    name: 'may I do everything: a master may',
    when: {
      kind: ssar,
      user: { username: 'root', groups: ['system:masters'] },
      spec: { resourceAttributes: { verb: '*', group: '*', resource: '*' } },
    },
    status: { allowed: true },
  },
  {
    name: 'may they, with the roles that are missing',
    when: { kind: sar, spec: { ...podInNs, user: 'bob' } },
    status: { allowed: false, reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found' },
  },
  {
    name: 'may a group',
    when: { kind: sar, spec: { ...podInNs, groups: ['devs'] } },
    status: {
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "devs" of ClusterRole "pods" to Group "devs"',
    },
  },
  {
    name: 'the rights of who asks do not rub off',
    when: { kind: sar, user: { username: 'root', groups: ['system:masters'] }, spec: { ...podInNs, user: 'nobody' } },
    status: { allowed: false },
  },
  {
    name: 'neither of the two attributes',
    when: { kind: ssar, spec: {} },
    refusal: invalid(
      'spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or ' +
        'resourceAttributes must be specified',
    ),
  },
  {
    name: 'both',
    when: { kind: ssar, spec: { ...podInAny, ...metrics } },
    refusal: invalid(
      'spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/metrics"}: cannot be specified in ' +
        'combination with resourceAttributes',
    ),
  },
  {
    name: 'nobody to ask about',
    when: { kind: sar, spec: podInAny },
    refusal: invalid(`spec.user: Invalid value: "": at least one of user or group must be specified`),
  },
  {
    name: 'a question with a name',
    when: { kind: sar, spec: { ...podInAny, user: 'u' }, metadata: { name: 'x', creationTimestamp: null } },
    refusal: invalid(`metadata: Invalid value: {"name":"x"}: must be empty`),
  },
  {
    name: 'in one namespace',
    when: { kind: lsar, namespace: 'ns', metadata: { namespace: 'ns' }, spec: { ...podInNs, groups: ['devs'] } },
    status: {
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "devs" of ClusterRole "pods" to Group "devs"',
    },
  },
  {
    name: 'in the namespace of the URL where the body names none',
    when: { kind: lsar, namespace: 'ns', spec: { ...podInNs, user: 'x' } },
    status: { allowed: false },
  },
  {
    name: 'attack: asking about another namespace than the URL',
    when: { kind: lsar, namespace: 'ns', spec: { ...podInAny, user: 'x' } },
    refusal: invalid(`spec.resourceAttributes.namespace: Invalid value: "nowhere": must match metadata.namespace`),
  },
  {
    name: 'attack: a body of another namespace than the URL',
    when: { kind: lsar, namespace: 'default', metadata: { namespace: 'nowhere' }, spec: { ...podInAny, user: 'x' } },
    refusal: bad('spec.resourceAttributes.namespace must match namespace: default'),
  },
  {
    name: 'attack: asking about paths in a namespace',
    when: { kind: lsar, namespace: 'ns', spec: { ...metrics, user: 'bob' } },
    refusal: invalid(
      `spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/metrics"}: disallowed on this kind of request`,
    ),
  },
  {
    name: 'a local question with a name',
    when: { kind: lsar, namespace: 'ns', metadata: { name: 'x' }, spec: { ...podInNs, user: 'u' } },
    refusal: invalid(`metadata: Invalid value: {"name":"x"}: must be empty except for namespace`),
  },
  {
    name: 'what a selector picks: RBAC does not look at it',
    when: { kind: ssar, spec: selecting({ rawSelector: 'spec.nodeName=n' }, { rawSelector: 'a in (b)' }) },
    status: {
      allowed: true,
      reason: 'RBAC: allowed by ClusterRoleBinding "devs" of ClusterRole "pods" to Group "devs"',
    },
  },
  {
    name: 'selectors that can not be read are left out, and said',
    when: {
      kind: sar,
      spec: {
        user: 'x',
        ...selecting(
          {
            requirements: [
              { key: 'a', operator: 'In', values: ['b'] },
              { key: 'c', operator: 'Like', values: ['d'] },
            ],
          },
          { rawSelector: '&' },
        ),
      },
    },
    status: {
      allowed: false,
      evaluationError:
        'spec.resourceAttributes.fieldSelector partially ignored due to parse error; ' +
        'spec.resourceAttributes.labelSelector ignored due to parse error',
    },
  },
  {
    name: 'a selector in both forms',
    when: {
      kind: ssar,
      spec: selecting({ rawSelector: 'foo', requirements: [{ key: 'a', operator: 'In', values: ['b'] }] }),
    },
    refusal: invalid(
      'spec.resourceAttributes.fieldSelector.rawSelector: Invalid value: "foo": may not specified at the ' +
        'same time as requirements',
    ),
  },
  {
    name: 'a selector in neither form',
    when: { kind: ssar, spec: selecting(undefined, {}) },
    refusal: invalid(
      'spec.resourceAttributes.labelSelector.requirements: Required value: when ' +
        'spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required',
    ),
  },
  {
    name: 'requirements that say too little or too much',
    when: {
      kind: lsar,
      namespace: 'ns',
      spec: {
        user: 'x',
        ...selecting(
          { requirements: [{ operator: 'NotIn' }, { key: 'b', operator: 'Exists', values: ['c'] }] },
          { requirements: [{ key: 'a b', operator: 'Newer', values: ['-'] }] },
        ),
      },
    },
    refusal: invalid(
      'spec.resourceAttributes.fieldSelector.requirements[0].key: Required value: must be specified',
      'spec.resourceAttributes.fieldSelector.requirements[0].values: Required value: must be specified when ' +
        "`operator` is 'In' or 'NotIn'",
      'spec.resourceAttributes.fieldSelector.requirements[1].values: Forbidden: may not be specified when ' +
        "`operator` is 'Exists' or 'DoesNotExist'",
      'spec.resourceAttributes.labelSelector.requirements[0].key: Invalid value: "a b": name part must ' +
        `consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric ` +
        `character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is ` +
        `'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      'spec.resourceAttributes.labelSelector.requirements[0].values[0]: Invalid value: "-": a valid label ' +
        `must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and ` +
        `end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for ` +
        `validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    ),
  },
  {
    name: 'what may I do here',
    when: { kind: 'selfsubjectrulesreviews.authorization.k8s.io', spec: { namespace: 'ns' } },
    status: {
      resourceRules: [
        { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
        { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['s'] },
      ],
      nonResourceRules: [],
      incomplete: false,
    },
  },
  {
    name: 'what may I do, with the roles that are missing',
    when: {
      kind: 'selfsubjectrulesreviews.authorization.k8s.io',
      spec: { namespace: 'ns' },
      user: { username: 'bob', groups: [] },
    },
    status: {
      resourceRules: [],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
      incomplete: false,
      evaluationError: 'clusterrole.rbac.authorization.k8s.io "gone" not found',
    },
  },
  {
    name: 'what may I do nowhere',
    when: { kind: 'selfsubjectrulesreviews.authorization.k8s.io', spec: {} },
    refusal: bad('no namespace on request'),
  },
  {
    name: 'who am I',
    when: { kind: 'selfsubjectreviews.authentication.k8s.io' },
    status: {
      userInfo: { username: 'alice', uid: '7', groups: ['devs', 'system:authenticated'], extra: { scopes: ['a'] } },
    },
  },
  {
    name: 'whose token is this',
    when: { kind: 'tokenreviews.authentication.k8s.io', spec: { token: 'opaque' } },
    status: {
      authenticated: true,
      user: { username: 'alice', uid: '7', groups: ['devs', 'system:authenticated'], extra: { scopes: ['a'] } },
      audiences: [issuer],
    },
  },
  {
    name: 'nobody’s',
    when: { kind: 'tokenreviews.authentication.k8s.io', spec: { token: 'wrong' } },
    status: { user: {}, error: 'invalid bearer token' },
  },
  {
    name: 'a token for this server, shown to another',
    when: { kind: 'tokenreviews.authentication.k8s.io', spec: { token: 'opaque', audiences: ['vault'] } },
    status: { user: {}, error: `token audiences ["${issuer}"] is invalid for the target audiences ["vault"]` },
  },
  {
    name: 'no token',
    when: { kind: 'tokenreviews.authentication.k8s.io', spec: {} },
    refusal: bad('token is required for TokenReview in authentication'),
  },
]

describe('reviews', () => {
  test.each(cases)('$name', async ({ when, status, refusal }) => {
    const answer = await ask(await setUp(), when)
    if (refusal !== undefined) expect(answer).toEqual(refusal)
    else expect(answer['status']).toEqual(status)
  })
})

describe('a token request', () => {
  const kind = 'serviceaccounts/token'
  const to = { kind, namespace: 'ns', name: 'bot' }
  const bind = (boundObjectRef: object): Ask => ({ ...to, spec: { expirationSeconds: 600, boundObjectRef } })

  test('is answered with a token that authenticates', async () => {
    const world = await setUp()
    const answer = await ask(world, { ...to, spec: { expirationSeconds: 600 } })
    if (typeof answer === 'string') throw new Error(answer)
    expect(answer).toMatchObject({
      metadata: { name: 'bot', namespace: 'ns', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { audiences: [issuer], expirationSeconds: 600 },
      status: { expirationTimestamp: '2026-01-01T00:10:00Z' },
    })
    const { token } = answer['status'] as { token: string }
    const review = await ask(world, {
      kind: 'tokenreviews.authentication.k8s.io',
      spec: { token, audiences: [issuer, 'x'] },
    })
    expect(review['status']).toMatchObject({
      authenticated: true,
      user: { username: 'system:serviceaccount:ns:bot', uid: 'bot-uid' },
      audiences: [issuer],
    })
  })

  test('for another audience is good there alone', async () => {
    const world = await setUp()
    const answer = await ask(world, { ...to, spec: { audiences: ['vault'] } })
    const { token } = answer['status'] as { token: string }
    const review = async (audiences?: string[]): Promise<unknown> =>
      (
        await ask(world, {
          kind: 'tokenreviews.authentication.k8s.io',
          spec: { token, ...(audiences ? { audiences } : {}) },
        })
      )['status']
    expect(await review(['vault', 'x'])).toMatchObject({ authenticated: true, audiences: ['vault'] })
    expect(await review()).toEqual({ user: {}, error: 'invalid bearer token' })
  })

  test('bound to a pod names pod and node, and ends with the pod', async () => {
    const world = await setUp()
    const answer = await ask(world, bind({ kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'p-uid' }))
    const { token } = answer['status'] as { token: string }
    const review = async (): Promise<unknown> =>
      (await ask(world, { kind: 'tokenreviews.authentication.k8s.io', spec: { token } }))['status']
    expect(await review()).toMatchObject({
      user: {
        extra: {
          'authentication.kubernetes.io/pod-name': ['p'],
          'authentication.kubernetes.io/node-name': ['n'],
          'authentication.kubernetes.io/node-uid': ['n-uid'],
        },
      },
    })
    world.objects.delete('nodes//n')
    expect(await review()).toMatchObject({ authenticated: true })
    world.objects.delete('pods/ns/p')
    expect(await review()).toEqual({ user: {}, error: 'invalid bearer token' })
  })

  test.each<{ name: string; when: Ask; refusal: Status }>([
    {
      name: 'too short',
      when: { ...to, spec: { expirationSeconds: 5 } },
      refusal: invalidObject({ group: 'authentication.k8s.io', kind: 'TokenRequest', name: '' }, [
        'spec.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
      ]),
    },
    {
      name: 'too long',
      when: { ...to, spec: { expirationSeconds: 2 ** 33 } },
      refusal: invalidObject({ group: 'authentication.k8s.io', kind: 'TokenRequest', name: '' }, [
        'spec.expirationSeconds: Invalid value: 8589934592: may not specify a duration larger than 2^32 seconds',
      ]),
    },
    {
      name: 'no such account',
      when: { ...to, name: 'x' },
      refusal: failure({
        message: 'serviceaccounts "x" not found',
        reason: 'NotFound',
        details: { name: 'x', kind: 'serviceaccounts' },
        code: 404,
      }),
    },
    {
      name: 'another name in the body',
      when: { ...to, metadata: { name: 'y' } },
      refusal: bad('the name of the provided object (y) does not match the name on the URL (bot)'),
    },
    {
      name: 'another namespace in the body',
      when: { ...to, metadata: { namespace: 'y' } },
      refusal: bad('the namespace of the provided object (y) does not match the namespace on the URL (ns)'),
    },
    {
      name: 'no such pod',
      when: bind({ kind: 'Pod', apiVersion: 'v1', name: 'x' }),
      refusal: failure({
        message: 'pods "x" not found',
        reason: 'NotFound',
        details: { name: 'x', kind: 'pods' },
        code: 404,
      }),
    },
    {
      name: 'a kind that can not be bound',
      when: bind({ kind: 'Foo', apiVersion: 'v1', name: 'x' }),
      refusal: bad('cannot bind token to object of type /v1, Kind=Foo'),
    },
    {
      name: 'a Pod of another group',
      when: bind({ kind: 'Pod', apiVersion: 'ex.io/v1', name: 'p' }),
      refusal: bad('cannot bind token to object of type ex.io/v1, Kind=Pod'),
    },
    {
      name: 'attack: the pod of another account',
      when: bind({ kind: 'Pod', apiVersion: 'v1', name: 'other' }),
      refusal: bad('cannot bind token for serviceaccount "bot" to pod running with different serviceaccount name.'),
    },
    {
      name: 'a pod that has been made anew',
      when: bind({ kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'u' }),
      refusal: failure({
        message:
          'Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (u) does not ' +
          'match the UID in record. The object might have been deleted and then recreated',
        reason: 'Conflict',
        details: { name: 'p', kind: 'Pod' },
        code: 409,
      }),
    },
  ])('is refused: $name', async ({ when, refusal }) => {
    expect(await ask(await setUp(), when)).toEqual(refusal)
  })
})
