/** Bodies made to cost: too many values, too deep, too much to say about them. Each is answered soon, and briefly. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ProtobufCodec } from '../../src/catalog/protobuf/protobuf-codec.ts'
import type { Status } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { badRequest, failure, invalidObject } from '../support/refusal.ts'
import { type Answered, type Sent, send } from '../support/send.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions'

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane({ population: false })
  await send(plane, maps, { method: 'POST', body: { metadata: { name: 'there' } } })
  await send(plane, revisions, { method: 'POST', body: { metadata: { name: 'there' }, revision: 1 } })
})
afterAll(() => plane[Symbol.asyncDispose]())

const json = 'application/json'
const yaml = 'application/yaml'
const apply = 'application/apply-patch+yaml'
const merge = 'application/merge-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const protobuf = 'application/vnd.kubernetes.protobuf'
const configMapKind = { group: '', version: 'v1', kind: 'ConfigMap' }
const jsonPatch = 'application/json-patch+json'

/** Every way in which a body with something inside comes to the server. */
const ways: readonly { readonly name: string; readonly path: string; send(inside: string): Sent }[] = [
  { name: 'a create', path: revisions, send: (x) => ({ method: 'POST', type: json, body: body('new', x) }) },
  { name: 'a create in YAML', path: revisions, send: (x) => ({ method: 'POST', type: yaml, body: block('new', x) }) },
  {
    name: 'an update',
    path: `${revisions}/there`,
    send: (x) => ({ method: 'PUT', type: json, body: body('there', x) }),
  },
  { name: 'a merge patch', path: `${revisions}/there`, send: (x) => patch(merge, `{"data":${x}}`) },
  { name: 'a strategic merge patch', path: `${revisions}/there`, send: (x) => patch(strategic, `{"data":${x}}`) },
  {
    name: 'a JSON patch',
    path: `${revisions}/there`,
    send: (x) => patch(jsonPatch, `[{"op":"add","path":"/data","value":${x}}]`),
  },
  { name: 'an apply', path: `${revisions}/new?fieldManager=m`, send: (x) => patch(apply, body('new', x)) },
  { name: 'an apply in YAML', path: `${revisions}/new?fieldManager=m`, send: (x) => patch(apply, block('new', x)) },
  {
    name: 'the options of a deletion',
    path: `${revisions}/there`,
    send: (x) => ({ method: 'DELETE', type: json, body: `{"kind":"DeleteOptions","dryRun":["All"],"ignored":${x}}` }),
  },
]
const head = (name: string): string =>
  `"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"${name}"}`
const body = (name: string, inside: string): string => `{${head(name)},"revision":1,"data":${inside}}`
const block = (name: string, inside: string): string =>
  `apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {name: ${name}}\nrevision: 1\ndata: ${inside}\n`
const patch = (type: string, text: string): Sent => ({ method: 'PATCH', type, body: text })

