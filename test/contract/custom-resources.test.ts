/** Custom resources, as clients see them: from the definition to the last instance. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CustomResourceDefinition, definitionResource, isEstablished } from '../../src/apis/crds/types.ts'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { createControlPlane } from '../../src/app/control-plane.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, definitionsPath, install, objectOf, post, uninstall, until } from '../support/definitions.ts'
import { notSubdomain } from '../support/name-faults.ts'
import { failure, faultsIn, invalidObject } from '../support/refusal.ts'
import { type Answered, send } from '../support/send.ts'
import { threadMs } from '../support/thread-time.ts'

const stones = { group: 'ex.io', version: 'v1', resource: 'stones' }

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane()
})
afterAll(() => plane[Symbol.asyncDispose]())

const at = (resource: string, name = '', namespace = 'default', version = 'v1'): string =>
  `/apis/ex.io/${version}/namespaces/${namespace}/${resource}${name === '' ? '' : `/${name}`}`

const make = (kind: string, name: string, rest: JsonObject = {}, version = 'v1'): JsonObject => ({
  apiVersion: `ex.io/${version}`,
  kind,
  metadata: { name },
  ...rest,
})

const merge = (path: string, body: unknown, query = ''): Promise<Answered> =>
  send(plane, path + query, { method: 'PATCH', body, type: 'application/merge-patch+json' })

const objectIn = ({ code, text, body }: Answered, want = 200): KubeObject => {
  if (code !== want) throw new Error(`${code}: ${text}`)
  return body as KubeObject
}

interface Offered {
  /** Name and verbs of the resource and its sub-resources. */
  readonly classic: readonly unknown[]
  readonly aggregated: readonly unknown[]
}

/** What both forms of discovery say of a resource of `ex.io/v1`. */
async function offered(resource: string): Promise<Offered> {
  const classic = (await send(plane, '/apis/ex.io/v1')).body as { resources?: { name: string; verbs: string[] }[] }
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const { body } = await send(plane, '/apis', { headers: { accept } })
  const { items } = body as {
    items: { metadata: { name: string }; versions: { version: string; resources: JsonObject[] }[] }[]
  }
  const group = items.find(({ metadata }) => metadata.name === 'ex.io')
  const served = group?.versions.find(({ version }) => version === 'v1')
  return {
    classic: (classic.resources ?? [])
      .filter(({ name }) => name.split('/', 1)[0] === resource)
      .map(({ name, verbs }) => [name, verbs]),
    aggregated: (served?.resources ?? [])
      .filter((r) => r['resource'] === resource)
      .map(({ verbs, subresources }) => [
        verbs,
        (subresources as JsonObject[]).map((s) => [s['subresource'], s['verbs']]),
      ]),
  }
}

const bothForms = (verbs: readonly string[], status: readonly string[]): Offered => ({
  classic: [
    ['torches', verbs],
    ['torches/status', status],
  ],
  aggregated: [[verbs, [['status', status]]]],
})

const widget = (name: string): Parameters<typeof faultsIn>[1] => ({ group: 'ex.io', kind: 'Widget', name })

const widgetSchema = objectOf({
  spec: objectOf({
    size: { type: 'integer', default: 1, minimum: 1, maximum: 10 },
    color: { type: 'string', enum: ['red', 'blue'] },
    name: { type: 'string', maxLength: 5, pattern: '^[a-z]*$' },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 2, 'x-kubernetes-list-type': 'set' },
    port: { 'x-kubernetes-int-or-string': true },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: objectOf({}) } },
    ports: {
      type: 'array',
      items: objectOf({ k: { type: 'string' } }, { required: ['k'] }),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    nested: { ...objectOf({ on: { type: 'boolean', default: true } }), default: {} },
    must: objectOf({ x: { type: 'string' } }, { required: ['x'] }),
  }),
  status: objectOf({ replicas: { type: 'integer' }, selector: { type: 'string' } }),
})

const sailParts = { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } }

