import { describe, expect, it } from 'vitest'
import {
  configMap,
  configMapSchema,
  widgetSchema,
  workload,
  workloadSchema,
} from '../../../test/support/apply-fixtures.ts'
import { Slice } from '../../base/turns.ts'
import { StatusError } from '../status-error.ts'
import { parseJson } from '../strict-json.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { type ApplyInput, applyConfiguration } from './apply-configuration.ts'
import { canonicalElement, showElement } from './path-element.ts'
import { trackUpdate } from './track-update.ts'

type SyncInput = Omit<ApplyInput, 'versions' | 'slice'>

/** One object on a server without defaulting: each write has its own second. */
class Server {
  live: KubeObject | undefined
  readonly #type: Pick<ApplyInput, 'schema' | 'apiVersion' | 'kind'>
  #writes = 0

  constructor(type: Pick<ApplyInput, 'schema' | 'apiVersion' | 'kind'>) {
    this.#type = type
  }

  #now(): string {
    return `2026-01-01T00:00:${String(this.#writes++).padStart(2, '0')}Z`
  }

  apply(manager: string, config: KubeObject, options: Partial<SyncInput> = {}): KubeObject {
    this.live = applyConfiguration({ live: this.live, config, manager, now: this.#now(), ...this.#type, ...options })
    return this.live
  }

  write(manager: string, next: KubeObject, options: { subresource?: string } = {}): KubeObject {
    this.live = trackUpdate({ live: this.live, next, manager, now: this.#now(), ...this.#type, ...options })
    return this.live
  }

  /** manager → fields, in the order of the entries. */
  owners(): JsonObject {
    const owners: JsonObject = {}
    for (const entry of this.live?.metadata.managedFields ?? []) {
      const name = `${entry.manager}${entry.operation === 'Update' ? ' (update)' : ''}`
      owners[name + (entry.subresource ? `/${entry.subresource}` : '')] = entry.fieldsV1 ?? {}
    }
    return owners
  }
}

const onConfigMaps = (): Server => new Server({ schema: configMapSchema, apiVersion: 'v1', kind: 'ConfigMap' })
const onWorkloads = (): Server => new Server({ schema: workloadSchema, apiVersion: 'apps/v1', kind: 'Workload' })
const data = (entries: Record<string, string>): KubeObject => configMap({ data: entries })
const owns = (...keys: string[]): JsonObject => ({ 'f:data': Object.fromEntries(keys.map((k) => [`f:${k}`, {}])) })

function refusal(run: () => unknown): StatusError {
  try {
    run()
  } catch (error) {
    if (error instanceof StatusError) return error
    throw error
  }
  throw new Error('was not refused')
}

describe('integers beyond 2^53, which are read anew at each write', () => {
  const read = (text: string): JsonValue => parseJson(text).value
  const anything = (): Server => new Server({ schema: widgetSchema, apiVersion: 'ex.io/v1', kind: 'Widget' })
  const widget = (): KubeObject => ({
    apiVersion: 'ex.io/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { free: { big: read('12345678901234567'), list: read('[12345678901234567]') } },
  })
  const leaves = { 'f:spec': { 'f:free': { 'f:big': {}, 'f:list': {} } } }

  it('are no conflict and no change where they are the same', () => {
    const server = anything()
    server.apply('m1', widget())
    server.write('u1', widget())
    server.apply('m2', widget())
    expect(server.owners()).toEqual({ m1: leaves, m2: leaves })
  })

  it('are where they are not', () => {
    const server = anything()
    server.apply('m1', widget())
    const other = { ...widget(), spec: { free: { big: read('12345678901234568') } } }
    expect(refusal(() => server.apply('m2', other)).message).toContain('.spec.free.big')
  })

  it('are members of sets, each by itself', () => {
    const server = onWorkloads()
    const has = (text: string): KubeObject => workload({ spec: { priorities: read(text) } })
    const owned = (...members: string[]): JsonObject => ({
      'f:spec': { 'f:priorities': Object.fromEntries(members.map((member) => [`v:${member}`, {}])) },
    })
    server.apply('m1', has('[12345678901234567]'))
    server.apply('m2', has('[12345678901234568, 12345678901234569]'))
    const live = (): string => JSON.stringify(server.live?.['spec'])
    expect(live()).toBe('{"priorities":[12345678901234567,12345678901234568,12345678901234569]}')
    server.apply('m2', has('[12345678901234569]'))
    expect(live()).toBe('{"priorities":[12345678901234567,12345678901234569]}')
    expect(server.owners()).toEqual({ m1: owned('12345678901234567'), m2: owned('12345678901234569') })
    expect(showElement('v:12345678901234567')).toBe('[=12345678901234567]')
  })

  it.each(['v:12345678901234567x', `v:${'1'.repeat(400)}`, 'k:12345678901234567'])('no element: %s', (text) => {
    expect(() => canonicalElement(text)).toThrow(SyntaxError)
  })
})

describe('the worked examples of server-side apply', () => {
  it('goes through all of them on one object', () => {
    const server = onConfigMaps()
    server.apply('m1', configMap({ metadata: { labels: { a: 'b' } }, data: { x: '1', y: '1' } }))
    const labels = { 'f:metadata': { 'f:labels': { 'f:a': {} } } }
    expect(server.owners()).toEqual({ m1: { ...owns('x', 'y'), ...labels } })

    const before = server.live
    server.apply('m1', configMap({ metadata: { labels: { a: 'b' } }, data: { x: '1', y: '1' } }))
    expect(server.live, 'the same again changes nothing at all').toBe(before)

    server.apply('m2', data({ x: '1' }))
    expect(server.owners()).toEqual({ m1: { ...owns('x', 'y'), ...labels }, m2: owns('x') })

    server.apply('m1', configMap({ metadata: { labels: { a: 'b' } }, data: { y: '1' } }))
    expect(server.live?.['data'], 'x stays: m2 owns it').toEqual({ x: '1', y: '1' })
    expect(server.owners()).toEqual({ m1: { ...owns('y'), ...labels }, m2: owns('x') })

    server.write('u1', { ...(server.live as KubeObject), data: { x: '1' } })
    expect(server.owners(), 'a pure removal makes no entry').toEqual({ m1: labels, m2: owns('x') })

    server.write('u1', { ...(server.live as KubeObject), data: { x: '9' } })
    expect(server.owners()).toEqual({ m1: labels, 'u1 (update)': owns('x') })

    expect(refusal(() => server.apply('m2', data({ x: '1' }))).code).toBe(409)

    server.apply('m1', configMap())
    expect(server.live?.metadata.labels).toBeUndefined()
    expect(server.owners()).toEqual({ 'u1 (update)': owns('x') })

    server.apply('m3', data({ x: '1' }), { force: true })
    expect(server.live?.['data']).toEqual({ x: '1' })
    expect(server.owners()).toEqual({ m3: owns('x') })

    server.apply('m3', configMap())
    expect(server.live).toEqual(configMap())
    expect(server.live).not.toHaveProperty(['metadata', 'managedFields'])
  })

  it('gives an object nobody tracked to before-first-apply, so that changing it conflicts', () => {
    const server = onConfigMaps()
    server.live = data({ x: '1', y: '2' })
    expect(refusal(() => server.apply('m1', data({ x: '9' }))).message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x',
    )
    server.apply('m1', data({ x: '1' }))
    expect(server.owners()).toEqual({
      'before-first-apply (update)': { 'f:data': { '.': {}, 'f:x': {}, 'f:y': {} } },
      m1: owns('x'),
    })
  })
})

describe('with pauses', () => {
  /** Used up whenever it is asked. */
  class CountedSlice extends Slice {
    pauses = 0

    constructor() {
      super(
        () => 0,
        () => Promise.resolve(),
      )
    }

    override pause(): Promise<void> {
      this.pauses++
      return Promise.resolve()
    }
  }

  const large = (count: number): KubeObject =>
    data(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v'])))

  it('takes away what is no longer applied in many pieces, and the same', async () => {
    const input = { schema: configMapSchema, apiVersion: 'v1', kind: 'ConfigMap', manager: 'm1', now: 'now' }
    const live = applyConfiguration({ ...input, live: undefined, config: large(8001) })
    const slice = new CountedSlice()
    const result = await applyConfiguration({ ...input, live, config: large(8000), slice })
    expect(result).toEqual(applyConfiguration({ ...input, live, config: large(8000) }))
    expect(Object.keys((result as unknown as { data: object }).data)).toHaveLength(8000)
    // Some forty without those that were added for what is pruned.
    expect(slice.pauses).toBeGreaterThanOrEqual(100)
  })
})

describe('conflicts', () => {
  it('answers one conflict in a single line with its cause', () => {
    const server = onConfigMaps()
    server.apply('m1', data({ a: '1' }))
    const error = refusal(() => server.apply('m2', data({ a: '2' })))
    expect(error.toStatus()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "m1": .data.a',
      reason: 'Conflict',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "m1"', field: '.data.a' }] },
      code: 409,
    })
  })

  it('answers several conflicts in one block per manager', () => {
    const server = onConfigMaps()
    server.apply('m1', data({ a: '1', b: '1' }))
    server.write('curl', { ...(server.live as KubeObject), data: { a: '1', b: '1', c: '1' } })
    const error = refusal(() => server.apply('m2', data({ a: '2', b: '2', c: '2' })))
    expect(error.message).toBe(
      [
        'Apply failed with 3 conflicts: conflicts with "curl" using v1:',
        '- .data.c',
        'conflicts with "m1":',
        '- .data.a',
        '- .data.b',
      ].join('\n'),
    )
    expect(error.details?.causes?.map((c) => c.message)).toEqual([
      'conflict with "curl" using v1',
      'conflict with "m1"',
      'conflict with "m1"',
    ])
  })

  it('tells as much of very many as a client reads, and how many more there are', () => {
    const server = onConfigMaps()
    const wide = (value: string): KubeObject =>
      data(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`${'k'.repeat(200)}${i}`, value])))
    server.apply('m1', wide('1'))
    const error = refusal(() => server.apply('m2', wide('2')))
    // 128 KiB of paths of 207 to 210 characters.
    const told = 625
    expect(error.details?.causes).toHaveLength(told)
    const lines = error.message.split('\n')
    expect(lines[0]).toBe('Apply failed with 2000 conflicts: conflicts with "m1":')
    expect(lines).toHaveLength(told + 2)
    expect(lines.at(-1)).toBe(`and ${2000 - told} more`)
  })

  it('names list items, set members and sub-resources in paths and managers', () => {
    const server = onWorkloads()
    const container = (image: string): KubeObject =>
      workload({ spec: { template: { containers: [{ name: 'c', image }] }, hosts: ['a'] } })
    server.apply('m1', container('a'))
    server.write('x', { ...(server.live as KubeObject), status: { phase: 'Up' } }, { subresource: 'status' })
    const config = { ...container('b'), status: { phase: 'Down' } }
    expect(refusal(() => server.apply('m2', config)).details?.causes).toEqual([
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "m1"',
        field: '.spec.template.containers[name="c"].image',
      },
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "x" with subresource "status" using apps/v1',
        field: '.status.phase',
      },
    ])
  })

  it('lets equal values be shared', () => {
    const server = onWorkloads()
    server.apply('m1', workload({ spec: { hosts: ['a', 'b'], selector: { matchLabels: { a: 'b' } } } }))
    server.apply('m2', workload({ spec: { hosts: ['a', 'b'], selector: { matchLabels: { a: 'b' } } } }))
    const fields = { 'f:spec': { 'f:hosts': {}, 'f:selector': {} } }
    expect(server.owners()).toEqual({ m1: fields, m2: fields })
  })

  it('takes atomic values as a whole, by force', () => {
    const server = onWorkloads()
    server.apply('m1', workload({ spec: { hosts: ['a'], replicas: 1 } }))
    expect(refusal(() => server.apply('m2', workload({ spec: { hosts: ['a', 'b'] } }))).message).toContain(
      '.spec.hosts',
    )
    server.apply('m2', workload({ spec: { hosts: ['a', 'b'] } }), { force: true })
    expect(server.owners()).toEqual({
      m1: { 'f:spec': { 'f:replicas': {} } },
      m2: { 'f:spec': { 'f:hosts': {} } },
    })
  })
})