describe('more than 30,000 values', () => {
  const tooMany = failure({
    message: 'Request entity too large: limit is 30000 values',
    reason: 'RequestEntityTooLarge',
    code: 413,
  })
  it.each(ways.filter(({ name }) => name !== 'a JSON patch'))('are refused in $name', async ({ path, send: sent }) => {
    const answer = await send(plane, path, sent(`{"a":[${'0,'.repeat(30_000)}0]}`))
    expect(answer.body).toEqual(tooMany)
  })

  it('are refused where a JSON patch makes them, which may have 50,000 itself', async () => {
    const added = (values: number): Sent =>
      patch(jsonPatch, `[{"op":"add","path":"/data","value":{"a":[${'12,'.repeat(values)}0]}}]`)
    await send(plane, revisions, { method: 'POST', body: body('patched', '{}') })
    expect((await send(plane, `${revisions}/patched`, added(30_000))).body).toEqual(tooMany)
    expect((await send(plane, `${revisions}/patched`, added(50_000))).body).toEqual({
      ...tooMany,
      message: 'Request entity too large: limit is 50000 values',
    })
  })

  it('are refused however short they are, and not looked for in texts', async () => {
    const one = await send(plane, maps, {
      method: 'POST',
      body: `{"metadata":{"name":"x"},"a":[${'[],'.repeat(30_001)}1]}`,
    })
    expect(one.body).toEqual(tooMany)
    const text = JSON.stringify('{[,"\\'.repeat(100_000))
    const other = await send(plane, maps, { method: 'POST', body: `{"metadata":{"name":"text"},"data":{"a":${text}}}` })
    expect(other.code).toBe(201)
  })

  it('may be made of few by no alias', async () => {
    const anchored = `a: &a [${'x,'.repeat(300)}x]\nb: [${'*a,'.repeat(300)}*a]\n`
    const answer = await send(plane, maps, { method: 'POST', type: yaml, body: anchored })
    expect(answer.body).toEqual(
      badRequest(
        'the object provided is unrecognized (must be of type ConfigMap): yaml: document contains excessive aliasing ' +
          '(613a202661205b782c782c782c782c782c782c782c782c782c782c782c78 ...)',
      ),
    )
  })

  const keys = (count: number, prefix: string): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, '']))

  it('may be stored by nobody, while 29,000 are taken', async () => {
    const data = keys(29_000, 'k')
    const answer = await send(plane, `${maps}?dryRun=All`, { method: 'POST', body: { metadata: { name: 'x' }, data } })
    expect(answer.code).toBe(201)
  })

  it('are counted as they are, empty lists and objects once', async () => {
    const data = `{"a":[${'{},'.repeat(29_900)}{}]}`
    const answer = await send(plane, `${revisions}?dryRun=All`, { method: 'POST', body: body('empty', data) })
    expect(answer.code).toBe(201)
  })

  it.each([
    { what: 'entries of a map', object: { data: keys(30_001, 'k') } },
    { what: 'items', object: { metadata: { name: 'x', finalizers: Array.from({ length: 30_001 }, () => '') } } },
    {
      what: 'fields of managedFields',
      object: {
        metadata: {
          name: 'x',
          managedFields: Array.from({ length: 4 }, () => ({ fieldsV1: { 'f:data': keys(9_000, 'f:k') } })),
        },
      },
    },
  ])('are refused in protobuf: $what', async ({ object }) => {
    const bytes = new ProtobufCodec().encode({ metadata: { name: 'x' }, ...object }, configMapKind)
    const answer = await send(plane, maps, { method: 'POST', type: protobuf, body: bytes })
    expect(answer.body).toEqual(tooMany)
  })

  it('are no more in protobuf than in JSON', async () => {
    const bytes = new ProtobufCodec().encode({ metadata: { name: 'x' }, data: keys(29_000, 'k') }, configMapKind)
    const answer = await send(plane, `${maps}?dryRun=All`, { method: 'POST', type: protobuf, body: bytes })
    expect(answer.code).toBe(201)
  })

  it('are not made by one patch after the other, by as many managers', async () => {
    await send(plane, maps, { method: 'POST', body: { metadata: { name: 'grows' }, data: keys(20_000, 'a') } })
    const grows = `${maps}/grows`
    const more = await send(plane, grows, patch(merge, JSON.stringify({ data: keys(20_000, 'b') })))
    expect(more.body).toEqual(tooMany)
    const fewer = await send(plane, grows, patch(merge, JSON.stringify({ data: { a1: null, b1: 'x' } })))
    expect(fewer.code).toBe(200)
    // Each owns all of it: what they own is bounded as well.
    const owned = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: {}, data: keys(9_000, 'a') })
    const applied: number[] = []
    let last: unknown
    for (const manager of ['one', 'two', 'three', 'four']) {
      const answer = await send(plane, `${grows}?force=true&fieldManager=${manager}`, patch(apply, owned))
      applied.push(answer.code)
      last = answer.body
    }
    expect([applied, last]).toEqual([[200, 413, 413, 413], tooMany])
  })
})