describe('an instance', () => {
  beforeAll(async () => {
    await install(
      plane,
      definition({
        names: { shortNames: ['wd'], categories: ['all'] },
        schema: widgetSchema,
        version: {
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.size',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
            { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
          ],
          selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }],
        },
      }),
    )
  })

  const bodies = [
    {
      name: 'without a kind is not taken',
      given: { apiVersion: 'ex.io/v1', metadata: { name: 'a' } },
      want: failure({
        code: 400,
        reason: 'BadRequest',
        message: `Object 'Kind' is missing in '{"apiVersion":"ex.io/v1","metadata":{"name":"a"}}'`,
      }),
    },
    {
      name: 'of another version is not taken',
      given: make('Widget', 'a', {}, 'v2'),
      want: failure({
        code: 400,
        reason: 'BadRequest',
        message: 'the API version in the data (ex.io/v2) does not match the expected API version (ex.io/v1)',
      }),
    },
    {
      name: 'of another kind is not taken',
      given: make('Gadget', 'a'),
      want: invalidObject({ group: 'ex.io', kind: 'Gadget', name: 'a' }, [
        'kind: Invalid value: "Gadget": must be Widget',
      ]),
    },
  ]
  test.each(bodies)('$name', async ({ given, want }) => {
    const answer = await post(plane, at('widgets'), given)
    expect(answer.body).toEqual(want)
  })

  const faults: { name: string; spec: JsonObject; want: string[] }[] = [
    {
      name: 'types',
      spec: { size: 'big' },
      want: [
        'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
        '.spec.size: Invalid value: 0: .spec.size accessor error: big is of the type string, expected int64',
      ],
    },
    {
      name: 'enums',
      spec: { color: 'green' },
      want: ['spec.color: Unsupported value: "green": supported values: "red", "blue"'],
    },
    { name: 'lengths', spec: { name: 'abcdef' }, want: ['spec.name: Too long: may not be more than 5 bytes'] },
    {
      name: 'patterns',
      spec: { name: 'A' },
      want: [`spec.name: Invalid value: "A": spec.name in body should match '^[a-z]*$'`],
    },
    {
      name: 'maxima',
      spec: { size: 11 },
      want: ['spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10'],
    },
    {
      name: 'minima',
      spec: { size: 0 },
      want: ['spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1'],
    },
    {
      name: 'numbers of items',
      spec: { tags: ['a', 'b', 'c'] },
      want: ['spec.tags: Too many: 3: must have at most 2 items'],
    },
    {
      name: 'lists of the wrong type',
      spec: { tags: 'a' },
      want: ['spec.tags: Invalid value: "string": spec.tags in body must be of type array: "string"'],
    },
    { name: 'sets', spec: { tags: ['a', 'a'] }, want: ['spec.tags[1]: Duplicate value: "a"'] },
    { name: 'keys', spec: { ports: [{ k: 'v' }, { k: 'v' }] }, want: ['spec.ports[1]: Duplicate value: {"k":"v"}'] },
    { name: 'required fields', spec: { must: {} }, want: ['spec.must.x: Required value'] },
    {
      name: 'int-or-string',
      spec: { port: 1.5 },
      want: ['spec.port: Invalid value: "number": spec.port in body must be of type integer,string: "number"'],
    },
  ]
  test.each(faults)('is judged by its schema: $name', async ({ spec, want }) => {
    const answer = await post(plane, at('widgets'), make('Widget', 'bad', { spec }))
    expect(faultsIn(answer, widget('bad'))).toEqual(want)
  })

  test('has no replicas beyond what a Scale can say, however large the number', async () => {
    await install(
      plane,
      definition({ group: 'sea.io', plural: 'sails', kind: 'Sail', version: { subresources: sailParts } }),
    )
    const text = (replicas: string): string =>
      `{"apiVersion":"sea.io/v1","kind":"Sail","metadata":{"name":"a"},"spec":{"replicas":${replicas}}}`
    for (const [replicas, what] of [
      ['9223372036854775807', 'should be less than or equal to 2147483647'],
      ['-1', 'should be a non-negative integer'],
    ]) {
      const answer = await send(plane, '/apis/sea.io/v1/namespaces/default/sails', {
        method: 'POST',
        body: text(replicas ?? ''),
      })
      expect(faultsIn(answer, { group: 'sea.io', kind: 'Sail', name: 'a' })).toEqual([
        `.spec.replicas: Invalid value: ${replicas}: ${what}`,
      ])
    }
  })

  test('has a status that is judged alone, in words that begin there', async () => {
    objectIn(await post(plane, at('widgets'), make('Widget', 'worn')), 201)
    const answer = await merge(at('widgets', 'worn/status'), { status: { selector: 5 } })
    expect(faultsIn(answer, widget('worn'))).toEqual([
      'status.selector: Invalid value: "integer": selector in body must be of type string: "integer"',
      '.status.selector: Invalid value: "": .status.selector accessor error: 5 is of the type int64, expected string',
    ])
  })

  test('that is applied with a null where none may be is refused; in another write it means nothing', async () => {
    const apply = (name: string, spec: JsonObject): Promise<Answered> =>
      send(plane, `${at('widgets', name)}?fieldManager=a&force=true`, {
        method: 'PATCH',
        body: make('Widget', name, { spec }),
        type: 'application/apply-patch+yaml',
      })
    objectIn(await apply('hollow', { color: 'red', size: 2 }), 201)
    expect(faultsIn(await apply('hollow', { color: null }), widget('hollow'))).toEqual([
      'spec.color: Invalid value: "null": spec.color in body must be of type string: "null"',
      'spec.color: Unsupported value: null: supported values: "red", "blue"',
    ])
    expect(objectIn(await apply('hollow', { color: 'red', size: null }))['spec']).toMatchObject({ size: 1 })
    const written = objectIn(await post(plane, at('widgets'), make('Widget', 'void', { spec: { color: null } })), 201)
    expect(written['spec']).not.toHaveProperty('color')
  })

  test('is not made, and not removed by the dozen, without a namespace', async () => {
    const path = '/apis/ex.io/v1/widgets'
    const gone = failure({
      code: 404,
      reason: 'NotFound',
      message: 'the server could not find the requested resource',
      details: {},
    })
    expect((await post(plane, path, make('Widget', 'a'))).body).toEqual(gone)
    expect((await send(plane, path, { method: 'DELETE' })).body).toEqual(gone)
  })

  test('is judged by its name too', async () => {
    const answer = await post(plane, at('widgets'), make('Widget', 'Bad_Name'))
    expect(faultsIn(answer, widget('Bad_Name'))).toEqual([`metadata.name: Invalid value: "Bad_Name": ${notSubdomain}`])
  })

  test('is pruned and filled in when written', async () => {
    const given = make('Widget', 'pruned', {
      bogus: 1,
      spec: { bogus: 1, size: null, free: { any: { thing: [1] }, known: { dropped: 1 } } },
      status: { replicas: 9 },
    })
    ;(given['metadata'] as JsonObject)['extra'] = 1
    const { metadata, ...rest } = objectIn(await post(plane, at('widgets'), given), 201)
    expect(metadata).not.toHaveProperty('extra')
    expect(metadata.generation).toBe(1)
    expect(rest).toEqual({
      apiVersion: 'ex.io/v1',
      kind: 'Widget',
      spec: { size: 1, nested: { on: true }, free: { any: { thing: [1] }, known: {} } },
    })
  })

  test('is refused, or warned about, for unknown fields where the client asks', async () => {
    const given = make('Widget', 'strict', { spec: { bogus: 1 } })
    const strict = await post(plane, at('widgets'), given, '?fieldValidation=Strict&dryRun=All')
    const message =
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.bogus"'
    expect(strict.body).toEqual(failure({ code: 400, reason: 'BadRequest', message }))
    const warned = await post(plane, at('widgets'), given, '?fieldValidation=Warn&dryRun=All')
    expect([warned.code, warned.headers.get('warning')]).toEqual([201, '299 - "unknown field \\"spec.bogus\\""'])
  })

  test('has a status and a spec of separate writes, and a generation that counts the spec', async () => {
    await post(plane, at('widgets'), make('Widget', 'split', { spec: { size: 2 } }))
    const path = at('widgets', 'split')
    const main = objectIn(await merge(path, { spec: { size: 3 }, status: { replicas: 5 } }))
    expect([main['status'], main.metadata.generation]).toEqual([undefined, 2])
    const part = objectIn(
      await merge(`${path}/status`, { metadata: { labels: { a: 'b' } }, spec: { size: 9 }, status: { replicas: 5 } }),
    )
    expect(part).toMatchObject({ spec: { size: 3 }, status: { replicas: 5 }, metadata: { generation: 2 } })
    expect(part.metadata.labels).toBeUndefined()
    const labelled = objectIn(await merge(path, { metadata: { labels: { a: 'b' } } }))
    expect(labelled.metadata.generation).toBe(2)
  })

  test('is put with a resourceVersion only', async () => {
    await post(plane, at('widgets'), make('Widget', 'put'))
    const refused = await send(plane, at('widgets', 'put'), { method: 'PUT', body: make('Widget', 'put') })
    expect(faultsIn(refused, { group: 'ex.io', kind: 'widgets', name: 'put' })).toEqual([
      'metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ])
    const current = objectIn(await send(plane, at('widgets', 'put')))
    const answer = await send(plane, at('widgets', 'put'), { method: 'PUT', body: { ...current, spec: { size: 4 } } })
    expect(objectIn(answer)['spec']).toEqual({ size: 4, nested: { on: true } })
  })

  test('is scaled through its paths', async () => {
    await post(plane, at('widgets'), make('Widget', 'scaled', { spec: { size: 2 } }))
    const path = `${at('widgets', 'scaled')}`
    await merge(`${path}/status`, { status: { replicas: 1, selector: 'a=b' } })
    const scale = objectIn(await send(plane, `${path}/scale`))
    expect(scale).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'scaled', namespace: 'default' },
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'a=b' },
    })
    expect(objectIn(await merge(`${path}/scale`, { spec: { replicas: 7 } }))['spec']).toEqual({ replicas: 7 })
    expect(objectIn(await send(plane, path))['spec']).toMatchObject({ size: 7 })
    expect(faultsIn(await merge(`${path}/scale`, { spec: { replicas: -5 } }), widget('scaled'))).toEqual([
      'spec.size: Invalid value: -5: spec.size in body should be greater than or equal to 1',
      '.spec.size: Invalid value: -5: should be a non-negative integer',
    ])
    const empty = await send(plane, `${path}/scale`, {
      method: 'PUT',
      body: { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'scaled' } },
    })
    const message = 'the spec replicas field ".spec.size" cannot be empty'
    expect(empty.body).toEqual(failure({ code: 400, reason: 'BadRequest', message }))
  })

  test('without a size has no scale', async () => {
    await post(plane, at('widgets'), make('Widget', 'plain'))
    const { body } = await send(plane, at('widgets', 'plain/scale'))
    const why = 'the spec replicas field ".spec.size" does not exist'
    expect(body).toEqual(
      failure({
        code: 500,
        reason: 'InternalError',
        message: `Internal error occurred: ${why}`,
        details: { causes: [{ message: why }] },
      }),
    )
  })

  test('is applied by the server, with conflicts by field', async () => {
    const apply = (manager: string, spec: JsonObject, force = false): Promise<Answered> =>
      send(plane, `${at('widgets', 'applied')}?fieldManager=${manager}&force=${force}`, {
        method: 'PATCH',
        body: make('Widget', 'applied', { spec }),
        type: 'application/apply-patch+yaml',
      })
    expect((await apply('one', { size: 2, ports: [{ k: 'a' }] })).code).toBe(201)
    const shared = objectIn(await apply('two', { ports: [{ k: 'b' }] }))
    expect(shared['spec']).toMatchObject({ size: 2, ports: [{ k: 'a' }, { k: 'b' }] })
    const conflict = await apply('two', { size: 3 })
    expect(conflict.body).toEqual(
      failure({
        code: 409,
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "one": .spec.size',
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.size' }] },
      }),
    )
    expect(objectIn(await apply('two', { size: 3 }, true))['spec']).toMatchObject({ size: 3, ports: [{ k: 'a' }] })
  })

  test('is shown in a table with the columns that were declared', async () => {
    await post(plane, at('widgets'), make('Widget', 'shown', { spec: { color: 'red' } }))
    const { body } = await send(plane, at('widgets', 'shown'), {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    })
    expect(body).toMatchObject({
      columnDefinitions: [
        { name: 'Name' },
        {
          name: 'Size',
          type: 'integer',
          description: 'Custom resource definition column (in JSONPath format): .spec.size',
          priority: 0,
        },
        { name: 'Color', type: 'string', priority: 1 },
      ],
      rows: [{ cells: ['shown', 1, 'red'] }],
    })
  })

  test('is selected by the fields that were declared, and by no others', async () => {
    await post(plane, at('widgets'), make('Widget', 'blue', { spec: { color: 'blue', size: 9 } }))
    const selected = await send(plane, `${at('widgets')}?fieldSelector=spec.color%3Dblue,spec.size%3D9`)
    const { items, kind } = selected.body as { items: KubeObject[]; kind: string }
    expect([kind, items.map((i) => i.metadata.name)]).toEqual(['WidgetList', ['blue']])
    const refused = await send(plane, `${at('widgets')}?fieldSelector=spec.name%3Da`)
    expect(refused.body).toEqual(
      failure({ code: 400, reason: 'BadRequest', message: 'field label not supported: spec.name' }),
    )
  })

  test('has no protobuf answer', async () => {
    const answer = await send(plane, at('widgets'), { headers: { accept: 'application/vnd.kubernetes.protobuf' } })
    expect(answer.code).toBe(406)
    const message =
      'only the following media types are accepted: application/json, application/yaml, ' +
      'application/vnd.kubernetes.protobuf'
    expect(answer.text).toContain(message)
    const other = await send(plane, at('widgets'), { headers: { accept: 'text/csv' } })
    expect(other.body).toEqual(failure({ code: 406, reason: 'NotAcceptable', message }))
  })

  test('has no protobuf body', async () => {
    const type = 'application/vnd.kubernetes.protobuf'
    const answer = await send(plane, at('widgets'), { method: 'POST', body: 'k8s', type })
    const message =
      'the body of the request was in an unknown format - accepted media types include: application/json, ' +
      'application/yaml'
    expect(answer.body).toEqual(failure({ code: 415, reason: 'UnsupportedMediaType', message }))
  })

  test('takes no strategic merge patch', async () => {
    await post(plane, at('widgets'), make('Widget', 'patched'))
    const answer = await send(plane, at('widgets', 'patched'), {
      method: 'PATCH',
      body: {},
      type: 'application/strategic-merge-patch+json',
    })
    const message =
      'the body of the request was in an unknown format - accepted media types include: ' +
      'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml'
    expect(answer.body).toEqual(failure({ code: 415, reason: 'UnsupportedMediaType', message }))
  })

  test('is deleted with a Status', async () => {
    await post(plane, at('widgets'), make('Widget', 'gone'))
    const { code, body } = await send(plane, at('widgets', 'gone'), { method: 'DELETE' })
    expect([code, body]).toMatchObject([200, { kind: 'Status', status: 'Success', details: { name: 'gone' } }])
  })

  test('is described in discovery and in both OpenAPI documents', async () => {
    const { body } = await send(plane, '/apis/ex.io/v1')
    expect((body as { resources: unknown[] }).resources).toEqual([
      {
        name: 'widgets',
        singularName: 'widget',
        namespaced: true,
        kind: 'Widget',
        verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
        shortNames: ['wd'],
        categories: ['all'],
        storageVersionHash: expect.any(String),
      },
      { name: 'widgets/status', singularName: '', namespaced: true, kind: 'Widget', verbs: ['get', 'patch', 'update'] },
      {
        name: 'widgets/scale',
        singularName: '',
        namespaced: true,
        group: 'autoscaling',
        version: 'v1',
        kind: 'Scale',
        verbs: ['get', 'patch', 'update'],
      },
    ])
    const v3 = await send(plane, '/openapi/v3/apis/ex.io/v1')
    expect(v3.text).toContain('"io.ex.v1.Widget"')
    const v2 = await send(plane, '/openapi/v2')
    expect(v2.text).toContain('/apis/ex.io/v1/namespaces/{namespace}/widgets/{name}/status')
  })

  test('is no way to hang the server: a pattern made for backtracking is matched in no time', async () => {
    const schema = objectOf({ x: { type: 'string', pattern: '^(a+)+$' } })
    await install(plane, definition({ plural: 'traps', kind: 'Trap', schema }))
    const before = threadMs()
    const answer = await post(plane, at('traps'), make('Trap', 'a', { x: `${'a'.repeat(50_000)}b` }))
    expect(answer.code).toBe(422)
    expect(threadMs() - before).toBeLessThan(5_000)
  })

  test('is refused when its patterns would take more steps than one validation has', async () => {
    const schema = objectOf({ x: { type: 'string', pattern: '^(x{0,900}y{0,900})*$' } })
    await install(plane, definition({ plural: 'mazes', kind: 'Maze', schema }))
    const x = 'xy'.repeat(100_000)
    const answer = await post(plane, at('mazes'), make('Maze', 'a', { x }))
    expect(faultsIn(answer, { group: 'ex.io', kind: 'Maze', name: 'a' })).toEqual([
      `x: Invalid value: "${x.slice(0, 10_000)}"...: x in body should match '^(x{0,900}y{0,900})*$', which could ` +
        'not be found out: matching the patterns of this object would take too long',
    ])
  })
})