describe('lists', () => {
  const containers = (...items: JsonObject[]): KubeObject => workload({ spec: { template: { containers: items } } })
  const names = (object: KubeObject | undefined): unknown =>
    (object?.['spec'] as { template: { containers: { name: string }[] } }).template.containers.map((c) => c.name)

  const orders: { name: string; live: string[]; config: string[]; want: string[] }[] = [
    { name: 'keeps live items and appends new ones', live: ['a', 'b'], config: ['c'], want: ['a', 'b', 'c'] },
    {
      name: 'puts shared items in the applied order',
      live: ['a', 'b', 'c'],
      config: ['c', 'a'],
      want: ['b', 'c', 'a'],
    },
    {
      name: 'keeps a live item where it is among applied ones',
      live: ['a', 'x', 'b'],
      config: ['a', 'b'],
      want: ['a', 'x', 'b'],
    },
    {
      name: 'puts a new item where the configuration has it',
      live: ['a', 'b'],
      config: ['a', 'n', 'b'],
      want: ['a', 'n', 'b'],
    },
  ]
  it.each(orders)('$name', ({ live, config, want }) => {
    const server = onWorkloads()
    server.write('u', containers(...live.map((name) => ({ name }))))
    server.apply('m', containers(...config.map((name) => ({ name }))))
    expect(names(server.live)).toEqual(want)
  })

  it('claims items with a dot, and defaulted keys with their default', () => {
    const server = onWorkloads()
    server.apply(
      'm',
      containers({ name: 'c', ports: [{ containerPort: 443 }, { containerPort: 80, protocol: 'UDP' }] }),
    )
    expect(server.owners()).toEqual({
      m: {
        'f:spec': {
          'f:template': {
            'f:containers': {
              'k:{"name":"c"}': {
                '.': {},
                'f:name': {},
                'f:ports': {
                  'k:{"containerPort":80,"protocol":"UDP"}': { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
                  'k:{"containerPort":443,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} },
                },
              },
            },
          },
        },
      },
    })
    const ports = JSON.stringify(server.live?.metadata.managedFields)
    expect(ports.indexOf('80')).toBeLessThan(ports.indexOf('443'))
  })

  it('merges into the live item with the same defaulted key', () => {
    const server = onWorkloads()
    server.write('u', containers({ name: 'c', ports: [{ containerPort: 80, protocol: 'TCP', name: 'web' }] }))
    server.apply('m', containers({ name: 'c', ports: [{ containerPort: 80 }] }))
    expect(server.live?.['spec']).toEqual({
      template: { containers: [{ name: 'c', ports: [{ containerPort: 80, protocol: 'TCP', name: 'web' }] }] },
    })
  })

  it('removes an item it owned alone, and only its own fields of one that others own parts of', () => {
    const server = onWorkloads()
    server.apply('m1', containers({ name: 'a', image: 'a' }, { name: 'b', image: 'b' }))
    server.apply('m2', containers({ name: 'b', command: ['run'] }))
    server.apply('m1', containers())
    expect(server.live?.['spec']).toEqual({ template: { containers: [{ name: 'b', command: ['run'] }] } })
  })

  it('removes an item with all that is in it when nobody else owns the item itself', () => {
    const server = onWorkloads()
    server.apply('m1', containers({ name: 'a', image: 'a' }))
    server.write('u', {
      ...(server.live as KubeObject),
      ...{ spec: { template: { containers: [{ name: 'a', image: 'a', command: ['x'] }] } } },
    })
    server.apply('m1', workload())
    expect(server.live?.['spec']).toEqual({ template: {} })
    expect(server.owners()).toEqual({})
  })

  it('treats sets by value', () => {
    const server = onWorkloads()
    server.apply('m1', workload({ spec: { zones: ['a', 'b'], priorities: [10, 9] } }))
    server.apply('m2', workload({ spec: { zones: ['c', 'b'] } }))
    server.apply('m1', workload({ spec: { priorities: [9] } }))
    expect(server.live?.['spec']).toEqual({ zones: ['c', 'b'], priorities: [9] })
    expect(server.owners()).toEqual({
      m1: { 'f:spec': { 'f:priorities': { 'v:9': {} } } },
      m2: { 'f:spec': { 'f:zones': { 'v:"b"': {}, 'v:"c"': {} } } },
    })
  })

  it('owns finalizers one by one and owner references by uid', () => {
    const server = onWorkloads()
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u-1' }
    server.apply('m1', workload({ metadata: { finalizers: ['a/b'], ownerReferences: [owner] } }))
    server.apply('m2', workload({ metadata: { finalizers: ['c/d'] } }))
    expect(server.live?.metadata.finalizers).toEqual(['a/b', 'c/d'])
    expect(server.owners()).toEqual({
      m1: {
        'f:metadata': {
          'f:finalizers': { 'v:"a/b"': {} },
          'f:ownerReferences': { 'k:{"uid":"u-1"}': {} },
        },
      },
      m2: { 'f:metadata': { 'f:finalizers': { 'v:"c/d"': {} } } },
    })
    server.apply('m1', workload())
    expect(server.live?.metadata).toMatchObject({ finalizers: ['c/d'] })
    expect(server.live?.metadata).not.toHaveProperty('ownerReferences')
  })

  it('tolerates duplicates that are stored, and replaces them once it names them', () => {
    const server = onWorkloads()
    const env = (...items: JsonObject[]): KubeObject => containers({ name: 'c', env: items })
    server.write('u', env({ name: 'A', value: '1' }, { name: 'A', value: '2' }, { name: 'B', value: '3' }))
    server.apply('m', env({ name: 'C', value: '4' }))
    expect(server.live?.['spec']).toEqual(
      env({ name: 'A', value: '1' }, { name: 'A', value: '2' }, { name: 'B', value: '3' }, { name: 'C', value: '4' })[
        'spec'
      ],
    )
    expect(refusal(() => server.apply('m', env({ name: 'A', value: '5' }))).message).toContain('env[name="A"]')
    server.apply('m', env({ name: 'A', value: '5' }), { force: true })
    expect(server.live?.['spec']).toEqual(env({ name: 'A', value: '5' }, { name: 'B', value: '3' })['spec'])
  })
})

describe('bad configurations', () => {
  const typed = 'failed to create typed patch object (ns/w; apps/v1, Kind=Workload): '
  const containers = (...items: unknown[]): KubeObject => workload({ spec: { template: { containers: items } } })
  const cases: { name: string; config: KubeObject; code: number; reason?: string; message: string }[] = [
    {
      name: 'refuses another kind',
      config: { ...workload(), kind: 'Secret', apiVersion: 'v1' },
      code: 400,
      reason: 'BadRequest',
      message: 'invalid object type: /v1, Kind=Secret',
    },
    {
      name: 'refuses a body without a kind',
      config: { metadata: { name: 'w' } },
      code: 400,
      reason: 'BadRequest',
      message: 'invalid object type: /, Kind=',
    },
    {
      name: 'refuses managedFields',
      config: workload({ metadata: { managedFields: [] } }),
      code: 400,
      reason: 'BadRequest',
      message: 'metadata.managedFields must be nil',
    },
    {
      name: 'refuses an unknown field',
      config: workload({ bogus: 1 }),
      code: 500,
      message: `${typed}.bogus: field not declared in schema`,
    },
    {
      name: 'refuses an unknown field in metadata',
      config: workload({ metadata: { bogus: 1 } }),
      code: 500,
      message: `${typed}.metadata.bogus: field not declared in schema`,
    },
    {
      name: 'lists several problems',
      config: workload({ spec: { replicas: 'x', hosts: 'y', paused: 1, zones: [{}], maxSurge: [] } }),
      code: 500,
      message: [
        `${typed}errors:`,
        '  .spec.replicas: expected numeric (int or float), got string',
        '  .spec.hosts: expected list, got &{y}',
        '  .spec.paused: expected boolean, got &{1}',
        "  .spec.zones: element 0: associative list without keys has an element that's a map type",
        '  .spec.maxSurge: expected any scalar, got &{[]}',
      ].join('\n'),
    },
    {
      name: 'refuses a list where a map belongs',
      config: workload({ spec: { template: ['a', { b: 1 }] } }),
      code: 500,
      message: `${typed}.spec.template: expected map, got &{[a map[b:1]]}`,
    },
    {
      name: 'refuses a number for a string',
      config: containers({ name: 5 }),
      code: 500,
      message: `${typed}.spec.template.containers[name=5].name: expected string, got &value.valueUnstructured{Value:5}`,
    },
    {
      name: 'refuses duplicate items',
      config: containers({ name: 'a' }, { name: 'a' }),
      code: 500,
      message: `${typed}.spec.template.containers: duplicate entries for key [name="a"]`,
    },
    {
      name: 'refuses duplicate set members',
      config: workload({ spec: { zones: ['a', 'a'] } }),
      code: 500,
      message: `${typed}.spec.zones: duplicate entries for key [="a"]`,
    },
    {
      name: 'refuses an item without its key',
      config: containers({ image: 'a' }),
      code: 500,
      message:
        `${typed}.spec.template.containers: element 0: associative list with keys has an element that omits ` +
        `all key fields ["name"] (and doesn't have default values for any key fields)`,
    },
  ]
  it.each(cases)('$name', ({ config, code, reason, message }) => {
    const error = refusal(() => onWorkloads().apply('m', config))
    expect({ code: error.code, reason: error.reason, message: error.message }).toEqual({ code, reason, message })
  })
})

describe('kubectl and its annotation', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
  const clientSide = (entries: Record<string, string>, said = entries): KubeObject =>
    configMap({
      metadata: { annotations: { [annotation]: `${JSON.stringify({ ...data(said) })}\n` } },
      data: entries,
    })

  it('takes over what client-side apply set, and keeps the annotation in step', () => {
    const server = onConfigMaps()
    server.write('kubectl-client-side-apply', clientSide({ a: '1', b: '1' }))
    server.apply('kubectl', data({ a: '2' }))
    expect(server.live?.['data']).toEqual({ a: '2', b: '1' })
    expect(server.live?.metadata.annotations?.[annotation]).toBe(
      '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"cm","namespace":"ns"}}\n',
    )
  })

  it('still conflicts on what somebody changed since', () => {
    const server = onConfigMaps()
    server.write('kubectl-client-side-apply', clientSide({ a: '1', b: '1' }))
    server.write('u', { ...(server.live as KubeObject), data: { a: '1', b: '7' } })
    expect(refusal(() => server.apply('kubectl', data({ a: '2', b: '2' }))).message).toBe(
      'Apply failed with 1 conflict: conflict with "u" using v1: .data.b',
    )
  })

  it.each([
    { name: 'other managers get no such favour', manager: 'm', live: clientSide({ a: '1' }) },
    {
      name: 'an annotation that is no JSON counts for nothing',
      manager: 'kubectl',
      live: configMap({ metadata: { annotations: { [annotation]: '{' } }, data: { a: '1' } }),
    },
    {
      name: 'an annotation of another version counts for nothing',
      manager: 'kubectl',
      live: configMap({
        metadata: { annotations: { [annotation]: JSON.stringify({ ...data({ a: '1' }), apiVersion: 'v0' }) } },
        data: { a: '1' },
      }),
    },
  ])('$name', ({ manager, live }) => {
    const server = onConfigMaps()
    server.write('kubectl-client-side-apply', live)
    expect(refusal(() => server.apply(manager, data({ a: '2' }))).code).toBe(409)
  })

  it('drops the annotation when it would grow too large', () => {
    const server = onConfigMaps()
    server.write('kubectl-client-side-apply', clientSide({ a: '1' }))
    server.apply('kubectl', data({ a: 'x'.repeat(300_000) }))
    expect(server.live?.metadata.annotations).toEqual({})
  })
})