describe('values within values', () => {
  const nested = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
  const wanted: Readonly<Record<string, (fault: string) => Status>> = {
    'a create': (fault) => unrecognized(fault, '({"apiVersion":"apps/v1","kind" ...)'),
    'a create in YAML': (fault) =>
      badRequest(
        `the object provided is unrecognized (must be of type ControllerRevision): ${fault} ` +
          '(61706956657273696f6e3a20617070732f76310a6b696e643a20436f6e74 ...)',
      ),
    'an update': (fault) => unrecognized(fault, '({"apiVersion":"apps/v1","kind" ...)'),
    'a merge patch': (fault) => badRequest(`error decoding patch: ${fault}`),
    'a strategic merge patch': (fault) => badRequest(`error decoding patch: ${fault}`),
    'a JSON patch': (fault) => badRequest(`error decoding patch: ${fault}`),
    'an apply': (fault) => badRequest(`error decoding YAML: error converting YAML to JSON: ${fault}`),
    'an apply in YAML': (fault) => badRequest(`error decoding YAML: error converting YAML to JSON: ${fault}`),
    'the options of a deletion': (fault) =>
      unrecognized(fault, '({"kind":"DeleteOptions","dryRu ...)', 'DeleteOptions'),
  }
  const unrecognized = (fault: string, snippet: string, kind = 'ControllerRevision'): Status =>
    badRequest(
      `the object provided is unrecognized (must be of type ${kind}): couldn't get version/kind; ` +
        `json parse error: ${fault} ${snippet}`,
    )
  const faultOf = (name: string): string => {
    if (name === 'an apply') return 'yaml: exceeded max depth of 1000'
    return name.includes('YAML')
      ? 'yaml: line 5: exceeded max depth of 500'
      : "invalid character '{' exceeded max depth"
  }
  for (const depth of [1_001, 5_000, 20_000]) {
    it.each(ways)(`are refused in $name at a depth of ${depth}`, async ({ name, path, send: sent }) => {
      const answer = await send(plane, path, sent(nested(depth)))
      expect(answer.body).toEqual(wanted[name]?.(faultOf(name)))
    })
  }

  it('are kept as deep as they may be, by every verb', async () => {
    // The object around them, and `data` itself, are a level each.
    const depths = { json: 998, yaml: 498 }
    for (const { name, path, send: sent } of ways) {
      const sentBody = sent(nested(name.includes('YAML') ? depths.yaml : depths.json))
      const answer = await send(plane, path, sentBody)
      expect(`${name}: ${answer.code < 500 ? 'answered' : answer.text}`).toBe(`${name}: answered`)
    }
    const created = await send(plane, revisions, { method: 'POST', body: body('deep', nested(depths.json)) })
    expect(created.code).toBe(201)
    const accepts = [json, yaml, 'application/vnd.kubernetes.protobuf', `${json};as=Table;v=v1;g=meta.k8s.io`]
    for (const accept of accepts) {
      const read = await send(plane, `${revisions}/deep`, { headers: { accept } })
      expect([accept, read.code]).toEqual([accept, 200])
    }
    const deleted = await send(plane, `${revisions}/deep`, { method: 'DELETE' })
    expect(deleted.code).toBe(200)
  })
})