describe('a definition', () => {
  test('whose webhook has no certificate to be known by is not established until it has one', async () => {
    const bad = definition({ plural: 'locks', kind: 'Lock' })
    const clientConfig = { url: 'https://127.0.0.1:1/convert', caBundle: 'Cg==' }
    bad.spec.conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
    objectIn(await post(plane, definitionsPath, bad), 201)
    const name = 'locks.ex.io'
    const found = await until(plane, name, (d) => d?.status?.conditions?.some((c) => c.type === 'Established') === true)
    expect(found?.status?.conditions?.find((c) => c.type === 'Established')).toMatchObject({
      status: 'False',
      reason: 'InvalidCABundle',
      message: 'The conversion webhook CABundle is invalid',
    })
    const path = `${definitionsPath}/${name}`
    objectIn(await merge(path, { spec: { conversion: { strategy: 'None', webhook: null } } }))
    await until(plane, name, (d) => d !== undefined && isEstablished(d))
    const about = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', name }
    expect(faultsIn(await merge(path, { spec: { conversion: bad.spec.conversion } }), about)).toEqual([
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: "Cg==": unable to load root ' +
        'certificates: unable to parse bytes as PEM block',
    ])
  })
})

describe('versions', () => {
  const version = (name: string, storage: boolean, properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: objectOf({ spec: objectOf(properties) }) },
    ...more,
  })
  const text = { type: 'string' }

  test('fill in the defaults of the version in which an object is stored, and show what they know of it', async () => {
    await install(
      plane,
      definition({
        plural: 'doors',
        kind: 'Door',
        versions: [
          version('v1', true, { both: text, old: text, kept: { type: 'string', default: 'stored' } }),
          version('v2', false, { both: text, kept: text, fresh: { type: 'string', default: 'new' } }),
        ],
      }),
    )
    objectIn(await post(plane, at('doors'), make('Door', 'a', { spec: { both: 'x', old: 'y' } })), 201)
    const second = objectIn(await send(plane, at('doors', 'a', 'default', 'v2')))
    expect([second.apiVersion, second['spec']]).toEqual(['ex.io/v2', { both: 'x', kept: 'stored' }])
    const path = at('doors', 'a', 'default', 'v2')
    const changed = objectIn(await merge(path, { spec: { both: 'z', fresh: 'set' } }))
    expect(changed['spec']).toEqual({ both: 'z', kept: 'stored' })
    expect(objectIn(await send(plane, at('doors', 'a')))['spec']).toEqual({ both: 'z', kept: 'stored' })
    const { body } = await send(plane, at('doors', '', 'default', 'v2'))
    expect((body as { items: KubeObject[] }).items[0]).toMatchObject({ apiVersion: 'ex.io/v2', spec: { both: 'z' } })
  })

  test('that are deprecated warn, and name what is better', async () => {
    await install(
      plane,
      definition({
        plural: 'gates',
        kind: 'Gate',
        versions: [
          version('v1beta1', false, {}, { deprecated: true }),
          version('v1alpha1', false, {}, { deprecated: true, deprecationWarning: 'too old' }),
          version('v1', true, {}),
        ],
      }),
    )
    const warningOf = async (v: string): Promise<string | null> =>
      (await send(plane, at('gates', '', 'default', v))).headers.get('warning')
    expect(await warningOf('v1beta1')).toBe('299 - "ex.io/v1beta1 Gate is deprecated; use ex.io/v1 Gate"')
    expect(await warningOf('v1alpha1')).toBe('299 - "too old"')
    expect(await warningOf('v1')).toBeNull()
  })

  test('of a changed schema prune and fill in what was stored before', async () => {
    const path = `${definitionsPath}/lamps.ex.io`
    await install(plane, definition({ plural: 'lamps', kind: 'Lamp', versions: [version('v1', true, { old: text })] }))
    await post(plane, at('lamps'), make('Lamp', 'a', { spec: { old: 'x' } }))
    const changed = version('v1', true, { fresh: { type: 'string', default: 'on' } })
    await merge(path, { spec: { versions: [changed] } })
    expect(objectIn(await send(plane, at('lamps', 'a')))['spec']).toEqual({ fresh: 'on' })
    const { body } = await send(plane, at('lamps'))
    expect((body as { items: KubeObject[] }).items[0]?.['spec']).toEqual({ fresh: 'on' })
  })

  test('that are served no longer are gone at once', async () => {
    const versions = (served: boolean): JsonObject[] => [
      version('v1', true, {}),
      { ...version('v2', false, {}), served },
    ]
    await install(plane, definition({ plural: 'keys', kind: 'Key', versions: versions(true) }))
    expect((await send(plane, at('keys', '', 'default', 'v2'))).code).toBe(200)
    await merge(`${definitionsPath}/keys.ex.io`, { spec: { versions: versions(false) } })
    expect((await send(plane, at('keys', '', 'default', 'v2'))).code).toBe(404)
    expect((await send(plane, at('keys'))).code).toBe(200)
  })
})