describe('other rules', () => {
  it('keeps the time of an apply that changes nothing, and moves it when the object changes', () => {
    const server = onConfigMaps()
    server.apply('m1', data({ a: '1', b: '1' }))
    server.apply('m2', data({ a: '1' }))
    server.apply('m1', data({ b: '1' }))
    expect(server.live?.metadata.managedFields?.map((e) => [e.manager, e.time])).toEqual([
      ['m1', '2026-01-01T00:00:00Z'],
      ['m2', '2026-01-01T00:00:01Z'],
    ])
    server.apply('m1', data({ b: '2' }))
    expect(server.live?.metadata.managedFields?.map((e) => [e.manager, e.time])).toEqual([
      ['m2', '2026-01-01T00:00:01Z'],
      ['m1', '2026-01-01T00:00:03Z'],
    ])
  })

  it('tracks applies through a sub-resource apart and never owns reset fields', () => {
    const server = onWorkloads()
    server.apply('m', workload({ spec: { replicas: 1 }, status: { phase: 'Up' } }), { resetFields: { 'f:status': {} } })
    server.apply('m', workload({ status: { phase: 'Up' } }), { subresource: 'status', resetFields: { 'f:spec': {} } })
    expect(server.owners()).toEqual({
      m: { 'f:spec': { 'f:replicas': {} } },
      'm/status': { 'f:status': { 'f:phase': {} } },
    })
  })

  it('owns all of a part that has become atomic since', () => {
    const server = onWorkloads()
    server.live = workload({
      spec: { selector: { matchLabels: { a: 'b' } } },
      metadata: {
        managedFields: [
          {
            manager: 'm1',
            operation: 'Apply',
            apiVersion: 'apps/v1',
            fieldsType: 'FieldsV1',
            fieldsV1: { 'f:spec': { 'f:selector': { 'f:matchLabels': { 'f:a': {} } } } },
          },
        ],
      },
    })
    const config = workload({ spec: { selector: { matchLabels: { a: 'c' } } } })
    expect(refusal(() => server.apply('m2', config)).message).toContain('conflict with "m1": .spec.selector')
  })

  it('owns an empty map as a leaf', () => {
    const server = onWorkloads()
    server.apply('m', workload({ spec: { template: { labels: {} } } }))
    expect(server.owners()).toEqual({ m: { 'f:spec': { 'f:template': { 'f:labels': {} } } } })
  })

  it('ignores metadata that only the server sets', () => {
    const server = onConfigMaps()
    server.live = configMap({
      metadata: { creationTimestamp: '2025-01-01T00:00:00Z', generation: 3 },
      data: { a: '1' },
    })
    const live = server.apply('m', configMap({ metadata: { creationTimestamp: null, generation: 1 } }))
    expect(live.metadata).toMatchObject({ creationTimestamp: '2025-01-01T00:00:00Z', generation: 3 })
  })
})