describe('thousands of faults', () => {
  /** What is told of them: the first hundred, and how many there are besides. */
  const toldOf = ({ code, body }: Answered): { code: number; causes: number; end: string } => {
    const { message = '', details } = body as Status
    return { code, causes: details?.causes?.length ?? 0, end: message.slice(message.lastIndexOf(', ') + 2) }
  }
  const names = Array.from({ length: 28_000 }, (_, i) => `!${i}`)
  const owner = { apiVersion: 'v1', kind: 'K', name: 'n', controller: true }
  const requirements = Array.from({ length: 8_000 }, (_, i) => ({ key: `!${i}`, operator: 'X' }))
  const rows: readonly { name: string; path: string; body: object; want: string }[] = [
    {
      name: 'labels that are none',
      path: maps,
      body: { metadata: { name: 'x', labels: Object.fromEntries(names.map((n) => [n, '_'])) } },
      want: 'and 55900 more]',
    },
    {
      name: 'annotations that are none',
      path: maps,
      body: { metadata: { name: 'x', annotations: Object.fromEntries(names.map((n) => [n, '_'])) } },
      want: 'and 27900 more]',
    },
    {
      name: 'finalizers that are none',
      path: maps,
      body: { metadata: { name: 'x', finalizers: names } },
      want: 'and 55900 more]',
    },
    {
      name: 'owners that all control, each of which is told with all of them',
      path: maps,
      body: { metadata: { name: 'x', ownerReferences: names.slice(0, 4_500).map((uid) => ({ ...owner, uid })) } },
      want: 'and 4399 more]',
    },
    {
      name: 'scopes that are none, each of which is told with all of them',
      path: '/api/v1/namespaces/default/resourcequotas',
      body: { metadata: { name: 'x' }, spec: { scopes: names.slice(0, 3_000) } },
      want: 'and 2900 more]',
    },
    {
      name: 'requirements of a selector',
      path: '/apis/policy/v1/namespaces/default/poddisruptionbudgets',
      body: { metadata: { name: 'x' }, spec: { selector: { matchExpressions: requirements } } },
      want: 'and 15900 more]',
    },
    {
      name: 'requirements of a review',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      body: { spec: { resourceAttributes: { verb: 'list', resource: 'pods', labelSelector: { requirements } } } },
      want: 'and 7900 more]',
    },
  ]
  it.each(rows)('$name', async ({ path, body: sent, want }) => {
    const answer = await send(plane, path, { method: 'POST', body: sent })
    expect(toldOf(answer)).toEqual({ code: 422, causes: 100, end: want })
    expect(answer.text.length).toBeLessThan(3_000_000)
  })

  it('of an apply', async () => {
    const data = Object.fromEntries(names.map((n) => [n, 7]))
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'there' }, data }
    const answer = await send(plane, `${maps}/there?fieldManager=m`, { method: 'PATCH', type: apply, body })
    const faults = names
      .slice(0, 100)
      .map((n) => `\n  .data.${n}: expected string, got &value.valueUnstructured{Value:7}`)
      .join('')
    expect(answer.body).toEqual(
      failure({
        message:
          'failed to create typed patch object (default/there; /v1, Kind=ConfigMap): ' +
          `errors:${faults}\n  and 27900 more`,
        code: 500,
      }),
    )
  })

  it('a value of a megabyte is told by its beginning', async () => {
    const name = 'X'.repeat(1_000_000)
    const answer = await send(plane, maps, { method: 'POST', body: { metadata: { name: 'x', finalizers: [name] } } })
    const shown = `metadata.finalizers: Invalid value: "${'X'.repeat(10_000)}"...`
    expect(answer.body).toEqual(
      invalidObject({ kind: 'ConfigMap', name: 'x' }, [
        `${shown}: name part must be no more than 63 bytes`,
        `metadata.finalizers[0]: Invalid value: "${'X'.repeat(10_000)}"...: ` +
          'name is neither a standard finalizer name nor is it fully qualified',
      ]),
    )
  })

  it('a selector of a megabyte in a review is answered', async () => {
    const rawSelector = `${'a=b,'.repeat(250_000)}!!`
    const body = { spec: { resourceAttributes: { verb: 'list', resource: 'pods', labelSelector: { rawSelector } } } }
    const answer = await send(plane, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { method: 'POST', body })
    expect(answer.code).toBe(201)
    const { status } = answer.body as { status: unknown }
    expect(JSON.stringify(status).length).toBeLessThan(1_000)
  })
})

