/** ValidatingAdmissionPolicy, as clients see it: a whole control plane refuses, warns and takes notes. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install, objectOf } from '../support/definitions.ts'
import { failure } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire

const group = '/apis/admissionregistration.k8s.io/v1'
const policies = `${group}/validatingadmissionpolicies`
const bindings = `${group}/validatingadmissionpolicybindings`
const maps = '/api/v1/namespaces/team-a/configmaps'
const deployments = '/apis/apps/v1/namespaces/team-a/deployments'

beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  wire = new Wire(plane)
  for (const [name, labels] of [
    ['team-a', { tier: 'gold' }],
    ['team-b', { tier: 'tin' }],
  ] as const) {
    await wire.must('POST', '/api/v1/namespaces', { metadata: { name, labels } })
  }
})
afterAll(() => plane[Symbol.asyncDispose]())
afterEach(async () => {
  for (const path of [bindings, policies, maps, deployments]) await wire.must('DELETE', path)
})

type Part = Record<string, unknown>

const onMaps = {
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
}

const policy = (name: string, spec: Part): Part => ({
  metadata: { name },
  spec: { matchConstraints: { resourceRules: [onMaps] }, ...spec },
})
const binding = (name: string, policyName: string, spec: Part = {}): Part => ({
  metadata: { name },
  spec: { policyName, validationActions: ['Deny'], ...spec },
})

async function enforce(spec: Part, bound: Part = {}): Promise<void> {
  await wire.must('POST', policies, policy('p.ex.io', spec))
  await wire.must('POST', bindings, binding('b.ex.io', 'p.ex.io', bound))
}

const map = (name: string, data: Part = {}, more: Part = {}): Part => ({ metadata: { name, ...more }, data })

const refused = (name: string, why: string): string =>
  `configmaps "${name}" is forbidden: ValidatingAdmissionPolicy 'p.ex.io' with binding 'b.ex.io' denied request: ${why}`

it('a namespace that is not there can not be looked at: connections are not refused before', async () => {
  const rule = { operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec'] }
  await enforce({
    matchConstraints: { resourceRules: [rule], namespaceSelector: { matchLabels: { tier: 'gold' } } },
    validations: [{ expression: 'true' }],
  })
  expect((await wire.call('POST', '/api/v1/namespaces/nowhere/pods/p/exec?command=ls')).body).toEqual(
    failure({
      message: 'namespaces "nowhere" not found',
      reason: 'NotFound',
      details: { name: 'nowhere', kind: 'namespaces' },
      code: 404,
    }),
  )
})

describe('a policy with a binding', () => {
  it('is in force as soon as it is acknowledged, for what its rules name', async () => {
    await enforce({
      matchConstraints: { resourceRules: [{ ...onMaps, apiGroups: ['apps'], resources: ['deployments'] }] },
      validations: [
        {
          expression: 'object.spec.replicas > 1',
          messageExpression: "'wants replicas > 1, got ' + string(object.spec.replicas)",
        },
      ],
    })
    const labels = { app: 'x' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const deployment = (replicas: number): Part => ({
      metadata: { name: `d${replicas}` },
      spec: { replicas, selector: { matchLabels: labels }, template },
    })
    const answer = await wire.call('POST', deployments, deployment(1))
    const text = "ValidatingAdmissionPolicy 'p.ex.io' with binding 'b.ex.io' denied request: wants replicas > 1, got 1"
    expect(answer.status).toBe(422)
    expect(answer.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: `deployments.apps "d1" is forbidden: ${text}`,
      reason: 'Invalid',
      details: { name: 'd1', group: 'apps', kind: 'deployments', causes: [{ message: text }] },
      code: 422,
    })
    expect((await wire.call('POST', deployments, deployment(2))).status).toBe(201)
    expect((await wire.call('POST', maps, map('a'))).status).toBe(201)
  })

  it('without a binding does nothing', async () => {
    await wire.must('POST', policies, policy('p.ex.io', { validations: [{ expression: 'false' }] }))
    expect((await wire.call('POST', maps, map('a'))).status).toBe(201)
  })

  const rows: readonly { readonly name: string; readonly spec: Part; readonly want: string; readonly code?: number }[] =
    [
      {
        name: 'says which expression failed',
        spec: { validations: [{ expression: 'size(object.data) > 9' }] },
        want: 'failed expression: size(object.data) > 9',
      },
      {
        name: 'says what is written',
        spec: { validations: [{ expression: 'false', message: 'no', reason: 'Forbidden' }] },
        want: 'no',
        code: 403,
      },
      {
        name: 'falls back if the message makes no sense',
        spec: { validations: [{ expression: 'false', message: 'no', messageExpression: "''" }] },
        want: 'no',
      },
      {
        name: 'refuses if it fails',
        spec: { validations: [{ expression: 'object.data.missing == "x"' }] },
        want: 'expression \'object.data.missing == "x"\' resulted in error: no such key: missing',
      },
      {
        name: 'knows the request, the namespace and the old object',
        spec: {
          validations: [
            {
              expression:
                '!(request.operation == "CREATE" && oldObject == null && ' +
                'namespaceObject.metadata.labels.tier == "gold")',
              messageExpression: 'request.userInfo.username + " " + request.namespace + "/" + request.name',
            },
          ],
        },
        want: 'kubernetes-admin team-a/m',
      },
      {
        name: 'has variables that stand on one another',
        spec: {
          variables: [
            { name: 'keys', expression: 'object.data.map(k, k)' },
            { name: 'count', expression: 'variables.keys.size()' },
          ],
          validations: [{ expression: 'variables.count > 1', messageExpression: "'has ' + string(variables.count)" }],
        },
        want: 'has 1',
      },
      {
        name: 'says which variable failed',
        spec: {
          variables: [{ name: 'v', expression: 'object.data.missing' }],
          validations: [{ expression: 'variables.v == "x"' }],
        },
        want:
          'expression \'variables.v == "x"\' resulted in error: composited variable "v" fails to evaluate: no ' +
          'such key: missing',
      },
      {
        name: 'asks for permissions',
        spec: {
          validations: [
            {
              expression: "authorizer.serviceAccount('x', 'y').path('/healthz').check('post').allowed()",
              message: 'may not',
            },
          ],
        },
        want: 'may not',
      },
      {
        name: 'stops at what it may cost',
        spec: { validations: [{ expression: 'lists.range(2000).all(a, lists.range(2000).all(b, a + b >= 0))' }] },
        want:
          "expression 'lists.range(2000).all(a, lists.range(2000).all(b, a + b >= 0))' resulted in error: " +
          'operation cancelled: actual cost limit exceeded',
      },
    ]
  it.each(rows)('$name', async ({ spec, want, code = 422 }) => {
    await enforce(spec)
    const { body } = await wire.call('POST', maps, map('m', { a: 'b' }))
    const message = refused('m', want)
    const causes = [{ message: message.replace('configmaps "m" is forbidden: ', '') }]
    const reason = code === 403 ? 'Forbidden' : 'Invalid'
    expect(body).toEqual(failure({ message, reason, details: { name: 'm', kind: 'configmaps', causes }, code }))
  })

  it('with failurePolicy Ignore lets through what it can not judge', async () => {
    await enforce({ failurePolicy: 'Ignore', validations: [{ expression: 'object.data.missing == "x"' }] })
    expect((await wire.call('POST', maps, map('m'))).status).toBe(201)
  })

  it('judges deletions by the old object', async () => {
    await wire.must('POST', maps, map('kept', { keep: 'yes' }))
    await enforce({
      validations: [{ expression: 'request.operation != "DELETE" || oldObject.data.keep != "yes"', message: 'kept' }],
    })
    const answer = await wire.call('DELETE', `${maps}/kept`)
    expect(answer.body).toMatchObject({ message: refused('kept', 'kept'), code: 422 })
    await wire.must('DELETE', `${group}/validatingadmissionpolicybindings/b.ex.io`)
    expect((await wire.call('DELETE', `${maps}/kept`)).status).toBe(200)
  })

  it('warns instead, or takes a note in the audit log', async () => {
    await enforce({ validations: [{ expression: 'false', message: 'no' }] }, { validationActions: ['Warn', 'Audit'] })
    const { status: code, headers } = await wire.call('POST', maps, map('m'))
    expect(code).toBe(201)
    expect(headers.get('warning')).toBe(
      `299 - "Validation failed for ValidatingAdmissionPolicy 'p.ex.io' with binding 'b.ex.io': no"`,
    )
  })

  it('wants an object that was selected before an update, or is after it', async () => {
    const labels = { a: 'b' }
    await wire.must('POST', maps, map('marked', {}, { labels }))
    await wire.must('POST', maps, map('plain'))
    await enforce({
      matchConstraints: { resourceRules: [onMaps], objectSelector: { matchLabels: labels } },
      validations: [{ expression: 'false', message: 'no' }],
    })
    const label = async (name: string, a: string | null): Promise<number> =>
      (await wire.call('PATCH', `${maps}/${name}`, { metadata: { labels: { a } } }, merge)).status
    expect([await label('marked', null), await label('plain', 'b'), await label('plain', 'c')]).toEqual([422, 422, 200])
  })

  it('wants only some objects: match conditions, selectors, names, exclusions, namespaces', async () => {
    const never = { validations: [{ expression: 'false', message: 'no' }] }
    const codeOf = async (name: string, labels: Part = {}, namespace = 'team-a'): Promise<number> =>
      (await wire.call('POST', `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, map(name, {}, { labels })))
        .status
    await enforce({
      ...never,
      matchConditions: [{ name: 'hot', expression: 'object.metadata.name.startsWith("hot")' }],
    })
    expect([await codeOf('hot'), await codeOf('cold')]).toEqual([422, 201])

    const put = (spec: Part): Promise<unknown> =>
      wire.must('PATCH', `${policies}/p.ex.io`, { spec: { matchConditions: null, ...spec } }, merge)
    await put({ matchConstraints: { resourceRules: [onMaps], objectSelector: { matchLabels: { a: 'b' } } } })
    expect([await codeOf('x', { a: 'b' }), await codeOf('x')]).toEqual([422, 201])
    await put({ matchConstraints: { resourceRules: [{ ...onMaps, resourceNames: ['x'] }], objectSelector: null } })
    expect([await codeOf('x'), await codeOf('y')]).toEqual([422, 201])
    await put({
      matchConstraints: { resourceRules: [onMaps], excludeResourceRules: [{ ...onMaps, resourceNames: ['x'] }] },
    })
    expect([await codeOf('x'), await codeOf('y')]).toEqual([201, 422])
    await put({ matchConstraints: { excludeResourceRules: null, namespaceSelector: { matchLabels: { tier: 'tin' } } } })
    expect([await codeOf('x'), await codeOf('x', {}, 'team-b')]).toEqual([201, 422])
    await put({ matchConstraints: { namespaceSelector: null } })
    const spec = { matchResources: { namespaceSelector: { matchLabels: { tier: 'gold' } } } }
    await wire.must('PATCH', `${bindings}/b.ex.io`, { spec }, merge)
    expect([await codeOf('x'), await codeOf('x', {}, 'team-b')]).toEqual([422, 201])
  })

  it('is never asked about policies', async () => {
    const all = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }
    await enforce({ matchConstraints: { resourceRules: [all] }, validations: [{ expression: 'false', message: 'no' }] })
    expect((await wire.call('POST', maps, map('m'))).status).toBe(422)
    expect((await wire.call('DELETE', `${bindings}/b.ex.io`)).status).toBe(200)
    expect((await wire.call('POST', maps, map('m'))).status).toBe(201)
  })
})

const merge = 'application/merge-patch+json'

it('is counted by what was done about it, when it does not hold or can not be judged', async () => {
  // Counting begins when somebody first asks, or half a second after the start.
  await plane.fetch('/metrics')
  const counted = async (): Promise<string[]> =>
    (await (await plane.fetch('/metrics')).text())
      .split('\n')
      .filter((line) =>
        /^apiserver_validating_admission_policy_check.*(total|count)\{policy="counted\.ex\.io"/.test(line),
      )
  const check = async (spec: Part, actions: string[], given: Part): Promise<void> => {
    await wire.must('POST', policies, policy('counted.ex.io', spec))
    await wire.must('POST', bindings, binding('bound.ex.io', 'counted.ex.io', { validationActions: actions }))
    await wire.call('POST', maps, map('c', given))
    for (const path of [bindings, policies, maps]) await wire.must('DELETE', path)
  }
  const some = { expression: "object.data.a == 'x'" }
  await check({ validations: [some] }, ['Deny'], { a: 'x' })
  expect(await counted()).toEqual([])
  await check({ validations: [some, some] }, ['Deny', 'Audit'], { a: 'y' })
  await check({ validations: [some] }, ['Warn'], { a: 'y' })
  await check({ validations: [some], failurePolicy: 'Ignore' }, ['Deny'], {})
  await check({ auditAnnotations: [{ key: 'k', valueExpression: 'string(object.data.b)' }] }, ['Warn'], {})
  const labels = (action: string): string =>
    `{policy="counted.ex.io",policy_binding="bound.ex.io",error_type="invalid_error",enforcement_action="${action}"}`
  const name = 'apiserver_validating_admission_policy_check'
  const times = { deny: 3, audit: 2, warn: 1, allow: 1 }
  expect(new Set(await counted())).toEqual(
    new Set(
      Object.entries(times).flatMap(([action, n]) => [
        `${name}_total${labels(action)} ${n}`,
        `${name}_duration_seconds_count${labels(action)} ${n}`,
      ]),
    ),
  )
})

describe('parameters', () => {
  const limits = '/apis/ex.io/v1/namespaces/team-a/limits'
  const paramKind = { apiVersion: 'ex.io/v1', kind: 'Limit' }
  const validations = [
    {
      expression: 'params == null || size(object.data) <= params.spec.max',
      messageExpression: "'at most ' + string(params.spec.max)",
    },
  ]
  const limit = (name: string, max: number, labels: Part = {}): Part => ({
    ...paramKind,
    metadata: { name, labels },
    spec: { max },
  })

  beforeAll(async () => {
    const schema = objectOf({ spec: objectOf({ max: { type: 'integer' } }) })
    await install(plane, definition({ plural: 'limits', kind: 'Limit', schema }))
    await wire.must('POST', limits, limit('one', 1, { of: 'x' }))
    await wire.must('POST', limits, limit('two', 2, { of: 'x' }))
  })

  const rows: readonly { readonly name: string; readonly ref: Part | undefined; readonly want: string | undefined }[] =
    [
      { name: 'are found by name', ref: { name: 'two', parameterNotFoundAction: 'Deny' }, want: 'at most 2' },
      {
        name: 'are found by labels, and all of them hold',
        ref: { selector: { matchLabels: { of: 'x' } }, parameterNotFoundAction: 'Deny' },
        want: 'at most 1',
      },
      {
        name: 'that are missing may be passed over',
        ref: { name: 'gone', parameterNotFoundAction: 'Allow' },
        want: undefined,
      },
      { name: 'need not be given', ref: undefined, want: undefined },
    ]
  it.each(rows)('$name', async ({ ref, want }) => {
    await enforce({ paramKind, validations }, ref ? { paramRef: ref } : {})
    const { status: code, body } = await wire.call('POST', maps, map('m', { a: '', b: '', c: '' }))
    if (want === undefined) expect(code).toBe(201)
    else expect(body).toMatchObject({ message: refused('m', want), code: 422 })
  })

  it('that are missing, or of no known kind, are a fault of the binding or the policy', async () => {
    await enforce({ paramKind, validations }, { paramRef: { name: 'gone', parameterNotFoundAction: 'Deny' } })
    expect((await wire.call('POST', maps, map('m'))).body).toEqual(
      failure({
        message:
          "configmaps \"m\" is forbidden: ValidatingAdmissionPolicy 'p.ex.io' with binding 'b.ex.io' denied " +
          'request: failed to configure binding: no params found for policy binding with `Deny` ' +
          'parameterNotFoundAction',
        reason: 'Invalid',
        details: {
          name: 'm',
          kind: 'configmaps',
          causes: [
            {
              message:
                "ValidatingAdmissionPolicy 'p.ex.io' with binding 'b.ex.io' denied request: failed to " +
                'configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
            },
          ],
        },
        code: 422,
      }),
    )
    await wire.must(
      'PATCH',
      `${policies}/p.ex.io`,
      { spec: { paramKind: { apiVersion: 'ex.io/v9', kind: 'Limit' } } },
      merge,
    )
    expect((await wire.call('POST', maps, map('m'))).body).toEqual(
      failure({
        message:
          'configmaps "m" is forbidden: ValidatingAdmissionPolicy \'p.ex.io\' denied request: failed to ' +
          "configure policy: failed to find resource referenced by paramKind: 'ex.io/v9, Kind=Limit'",
        reason: 'Invalid',
        details: {
          name: 'm',
          kind: 'configmaps',
          causes: [
            {
              message:
                "ValidatingAdmissionPolicy 'p.ex.io' denied request: failed to configure policy: failed to " +
                "find resource referenced by paramKind: 'ex.io/v9, Kind=Limit'",
            },
          ],
        },
        code: 422,
      }),
    )
  })
})

describe('what a policy may say', () => {
  const rows: readonly { readonly name: string; readonly spec: Part; readonly want: readonly string[] }[] = [
    {
      name: 'has something to check',
      spec: {},
      want: [
        'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
        'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
      ],
    },
    {
      name: 'has expressions that compile',
      spec: { validations: [{ expression: 'object.x > ' }] },
      want: [
        expect.stringMatching(
          /^spec\.validations\[0\]\.expression: Invalid value: "object.x > ": compilation failed: ERROR: <input>:1:12: Syntax error/,
        ) as unknown as string,
      ],
    },
    {
      name: 'has conditions that answer yes or no',
      spec: { validations: [{ expression: '1' }] },
      want: ['spec.validations[0].expression: Invalid value: "1": must evaluate to bool but got int'],
    },
    {
      name: 'has no parameters without a kind of them',
      spec: { validations: [{ expression: 'params.x == 1' }] },
      want: [
        'spec.validations[0].expression: Invalid value: "params.x == 1": compilation failed: ERROR: ' +
          "<input>:1:1: undeclared reference to 'params' (in container '')\n | params.x == 1\n | ^",
      ],
    },
    {
      name: 'has variables that are defined before',
      spec: { variables: [{ name: 'a', expression: 'variables.b' }], validations: [{ expression: 'true' }] },
      want: [expect.stringContaining("undefined field 'b'") as unknown as string],
    },
    {
      name: 'has rules',
      spec: { matchConstraints: {}, validations: [{ expression: 'true' }] },
      want: ['spec.matchConstraints.resourceRules: Required value'],
    },
    {
      name: 'has annotations that are text',
      spec: { auditAnnotations: [{ key: 'k', valueExpression: '1' }] },
      want: [
        'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null] ' +
          'but got int',
      ],
    },
  ]
  const causes = (body: unknown): string[] =>
    ((body as { details?: { causes?: { field: string; message: string }[] } }).details?.causes ?? []).map(
      (c) => `${c.field}: ${c.message}`,
    )
  it.each(rows)('$name', async ({ spec, want }) => {
    const { body } = await wire.call('POST', `${policies}?dryRun=All`, policy('p.ex.io', spec))
    expect(causes(body)).toEqual(want)
  })

  it('and a binding', async () => {
    const of = async (spec: Part): Promise<string[]> =>
      causes((await wire.call('POST', `${bindings}?dryRun=All`, binding('b', 'p', spec))).body)
    expect(await of({ validationActions: ['Deny', 'Warn'] })).toEqual([
      'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn ' +
        '(repeating the same validation failure information in the API response and headers serves no purpose)',
    ])
    expect(await of({ validationActions: [] })).toEqual([
      'spec.validationActions: Required value: at least one validation action is required',
    ])
    expect(await of({ paramRef: { parameterNotFoundAction: 'Deny' } })).toEqual([
      'spec.paramRef: Required value: one of name or selector must be specified',
    ])
  })
})

describe('the check of types', () => {
  const onDeployments = { ...onMaps, apiGroups: ['apps'], resources: ['deployments'] }
  const typeChecking = async (name: string): Promise<unknown> => {
    for (;;) {
      const { body } = await wire.call('GET', `${policies}/${name}`)
      const status = body.status as { typeChecking?: unknown; observedGeneration?: number } | undefined
      if (status?.typeChecking !== undefined && status.observedGeneration === body.metadata.generation) {
        return status.typeChecking
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  it('finds nothing about expressions that fit', async () => {
    const spec = {
      matchConstraints: { resourceRules: [onDeployments] },
      variables: [
        { name: 'cpu', expression: 'object.spec.template.spec.containers.map(c, c.resources.limits["cpu"])' },
      ],
      validations: [
        { expression: 'object.spec.replicas > 1 && object.metadata.labels["a"] == "b"' },
        { expression: 'variables.cpu.all(q, quantity(q).isLessThan(quantity("2")))' },
        { expression: 'object.metadata.creationTimestamp < timestamp("2100-01-01T00:00:00Z")' },
      ],
    }
    await wire.must('POST', policies, policy('fits.ex.io', spec))
    expect(await typeChecking('fits.ex.io')).toEqual({})
  })

  it('says what does not fit, and still lets the policy be', async () => {
    const spec = {
      matchConstraints: { resourceRules: [onDeployments] },
      validations: [
        {
          expression: "object.spec.replicas > '1'",
          messageExpression: "'wants replicas > 1, got ' + object.spec.replicas",
        },
      ],
    }
    await wire.must('POST', policies, policy('confused.ex.io', spec))
    expect(await typeChecking('confused.ex.io')).toEqual({
      expressionWarnings: [
        {
          fieldRef: 'spec.validations[0].expression',
          warning:
            'apps/v1, Kind=Deployment: compilation failed: ERROR: <input>:1:22: found no matching overload ' +
            "for '_>_' applied to '(int, string)'\n | object.spec.replicas > '1'\n | .....................^\n",
        },
        {
          fieldRef: 'spec.validations[0].messageExpression',
          warning: expect.stringContaining(
            "found no matching overload for '_+_' applied to '(string, int)'",
          ) as unknown,
        },
      ],
    })
  })

  it('knows kinds that contain themselves', async () => {
    const rule = { ...onMaps, apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'] }
    const validations = [{ expression: 'object.spec.group != 1' }]
    await wire.must(
      'POST',
      policies,
      policy('deep.ex.io', { matchConstraints: { resourceRules: [rule] }, validations }),
    )
    expect(await typeChecking('deep.ex.io')).toMatchObject({
      expressionWarnings: [{ fieldRef: 'spec.validations[0].expression' }],
    })
  })
})

it('leaves its annotations and the failures it let through in the audit log', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'borough-policies-'))
  const path = join(directory, 'audit.log')
  try {
    {
      await using audited = await startControlPlane({ population: false, audit: { path, maxBytes: 1e9, keep: 1 } })
      const own = new Wire(audited)
      await own.must('POST', '/api/v1/namespaces', { metadata: { name: 'team-a' } })
      const spec = {
        validations: [{ expression: 'false', message: 'no' }],
        auditAnnotations: [
          { key: 'keys', valueExpression: "string(size(object.data)) + ' keys'" },
          { key: 'none', valueExpression: 'null' },
        ],
      }
      await own.must('POST', policies, policy('p.ex.io', spec))
      await own.must('POST', bindings, binding('b.ex.io', 'p.ex.io', { validationActions: ['Audit'] }))
      expect((await own.call('POST', maps, map('audited', { a: 'b' }))).status).toBe(201)
    }
    const lines = (await readFile(path, 'utf8')).trim().split('\n')
    const events = lines.map((line) => JSON.parse(line) as { requestURI: string; annotations?: Record<string, string> })
    const annotations = events.find((e) => e.requestURI === maps)?.annotations ?? {}
    expect(annotations['p.ex.io/keys']).toBe('1 keys')
    expect(annotations).not.toHaveProperty('p.ex.io/none')
    expect(JSON.parse(annotations['validation.policy.admission.k8s.io/validation_failure'] ?? '')).toEqual([
      { message: 'no', policy: 'p.ex.io', binding: 'b.ex.io', expressionIndex: 0, validationActions: ['Audit'] },
    ])
  } finally {
    await rm(directory, { recursive: true })
  }
})