describe('names', () => {
  test('in use stay with whom they are accepted for, and pass on when that one goes', async () => {
    await install(plane, definition({ plural: 'cats', kind: 'Pet', names: { shortNames: ['p'] } }))
    const second = await install(
      plane,
      definition({ plural: 'dogs', kind: 'Pet', names: { shortNames: ['p'] } }),
      'NamesAccepted',
      'False',
    )
    expect(second.status?.conditions?.map(({ lastTransitionTime: _, ...c }) => c)).toEqual([
      {
        type: 'NamesAccepted',
        status: 'False',
        reason: 'ListKindConflict',
        message: '"PetList" is already in use',
      },
      { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ])
    expect((await send(plane, at('dogs'))).code).toBe(404)
    await uninstall(plane, 'cats.ex.io')
    const now = await until(plane, 'dogs.ex.io', (d) => d?.status?.conditions?.[1]?.status === 'True')
    expect(now?.status?.acceptedNames).toMatchObject({ kind: 'Pet', shortNames: ['p'] })
    expect((await send(plane, at('dogs'))).code).toBe(200)
  })

  test('of a built-in kind stay built in', async () => {
    const given = definition({
      group: 'policy.borough.dev',
      plural: 'namespacetemplates',
      kind: 'NamespaceTemplate',
      scope: 'Cluster',
    })
    await install(plane, given)
    const { body } = await send(plane, '/apis/policy.borough.dev/v1alpha1/namespacetemplates')
    expect(body).toMatchObject({ kind: 'NamespaceTemplateList' })
    await uninstall(plane, 'namespacetemplates.policy.borough.dev')
    expect((await send(plane, '/apis/policy.borough.dev/v1alpha1/namespacetemplates')).code).toBe(200)
  })
})

test('are given the defaults of embedded resources without what metadata has not', async () => {
  const whole = { apiVersion: 'ex.io/v1', kind: 'Part', metadata: { name: 'p', extra: 'x' } }
  const embedded = (properties: JsonObject, more: JsonObject = {}): JsonObject =>
    objectOf(properties, {
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      ...more,
    })
  const text = (value: string): JsonObject => ({ type: 'string', default: value })
  const identity = { apiVersion: text('ex.io/v1'), kind: text('Part') }
  const schema = objectOf({
    whole: embedded({}, { default: whole }),
    around: objectOf({ inner: embedded({}) }, { default: { inner: whole } }),
    metadataOf: embedded({ ...identity, metadata: { type: 'object', default: whole.metadata } }),
    fieldsOf: embedded({ ...identity, metadata: objectOf({ name: text('p'), extra: text('x') }) }),
  })
  await install(plane, definition({ plural: 'kits', kind: 'Kit', schema }))
  const given = make('Kit', 'k', { metadataOf: {}, fieldsOf: { metadata: {} } })
  const part = { apiVersion: 'ex.io/v1', kind: 'Part', metadata: { name: 'p' } }
  const want = { whole: part, around: { inner: part }, metadataOf: part, fieldsOf: part }
  expect(objectIn(await post(plane, at('kits'), given), 201)).toEqual({
    ...given,
    ...want,
    metadata: expect.anything() as JsonObject,
  })
  expect(objectIn(await send(plane, at('kits', 'k')))).toMatchObject(want)
  await uninstall(plane, 'kits.ex.io')
})

test('of a kind without namespaces forget the namespace that an apply names', async () => {
  await install(plane, definition({ plural: 'moons', kind: 'Moon', scope: 'Cluster' }))
  const apply = (body: JsonObject, query = ''): Promise<Answered> =>
    send(plane, `/apis/ex.io/v1/moons/io?fieldManager=m${query}`, {
      method: 'PATCH',
      type: 'application/apply-patch+yaml',
      body,
    })
  const placed = { ...make('Moon', 'io', { spec: { far: true } }), metadata: { name: 'io', namespace: 'default' } }
  const made = objectIn(await apply(placed), 201)
  expect(made).toMatchObject({ metadata: { name: 'io' }, spec: { far: true } })
  expect(made.metadata.namespace).toBeUndefined()
  expect(objectIn(await apply({ ...placed, spec: { far: false } })).metadata.namespace).toBeUndefined()
  await uninstall(plane, 'moons.ex.io')
})

describe('deletion', () => {
  test('of a definition takes its instances with it, waits for their finalizers, and lets none in', async () => {
    await install(plane, definition({ plural: 'boxes', kind: 'Box' }))
    await post(plane, '/api/v1/namespaces', { metadata: { name: 'elsewhere' } })
    await post(plane, at('boxes'), make('Box', 'plain'))
    await post(plane, at('boxes', '', 'elsewhere'), {
      ...make('Box', 'held'),
      metadata: { name: 'held', finalizers: ['ex.io/wait'] },
    })
    const path = `${definitionsPath}/boxes.ex.io`
    const deleted = objectIn(await send(plane, path, { method: 'DELETE' }))
    expect(deleted.metadata.deletionTimestamp).toBeDefined()
    expect((deleted as CustomResourceDefinition).status?.conditions?.at(-1)).toMatchObject({
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
    })
    const going = await until(
      plane,
      'boxes.ex.io',
      (d) => d?.status?.conditions?.at(-1)?.reason !== 'InstanceDeletionPending',
    )
    expect(going?.status?.conditions?.at(-1)).toMatchObject({
      status: 'True',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    })
    const refused = await post(plane, at('boxes'), make('Box', 'late'))
    expect([refused.code, refused.body]).toMatchObject([
      403,
      {
        message: 'boxes.ex.io "late" is forbidden: create not allowed while custom resource definition is terminating',
        reason: 'Forbidden',
        details: { group: 'ex.io', kind: 'boxes', name: 'late' },
      },
    ])
    await merge(at('boxes', 'held', 'elsewhere'), { metadata: { finalizers: null } })
    await until(plane, 'boxes.ex.io', (d) => d === undefined)
    expect((await send(plane, at('boxes', '', 'elsewhere'))).code).toBe(404)
    await install(plane, definition({ plural: 'boxes', kind: 'Box' }))
    const { body } = await send(plane, '/apis/ex.io/v1/boxes')
    expect((body as { items: unknown[] }).items).toEqual([])
  })

  test('shows in discovery, which offers no writes any more, while instances can be changed and watched', async () => {
    const given = definition({ plural: 'torches', kind: 'Torch', version: { subresources: { status: {} } } })
    await install(plane, given)
    const held = { ...make('Torch', 'held'), metadata: { name: 'held', finalizers: ['ex.io/wait'] } }
    await post(plane, at('torches'), held)
    const torches = { group: 'ex.io', version: 'v1', resource: 'torches' }
    const stop = new AbortController()
    const options = { sendInitialEvents: true, allowWatchBookmarks: true, signal: stop.signal }
    const events = plane.client.watch(torches, options)[Symbol.asyncIterator]()
    expect((await events.next()).value).toMatchObject({ type: 'ADDED' })
    expect((await events.next()).value).toMatchObject({ type: 'BOOKMARK' })
    const [reads, changes] = [
      ['delete', 'deletecollection', 'get', 'list'],
      ['patch', 'create', 'update'],
    ]
    const status = ['get', 'patch', 'update']
    expect(await offered('torches')).toEqual(bothForms([...reads, ...changes, 'watch'], status))

    await send(plane, `${definitionsPath}/torches.ex.io`, { method: 'DELETE' })
    expect(await offered('torches')).toEqual(bothForms([...reads, 'watch'], status))
    expect((await post(plane, at('torches'), make('Torch', 'late'))).code).toBe(403)
    expect(objectIn(await merge(at('torches', 'held'), { spec: { lit: true } }))).toMatchObject({ spec: { lit: true } })
    const present = objectIn(await send(plane, at('torches', 'held')))
    const put = await send(plane, at('torches', 'held'), { method: 'PUT', body: { ...present, spec: { lit: false } } })
    expect(objectIn(put)).toMatchObject({ spec: { lit: false } })
    let last: KubeObject | undefined
    while (last?.['spec'] === undefined || (last['spec'] as JsonObject)['lit'] !== false) {
      const { value, done } = await events.next()
      if (done) throw new Error('the watch ended with the deletion')
      last = value.object as KubeObject
    }
    await merge(at('torches', 'held'), { metadata: { finalizers: null } })
    await until(plane, 'torches.ex.io', (d) => d === undefined)
    stop.abort()
    expect((await offered('torches')).classic).toEqual([])
  })

  test('is told before anything else that is wrong with a create', async () => {
    const schema = objectOf({ spec: objectOf({ n: { type: 'integer' } }) })
    const given = definition({ plural: 'wicks', kind: 'Wick', schema })
    await install(plane, { ...given, metadata: { ...given.metadata, finalizers: ['ex.io/mine'] } })
    await post(plane, '/api/v1/namespaces', { metadata: { name: 'ending' } })
    const pin = { metadata: { name: 'pin', finalizers: ['ex.io/wait'] } }
    await post(plane, '/api/v1/namespaces/ending/configmaps', pin)
    await send(plane, '/api/v1/namespaces/ending', { method: 'DELETE' })
    await send(plane, `${definitionsPath}/wicks.ex.io`, { method: 'DELETE' })
    const want = failure({
      message: 'wicks.ex.io "late" is forbidden: create not allowed while custom resource definition is terminating',
      reason: 'Forbidden',
      details: { name: 'late', group: 'ex.io', kind: 'wicks' },
      code: 403,
    })
    const wrong = make('Wick', 'late', { spec: { n: 'one' } })
    for (const namespace of ['default', 'ending', 'absent']) {
      expect((await post(plane, at('wicks', '', namespace), wrong)).body).toEqual(want)
    }
    const apply = { method: 'PATCH', type: 'application/apply-patch+yaml', body: make('Wick', 'late') }
    expect((await send(plane, `${at('wicks', 'late')}?fieldManager=m`, apply)).body).toEqual(want)
    for (const path of [`${definitionsPath}/wicks.ex.io`, '/api/v1/namespaces/ending/configmaps/pin']) {
      await merge(path, { metadata: { finalizers: null } })
    }
    await until(plane, 'wicks.ex.io', (d) => d === undefined)
  })

  test('that somebody else holds up takes the instances, and lets none in until it is over', async () => {
    const given = definition({ plural: 'jars', kind: 'Jar' })
    await install(plane, { ...given, metadata: { ...given.metadata, finalizers: ['ex.io/mine'] } })
    await post(plane, at('jars'), make('Jar', 'first'))
    await send(plane, `${definitionsPath}/jars.ex.io`, { method: 'DELETE' })
    const held = await until(plane, 'jars.ex.io', (d) => d?.metadata.finalizers?.length === 1)
    expect(held?.status?.conditions?.at(-1)).toMatchObject({
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionCompleted',
    })
    expect((await send(plane, at('jars', 'first'))).code).toBe(404)
    expect((await post(plane, at('jars'), make('Jar', 'late'))).code).toBe(403)
    await merge(`${definitionsPath}/jars.ex.io`, { metadata: { finalizers: null } })
    await until(plane, 'jars.ex.io', (d) => d === undefined)
  })

  test('of the last definition of a group takes the group with it', async () => {
    await install(plane, definition({ group: 'lone.io', plural: 'ones', kind: 'One', scope: 'Cluster' }))
    expect((await send(plane, '/apis/lone.io/v1/ones')).code).toBe(200)
    await uninstall(plane, 'ones.lone.io')
    const answer = await send(plane, '/apis/lone.io/v1')
    expect([answer.code, answer.text]).toEqual([404, '404 page not found\n'])
    expect((await send(plane, '/apis')).text).not.toContain('lone.io')
  })

  test('of a namespace takes custom resources with it, those with finalizers when they are let go', async () => {
    await install(plane, definition({ plural: 'crates', kind: 'Crate' }))
    await post(plane, '/api/v1/namespaces', { metadata: { name: 'leaving' } })
    await post(plane, at('crates', '', 'leaving'), make('Crate', 'plain'))
    await post(plane, at('crates', '', 'leaving'), {
      ...make('Crate', 'held'),
      metadata: { name: 'held', finalizers: ['ex.io/wait'] },
    })
    await send(plane, '/api/v1/namespaces/leaving', { method: 'DELETE' })
    const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
    const stop = new AbortController()
    const events = plane.client.watch(namespaces, {
      fieldSelector: 'metadata.name=leaving',
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      signal: stop.signal,
    })
    let released = false
    for await (const { type, object } of events) {
      if (type === 'DELETED') break
      const conditions = (object as unknown as CustomResourceDefinition).status?.conditions ?? []
      const remaining = conditions.find((c) => c.type === 'NamespaceFinalizersRemaining')
      if (!released && remaining?.status === 'True') {
        released = true
        expect(remaining.message).toContain('ex.io/wait')
        await merge(at('crates', 'held', 'leaving'), { metadata: { finalizers: null } })
      }
    }
    stop.abort()
    expect(released).toBe(true)
    expect((await send(plane, at('crates', 'held', 'leaving'))).code).toBe(404)
  })
})

test('definitions that were there before the start are served from the first request on', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'borough-crds-'))
  const config: Config = { ...defaultConfig, dataDir, storage: { engine: 'sqlite' } }
  try {
    const given = definition({ plural: 'stones', kind: 'Stone' })
    {
      await using first = await createControlPlane(config)
      const client = first.client()
      await client.create(definitionResource, given)
      for await (const { object } of client.watch(definitionResource, {
        sendInitialEvents: true,
        signal: new AbortController().signal,
      })) {
        if (isEstablished(object as CustomResourceDefinition)) break
      }
      await client.create(stones, { ...make('Stone', 'a'), metadata: { name: 'a', namespace: 'default' } })
    }
    await using second = await createControlPlane({ ...config, controllers: () => false })
    expect(await second.client().get(stones, { namespace: 'default', name: 'a' })).toMatchObject({ kind: 'Stone' })
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})

test('a template populates namespaces with custom resources', async () => {
  await install(plane, definition({ plural: 'policies', kind: 'Policy' }))
  const template = {
    apiVersion: 'policy.borough.dev/v1alpha1',
    kind: 'NamespaceTemplate',
    metadata: { name: 'with-policy' },
    spec: {
      namespaces: { labelSelector: { matchLabels: { policed: 'yes' } } },
      templates: [
        { apiVersion: 'ex.io/v1', kind: 'Policy', metadata: { name: 'house' }, spec: { owner: '$(NAMESPACE)' } },
      ],
    },
  }
  const made = await post(plane, '/apis/policy.borough.dev/v1alpha1/namespacetemplates', template)
  expect([made.code, made.text]).toMatchObject([201, expect.any(String)])
  await post(plane, '/api/v1/namespaces', { metadata: { name: 'policed', labels: { policed: 'yes' } } })
  expect(objectIn(await send(plane, at('policies', 'house', 'policed')))['spec']).toEqual({ owner: 'policed' })
})