describe('numbers that no double holds', () => {
  const number = '9007199254740993'
  const found = (field: string, kind: string): Status =>
    badRequest(
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: " +
        `json: cannot unmarshal ${kind} into Go struct field .${field} of type string ({"${field}":`,
    )
  const rows = [
    ['kind', number, 'number'],
    ['apiVersion', number, 'number'],
    ['kind', '7', 'number'],
    ['kind', 'true', 'bool'],
    ['kind', '{}', 'object'],
    ['apiVersion', '[]', 'array'],
  ] as const
  it.each(rows)('%s: %s is no text', async (field, value, kind) => {
    const body = `{"${field}":${value},"metadata":{"name":"x"}}`
    const answer = await send(plane, maps, { method: 'POST', body })
    const snippet = (body.length > 30 ? `${body.slice(0, 30)} ...)` : `${body})`).slice(`{"${field}":`.length)
    const { message, ...rest } = found(field, kind)
    expect(answer.body).toEqual({ ...rest, message: message + snippet })
  })

  it('a generation that is one is kept where the server counts none, and counted on when the object goes', async () => {
    const body = `{"metadata":{"name":"old","generation":${number},"finalizers":["a.io/b"]}}`
    const created = await send(plane, maps, { method: 'POST', body })
    expect([created.code, created.text.includes(`"generation":${number}`)]).toEqual([201, true])
    const read = await send(plane, `${maps}/old`, { headers: { accept: yaml } })
    expect(read.text).toContain(`generation: ${number}\n`)
    const deleted = await send(plane, `${maps}/old`, { method: 'DELETE' })
    expect([deleted.code, deleted.text.includes('"generation":9007199254740994')]).toEqual([200, true])
  })

  it('a generation below zero is refused', async () => {
    const answer = await send(plane, maps, {
      method: 'POST',
      body: `{"metadata":{"name":"x","generation":-${number}}}`,
    })
    expect(answer.body).toEqual(
      invalidObject({ kind: 'ConfigMap', name: 'x' }, [
        `metadata.generation: Invalid value: -${number}: must be greater than or equal to 0`,
      ]),
    )
  })

  it('the options of a deletion are told as Go tells them', async () => {
    const body = `{"gracePeriodSeconds":${number}}`
    const answer = await send(plane, `${maps}/there`, { method: 'DELETE', body })
    expect(answer.body).toEqual(
      badRequest(
        `json: cannot unmarshal number ${number} into Go struct field DeleteOptions.gracePeriodSeconds of type int64`,
      ),
    )
  })

  it.each([
    ['metadata', '"text"', '.metadata: expected map, got &{text}'],
    ['metadata', number, `.metadata: expected map, got &{${number}}`],
    [
      'metadata',
      `{"name":${number}}`,
      `.metadata.name: expected string, got &value.valueUnstructured{Value:${number}}`,
    ],
    ['metadata', '{"name":7}', '.metadata.name: expected string, got &value.valueUnstructured{Value:7}'],
    ['immutable', number, `.immutable: expected boolean, got &{${number}}`],
  ])('an apply whose %s is %s is told what upstream tells it', async (field, value, fault) => {
    const rest = field === 'metadata' ? '' : '"metadata":{"name":"there"},'
    const body = `{"apiVersion":"v1","kind":"ConfigMap",${rest}"${field}":${value}}`
    const answer = await send(plane, `${maps}/there?fieldManager=m`, { method: 'PATCH', type: apply, body })
    const isNamed = field !== 'metadata'
    // Metadata that is a map is given the namespace of the URL.
    const subject = [value.startsWith('{') || isNamed ? 'default' : '', isNamed ? 'there' : '']
    expect(answer.body).toEqual(
      failure({
        message: `failed to create typed patch object (${subject.join('/')}; /v1, Kind=ConfigMap): ${fault}`,
        code: 500,
      }),
    )
  })

  it('an apply may say one where a number belongs', async () => {
    const body = `{${head('exact')},"data":{},"revision":${number}}`
    for (const _ of ['first', 'again']) {
      const answer = await send(plane, `${revisions}/exact?fieldManager=m`, { method: 'PATCH', type: apply, body })
      expect(answer.text).toContain(`"revision":${number}`)
    }
  })

  it('an apply of one is told that its kind is missing', async () => {
    const body = `{"apiVersion":"v1","kind":${number},"metadata":{"name":"x"}}`
    const answer = await send(plane, `${maps}/x?fieldManager=m`, { method: 'PATCH', type: apply, body })
    expect(answer.body).toEqual(badRequest("Object 'Kind' or 'apiVersion' is missing in the apply patch"))
  })
})
