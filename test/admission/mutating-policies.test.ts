/** MutatingAdmissionPolicy, as clients see it: a whole control plane changes what they send. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install, objectOf } from '../support/definitions.ts'
import { failure, invalidObject } from '../support/refusal.ts'
import { patchReply, startWebhookServer, type WebhookServer } from '../support/webhook-server.ts'
import { type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire
let server: WebhookServer

const group = '/apis/admissionregistration.k8s.io/v1'
const policies = `${group}/mutatingadmissionpolicies`
const bindings = `${group}/mutatingadmissionpolicybindings`
const hooks = `${group}/mutatingwebhookconfigurations`
const maps = '/api/v1/namespaces/team-a/configmaps'
const deployments = '/apis/apps/v1/namespaces/team-a/deployments'
const merge = 'application/merge-patch+json'

beforeAll(async () => {
  server = await startWebhookServer()
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'team-a', labels: { tier: 'gold' } } })
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})
afterEach(async () => {
  for (const path of [bindings, policies, hooks, maps, deployments]) await wire.must('DELETE', path)
})

type Part = Record<string, unknown>

const ruleOf = (resource: string, apiGroup = ''): Part => ({
  operations: ['CREATE', 'UPDATE'],
  apiGroups: [apiGroup],
  apiVersions: ['v1'],
  resources: [resource],
})
const onMaps = { resourceRules: [ruleOf('configmaps')] }
const onDeployments = { resourceRules: [ruleOf('deployments', 'apps')] }

const apply = (expression: string): Part => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patch = (...operations: readonly string[]): Part => ({
  patchType: 'JSONPatch',
  jsonPatch: { expression: `[${operations.map((o) => `JSONPatch{${o}}`).join(', ')}]` },
})
const annotate = (key: string, value: string): Part =>
  apply(`Object{metadata: Object.metadata{annotations: {"${key}": ${value}}}}`)

async function enforce(name: string, spec: Part, bound: Part = {}): Promise<void> {
  const whole = { matchConstraints: onMaps, reinvocationPolicy: 'Never', ...spec }
  await wire.must('POST', policies, { metadata: { name }, spec: whole })
  await wire.must('POST', bindings, { metadata: { name: `${name}-binding` }, spec: { policyName: name, ...bound } })
}

const map = (name: string, data: Part = {}, metadata: Part = {}): Part => ({ metadata: { name, ...metadata }, data })
const made = (name: string, data?: Part, metadata?: Part): Promise<AnswerBody> =>
  wire.must('POST', maps, map(name, data, metadata))
const annotationsOf = ({ metadata }: AnswerBody): unknown => metadata.annotations

const labels = { app: 'x' }
const deployment = (name: string, spec: Part = {}, pod: Part = {}): Part => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }], ...pod } },
    ...spec,
  },
})

describe('a policy with a binding', () => {
  it('changes what its rules name as soon as it is acknowledged, creates and updates', async () => {
    await enforce('p', { mutations: [annotate('seen', 'request.operation')] })
    expect(annotationsOf(await made('a'))).toEqual({ seen: 'CREATE' })
    const body = await wire.must('PATCH', `${maps}/a`, { data: { x: 'y' } }, merge)
    expect(annotationsOf(body)).toEqual({ seen: 'UPDATE' })
    expect((await wire.must('POST', deployments, deployment('d'))).metadata.annotations).toBeUndefined()
  })

  it('without a binding does nothing, and with its binding gone no more', async () => {
    await enforce('p', { mutations: [annotate('a', '"b"')] })
    await wire.must('DELETE', `${bindings}/p-binding`)
    expect(annotationsOf(await made('a'))).toBeUndefined()
  })

  it('owns nothing of what it changes', async () => {
    await enforce('p', { mutations: [annotate('a', '"b"')] })
    const { metadata } = await made('a', { k: 'v' })
    expect(JSON.stringify(metadata.managedFields)).not.toContain('annotations')
  })

  it('lays configurations over, patches, and sees what it did before', async () => {
    await enforce('p', {
      matchConstraints: onDeployments,
      variables: [{ name: 'side', expression: '"side" + "car"' }],
      mutations: [
        apply('Object{spec: Object.spec{replicas: 2}}'),
        patch('op: "replace", path: "/spec/replicas", value: object.spec.replicas * 10'),
        apply(`Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
          containers: [Object.spec.template.spec.containers{name: variables.side, image: "s"}]}}}}`),
        patch(
          'op: "add", path: "/metadata/labels", value: {}',
          'op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("ex.io/x"), value: ' +
            'string(size(object.spec.template.spec.containers))',
        ),
      ],
    })
    const { spec, metadata } = await wire.must('POST', deployments, deployment('d'))
    expect(spec).toMatchObject({ replicas: 20 })
    expect(metadata.labels).toEqual({ 'ex.io/x': '2' })
    // With the defaults of what it added.
    const template = spec?.['template'] as { spec: { containers: unknown[] } }
    expect(template.spec.containers).toMatchObject([
      { name: 'c', image: 'i' },
      { name: 'sidecar', image: 's', imagePullPolicy: 'Always', terminationMessagePath: '/dev/termination-log' },
    ])
  })

  it('leaves the object alone if a test of its patch does not hold', async () => {
    await enforce('p', {
      mutations: [patch('op: "test", path: "/data/a", value: "1"', 'op: "add", path: "/data/b", value: "2"')],
    })
    expect((await made('no', { a: '0' }))['data']).toEqual({ a: '0' })
    expect((await made('yes', { a: '1' }))['data']).toEqual({ a: '1', b: '2' })
  })

  it('makes what is then validated like anything else', async () => {
    await enforce('p', { mutations: [patch('op: "add", path: "/data/not~1valid", value: "x"')] })
    const { body } = await wire.call('POST', maps, map('a', { k: 'v' }))
    expect(body).toEqual(
      invalidObject({ kind: 'ConfigMap', name: 'a' }, [
        'data[not/valid]: Invalid value: "not/valid": a valid config key must consist of alphanumeric ' +
          "characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for " +
          "validation is '[-._a-zA-Z0-9]+')",
      ]),
    )
  })

  it('changes what validating policies see', async () => {
    await enforce('p', { mutations: [annotate('a', '"b"')] })
    const names = [`${group}/validatingadmissionpolicies`, `${group}/validatingadmissionpolicybindings`] as const
    await wire.must('POST', names[0], {
      metadata: { name: 'v' },
      spec: {
        matchConstraints: onMaps,
        validations: [{ expression: 'object.metadata.annotations.a != "b"', message: 'seen' }],
      },
    })
    await wire.must('POST', names[1], {
      metadata: { name: 'v' },
      spec: { policyName: 'v', validationActions: ['Deny'] },
    })
    expect((await wire.call('POST', maps, map('a'))).body).toEqual(
      failure({
        message: "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'v' with binding 'v' denied request: seen",
        reason: 'Invalid',
        details: {
          name: 'a',
          kind: 'configmaps',
          causes: [{ message: "ValidatingAdmissionPolicy 'v' with binding 'v' denied request: seen" }],
        },
        code: 422,
      }),
    )
    for (const name of names) await wire.must('DELETE', name)
  })

  it('changes custom resources, in the version its rules name', async () => {
    const schema = objectOf({ spec: objectOf({ n: { type: 'integer' }, m: { type: 'integer', default: 7 } }) })
    const version = (name: string): Part => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: schema },
    })
    await install(
      plane,
      definition({ plural: 'pandas', kind: 'Panda', versions: [version('v1'), version('v2')] as never }),
    )
    await enforce('p', {
      matchConstraints: { resourceRules: [ruleOf('pandas', 'ex.io')] },
      mutations: [
        apply('Object{spec: Object.spec{n: 1}, metadata: Object.metadata{annotations: {"v": object.apiVersion}}}'),
      ],
    })
    for (const v of ['v1', 'v2']) {
      const body = await wire.must('POST', `/apis/ex.io/${v}/namespaces/team-a/pandas`, {
        apiVersion: `ex.io/${v}`,
        kind: 'Panda',
        metadata: { name: v },
      })
      expect(body).toMatchObject({
        apiVersion: `ex.io/${v}`,
        metadata: { annotations: { v: 'ex.io/v1' } },
        spec: { n: 1, m: 7 },
      })
    }
  })

  it('changes statuses and scales, if its rules name them', async () => {
    await wire.must('POST', deployments, deployment('d', { replicas: 1 }))
    await enforce('scale', {
      matchConstraints: { resourceRules: [ruleOf('deployments/scale', 'apps')] },
      mutations: [apply('Object{spec: Object.spec{replicas: object.spec.replicas > 5 ? 5 : object.spec.replicas}}')],
    })
    const scaled = await wire.must('PATCH', `${deployments}/d/scale`, { spec: { replicas: 9 } }, merge)
    expect(scaled.spec).toEqual({ replicas: 5 })
    await enforce('status', {
      matchConstraints: { resourceRules: [ruleOf('namespaces/status')] },
      mutations: [
        apply(
          'Object{status: Object.status{conditions: [Object.status.conditions{type: "Mine", message: "mutated"}]}}',
        ),
      ],
    })
    const conditions = [{ type: 'Mine', status: 'Unknown' }]
    const body = await wire.must('PATCH', '/api/v1/namespaces/team-a/status', { status: { conditions } }, merge)
    expect(body.status).toMatchObject({ conditions: [{ type: 'Mine', status: 'Unknown', message: 'mutated' }] })
  })

  it('wants only some objects: match conditions, selectors, namespaces', async () => {
    const seen = { mutations: [annotate('seen', '"yes"')] }
    const isSeen = async (name: string, of: Part = {}): Promise<boolean> =>
      annotationsOf(await wire.must('POST', `${maps}?dryRun=All`, map(name, {}, { labels: of }))) !== undefined
    await enforce('p', { ...seen, matchConditions: [{ name: 'c', expression: 'object.metadata.name == "hot"' }] })
    expect([await isSeen('hot'), await isSeen('cold')]).toEqual([true, false])
    const put = (spec: Part): Promise<unknown> => wire.must('PATCH', `${policies}/p`, { spec }, merge)
    await put({ matchConditions: null, matchConstraints: { objectSelector: { matchLabels: { a: 'b' } } } })
    expect([await isSeen('x', { a: 'b' }), await isSeen('x')]).toEqual([true, false])
    await put({ matchConstraints: { objectSelector: null, namespaceSelector: { matchLabels: { tier: 'tin' } } } })
    expect(await isSeen('x')).toBe(false)
  })

  it('is asked about a namespace without a name by the labels it has', async () => {
    await enforce('p', {
      matchConstraints: {
        namespaceSelector: { matchLabels: { tier: 'tin' } },
        resourceRules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['namespaces'] }],
      },
      mutations: [apply("Object{metadata: Object.metadata{annotations: {'seen': 'yes'}}}")],
    })
    const seenWith = async (labels: Part): Promise<unknown> => {
      const { metadata } = await wire.must('POST', '/api/v1/namespaces', { metadata: { generateName: 'n-', labels } })
      return metadata.annotations?.['seen']
    }
    expect([await seenWith({ tier: 'tin' }), await seenWith({ tier: 'gold' })]).toEqual(['yes', undefined])
  })

  it('is never asked about policies, nor about deletions', async () => {
    const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }
    await enforce('p', {
      matchConstraints: { resourceRules: [all] },
      mutations: [apply('Object{spec: object.missing}')],
    })
    expect((await wire.call('POST', maps, map('a'))).status).toBe(403)
    expect((await wire.call('DELETE', `${bindings}/p-binding`)).status).toBe(200)
    await made('a')
    await wire.must('POST', bindings, { metadata: { name: 'p-binding' }, spec: { policyName: 'p' } })
    expect((await wire.call('DELETE', `${maps}/a`)).status).toBe(200)
  })
})

describe('parameters', () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const all = apply('Object{metadata: Object.metadata{annotations: params.data}}')

  it('are evaluated one after the other', async () => {
    for (const [name, data] of [
      ['one', { a: '1' }],
      ['two', { b: '2', c: '3' }],
    ] as const) {
      await made(name, data, { labels: { of: 'p' } })
    }
    const paramRef = { selector: { matchLabels: { of: 'p' } }, parameterNotFoundAction: 'Deny' }
    await enforce('p', { paramKind, mutations: [all] }, { paramRef })
    expect(annotationsOf(await made('m'))).toEqual({ a: '1', b: '2', c: '3' })
  })

  it('that are missing may be passed over, or are a fault of the binding', async () => {
    await enforce(
      'p',
      { paramKind, mutations: [all] },
      { paramRef: { name: 'gone', parameterNotFoundAction: 'Allow' } },
    )
    expect(annotationsOf(await made('m'))).toBeUndefined()
    const paramRef = { name: 'gone', parameterNotFoundAction: 'Deny' }
    await wire.must('PATCH', `${bindings}/p-binding`, { spec: { paramRef } }, merge)
    const message =
      "policy 'p' with binding 'p-binding' denied request: failed to configure binding: no params found for " +
      'policy binding with `Deny` parameterNotFoundAction'
    expect((await wire.call('POST', maps, map('n'))).body).toEqual(
      failure({
        message,
        reason: 'Forbidden',
        details: {
          name: 'n',
          kind: 'configmaps',
          causes: [
            {
              message,
            },
          ],
        },
        code: 403,
      }),
    )
  })

  it('of a kind that is not served are a fault of the policy', async () => {
    await enforce('p', { paramKind: { apiVersion: 'ex.io/v9', kind: 'No' }, mutations: [all] })
    expect((await wire.call('POST', maps, map('n'))).body).toEqual(
      failure({
        message:
          'policy "p" denied request: failed to configure policy: failed to find resource referenced by ' +
          "paramKind: 'ex.io/v9, Kind=No'",
        reason: 'Forbidden',
        details: {
          name: 'n',
          kind: 'configmaps',
          causes: [
            {
              message:
                'policy "p" denied request: failed to configure policy: failed to find resource referenced ' +
                "by paramKind: 'ex.io/v9, Kind=No'",
            },
          ],
        },
        code: 403,
      }),
    )
  })
})

describe('what a policy does wrong', () => {
  const rows: readonly {
    readonly name: string
    readonly spec: Part
    readonly want: string
    readonly reason?: string
  }[] = [
    {
      name: 'an expression that fails',
      spec: { mutations: [annotate('a', 'object.data.missing')] },
      want:
        `expression 'Object{metadata: Object.metadata{annotations: {"a": object.data.missing}}}' resulted in ` +
        'error: no such key: missing',
    },
    {
      name: 'a match condition that fails',
      spec: {
        matchConditions: [{ name: 'c', expression: 'object.data.missing == ""' }],
        mutations: [apply('Object{}')],
      },
      want: `expression 'object.data.missing == ""' resulted in error: no such key: missing`,
    },
    {
      name: 'an object that is not named after its place',
      spec: { mutations: [apply('Object{metadata: Object.metadatax{}}')] },
      want:
        'type mismatch: unexpected type name "Object.metadatax", expected "Object.metadata", which matches ' +
        'field name path from root Object type',
    },
    {
      name: 'a field that the kind has not',
      spec: { mutations: [apply('Object{spec: Object.spec{}}')] },
      want: 'error applying patch: failed to convert patch object to typed object: .spec: field not declared in schema',
    },
    {
      name: 'an operation that does not apply',
      spec: { mutations: [patch('op: "remove", path: "/data/missing"')] },
      want:
        "JSON Patch: error in remove for path: '/data/missing': Unable to remove nonexistent key: missing: " +
        'missing value',
    },
  ]
  it.each(rows)('$name refuses the request', async ({ spec, want }) => {
    await enforce('p', spec)
    const message = `policy 'p' with binding 'p-binding' denied request: ${want}`
    const { body } = await wire.call('POST', maps, map('m', { a: 'b' }))
    expect(body).toMatchObject({ message, reason: 'Invalid', code: 403, details: { causes: [{ message }] } })
  })
  it.each(rows)('$name is passed over with failurePolicy Ignore', async ({ spec }) => {
    await enforce('p', { failurePolicy: 'Ignore', ...spec })
    expect((await made('m', { a: 'b' }))['data']).toEqual({ a: 'b' })
  })

  it('is told completely: the first in the message, all in the details', async () => {
    await enforce('p', { mutations: [annotate('a', 'object.data.x'), annotate('a', 'object.data.y')] })
    await enforce('q', { mutations: [annotate('a', 'object.data.z')] })
    const { details } = (await wire.call('POST', maps, map('m', { a: 'b' }))).body as {
      details?: { causes?: { message: string }[] }
    }
    expect(details?.causes?.map(({ message }) => /policy '(.)'.*no such key: (.)$/.exec(message)?.slice(1))).toEqual([
      ['p', 'x'],
      ['p', 'y'],
      ['q', 'z'],
    ])
  })

  it('an atomic list or struct is not set by an apply configuration', async () => {
    await enforce('p', {
      matchConstraints: onDeployments,
      mutations: [apply('Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"l": "v"}}}}')],
    })
    expect((await wire.call('POST', deployments, deployment('d'))).body).toEqual(
      failure({
        message:
          "policy 'p' with binding 'p-binding' denied request: error applying patch: invalid " +
          'ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector',
        reason: 'Invalid',
        details: {
          name: 'd',
          group: 'apps',
          kind: 'deployments',
          causes: [
            {
              message:
                "policy 'p' with binding 'p-binding' denied request: error applying patch: invalid " +
                'ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector',
            },
          ],
        },
        code: 403,
      }),
    )
  })

  it.each([
    {
      leaves: 'a field that there is not',
      operation: 'op: "add", path: "/spec/replicasx", value: 1',
      message: 'strict decoding error: unknown field "spec.replicasx"',
    },
    {
      leaves: 'a field of another type',
      operation: 'op: "add", path: "/spec/replicas", value: "x"',
      message: 'json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    },
    {
      leaves: 'a list',
      operation: 'op: "replace", path: "", value: []',
      message:
        `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ` +
        `struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" ` +
        '}',
    },
  ])('a patch that leaves $leaves is an error whatever the failurePolicy', async ({ operation, message }) => {
    await enforce('p', { failurePolicy: 'Ignore', matchConstraints: onDeployments, mutations: [patch(operation)] })
    expect((await wire.call('POST', deployments, deployment('d'))).body).toEqual(
      failure({
        message: `Internal error occurred: ${message}`,
        reason: 'InternalError',
        details: { causes: [{ message }] },
        code: 500,
      }),
    )
  })

  it('a patch that takes away the name leaves an object that is not valid', async () => {
    await enforce('p', { mutations: [patch('op: "remove", path: "/metadata"')] })
    expect((await wire.call('POST', maps, map('m'))).body).toEqual(
      invalidObject({ kind: 'ConfigMap', name: '' }, [
        'metadata.name: Required value: name or generateName is required',
      ]),
    )
  })

  it('an expression that costs too much', async () => {
    await enforce('p', {
      mutations: [annotate('a', 'string(lists.range(2000).all(a, lists.range(2000).all(b, a + b >= 0)))')],
    })
    expect((await wire.call('POST', maps, map('m'))).body).toEqual(
      failure({
        message:
          "policy 'p' with binding 'p-binding' denied request: expression 'Object{metadata: " +
          'Object.metadata{annotations: {"a": string(lists.range(2000).all(a, lists.range(2000).all(b, a + ' +
          "b >= 0)))}}}' resulted in error: operation cancelled: actual cost limit exceeded",
        reason: 'Invalid',
        details: {
          name: 'm',
          kind: 'configmaps',
          causes: [
            {
              message:
                "policy 'p' with binding 'p-binding' denied request: expression 'Object{metadata: " +
                'Object.metadata{annotations: {"a": string(lists.range(2000).all(a, ' +
                "lists.range(2000).all(b, a + b >= 0)))}}}' resulted in error: operation cancelled: actual " +
                'cost limit exceeded',
            },
          ],
        },
        code: 403,
      }),
    )
  })
})

describe('a second round', () => {
  const count = annotate('n', 'string(int(object.metadata.annotations.n) + 1)')
  const counted = async (name = 'm'): Promise<unknown> =>
    annotationsOf(await made(name, {}, { annotations: { n: '0' } }))

  it('is for policies that want it if something changed after them', async () => {
    await enforce('p1', { reinvocationPolicy: 'IfNeeded', mutations: [count] })
    await enforce('p2', { reinvocationPolicy: 'IfNeeded', mutations: [count] })
    await enforce('p3', { mutations: [count] })
    // Three in the first round, the first two in the second, and no third.
    expect(await counted()).toEqual({ n: '5' })
  })

  it('knows each parameter of a binding by itself', async () => {
    for (const name of ['one', 'two']) await made(name, { [name]: 'x' }, { labels: { of: 'p' } })
    const paramRef = { selector: { matchLabels: { of: 'p' } }, parameterNotFoundAction: 'Deny' }
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
    const all = apply('Object{metadata: Object.metadata{annotations: params.data}}')
    await enforce('p1', { paramKind, reinvocationPolicy: 'IfNeeded', mutations: [all, count] }, { paramRef })
    await enforce('p2', { mutations: [count] })
    expect(await counted()).toEqual({ n: '5', one: 'x', two: 'x' })
  })

  it('comes after what webhooks change, and they may ask for it as well', async () => {
    server.answer = ({ object }) =>
      patchReply({ op: 'add', path: '/metadata/annotations/hook', value: String(object?.metadata.annotations?.['n']) })
    await wire.must('POST', hooks, {
      metadata: { name: 'hook' },
      webhooks: [
        {
          name: 'hook.ex.io',
          clientConfig: { url: `${server.url}/x`, caBundle: server.caBundle },
          rules: [ruleOf('configmaps')],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          // As long as there is: the machine may be busy.
          timeoutSeconds: 30,
        },
      ],
    })
    await enforce('never', { mutations: [count] })
    // The webhook sees what the policy made; the policy is not asked again.
    expect(await counted('a')).toEqual({ n: '1', hook: '1' })
    await enforce('needed', { reinvocationPolicy: 'IfNeeded', mutations: [count] })
    expect(await counted('b')).toEqual({ n: '3', hook: '2' })
    const webhooks = [
      { ...((await wire.must('GET', `${hooks}/hook`))['webhooks'] as Part[])[0], reinvocationPolicy: 'IfNeeded' },
    ]
    await wire.must('PATCH', `${hooks}/hook`, { webhooks }, merge)
    expect(await counted('c')).toEqual({ n: '3', hook: '3' })
  })

  it('does not change what is the same the second time', async () => {
    await enforce('p', { reinvocationPolicy: 'IfNeeded', mutations: [annotate('a', '"b"'), annotate('c', '"d"')] })
    expect(await counted()).toEqual({ n: '0', a: 'b', c: 'd' })
  })
})

it('has an author who may read its parameters', async () => {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const [name, alice] = ['policy-author', wire.as('alice')]
  const rule = { apiGroups: ['admissionregistration.k8s.io'], resources: ['*'], verbs: ['*'] }
  await wire.must('POST', `${rbac}/clusterroles`, { metadata: { name }, rules: [rule] })
  await wire.must('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  })
  const paramKind = { apiVersion: 'v1', kind: 'Secret' }
  const spec = { matchConstraints: onMaps, reinvocationPolicy: 'Never', mutations: [apply('Object{}')] }
  await alice.must('POST', policies, { metadata: { name: 'p' }, spec })
  const { body } = await alice.call('PATCH', `${policies}/p`, { spec: { paramKind } }, merge)
  const why =
    'Forbidden: user &{alice  [system:authenticated] map[]} must have "get" permission on all objects of the ' +
    'referenced paramKind (kind=Secret, apiVersion=v1)'
  expect(body).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `MutatingAdmissionPolicy.admissionregistration.k8s.io "p" is invalid: spec.paramKind: ${why}`,
    reason: 'Invalid',
    details: {
      name: 'p',
      group: 'admissionregistration.k8s.io',
      kind: 'MutatingAdmissionPolicy',
      causes: [{ reason: 'FieldValueForbidden', field: 'spec.paramKind', message: why }],
    },
    code: 422,
  })
})

it('is counted, by what came of it', async () => {
  // Counting begins when somebody first asks, or half a second after the start.
  await plane.fetch('/metrics')
  await enforce('counted', { mutations: [annotate('a', '"b"')] })
  await made('m')
  await wire.must('PATCH', `${policies}/counted`, { spec: { mutations: [annotate('a', 'object.data.x')] } }, merge)
  await wire.call('POST', maps, map('n'))
  const text = await (await plane.fetch('/metrics')).text()
  const line = (outcome: string): string =>
    `apiserver_mutating_admission_policy_check_total{policy="counted",policy_binding="counted-binding",` +
    `error_type="${outcome}"} ` +
    '1'
  expect(text).toContain(line('no_error'))
  expect(text).toContain(line('invalid_error'))
  expect(text).toContain('apiserver_mutating_admission_policy_check_duration_seconds_count{policy="counted"')
})
