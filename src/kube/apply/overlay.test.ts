import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadCatalog } from '../../catalog/catalog.ts'
import type { JsonObject, KubeObject } from '../types.ts'
import { overlaid } from './overlay.ts'

const catalog = loadCatalog()
const deployments = catalog.types.find({ group: 'apps', version: 'v1', resource: 'deployments' })
if (!deployments) throw new Error('no deployments')
const { schema } = deployments

const deployment = (more: JsonObject): KubeObject =>
  ({ apiVersion: 'apps/v1', kind: 'Deployment', ...more }) as unknown as KubeObject
const podSpec = (spec: JsonObject): JsonObject => ({ spec: { template: { spec } } })

describe('a configuration laid over an object', () => {
  const rows: readonly {
    readonly name: string
    readonly given?: JsonObject
    readonly when: JsonObject
    readonly want: JsonObject | string
  }[] = [
    {
      name: 'adds items to lists with keys',
      given: podSpec({ volumes: [{ name: 'x' }] }),
      when: podSpec({ volumes: [{ name: 'y' }] }),
      want: podSpec({ volumes: [{ name: 'x' }, { name: 'y' }] }),
    },
    {
      name: 'changes the item that has the key',
      given: podSpec({ volumes: [{ name: 'x' }, { name: 'y' }] }),
      when: podSpec({ volumes: [{ name: 'y', hostPath: { path: 'a' } }] }),
      want: podSpec({ volumes: [{ name: 'x' }, { name: 'y', hostPath: { path: 'a' } }] }),
    },
    {
      name: 'leaves items with the same key alone if it does not name them',
      given: podSpec({
        containers: [
          {
            name: 'n',
            env: [
              { name: 'test', value: 'a' },
              { name: 'test', value: 'b' },
            ],
          },
        ],
      }),
      when: { spec: { replicas: 3 } },
      want: {
        spec: {
          replicas: 3,
          template: {
            spec: {
              containers: [
                {
                  name: 'n',
                  env: [
                    { name: 'test', value: 'a' },
                    { name: 'test', value: 'b' },
                  ],
                },
              ],
            },
          },
        },
      },
    },
    {
      name: 'makes one of several items with the key that it names',
      given: podSpec({
        containers: [
          {
            name: 'n',
            env: [
              { name: 'test', value: 'a' },
              { name: 'test', value: 'b' },
              { name: 'foo', value: 'bar' },
            ],
          },
        ],
      }),
      when: podSpec({ containers: [{ name: 'n', env: [{ name: 'test', value: 'c' }] }] }),
      want: podSpec({
        containers: [
          {
            name: 'n',
            env: [
              { name: 'test', value: 'c' },
              { name: 'foo', value: 'bar' },
            ],
          },
        ],
      }),
    },
    {
      name: 'may set labels, finalizers and other sets',
      given: { metadata: { labels: { a: '1' }, finalizers: ['ex.io/a'] } },
      when: { metadata: { labels: { b: '2' }, finalizers: ['ex.io/b'] } },
      want: { metadata: { labels: { a: '1', b: '2' }, finalizers: ['ex.io/a', 'ex.io/b'] } },
    },
    {
      name: 'may not set an atomic struct',
      when: { spec: { selector: { matchLabels: { l: 'v' } } } },
      want: 'invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector',
    },
    {
      name: 'may not set atomic lists, wherever they are',
      when: podSpec({ containers: [{ name: 'a', args: ['x'], command: ['y'] }] }),
      want:
        'invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ' +
        '.spec.template.spec.containers[0].args, .spec.template.spec.containers[0].command',
    },
    {
      name: 'may not have unknown fields',
      when: { spec: { replicasx: 1 } },
      want: 'failed to convert patch object to typed object: .spec.replicasx: field not declared in schema',
    },
    {
      name: 'has the types of the schema',
      when: { spec: { replicas: 'many' } },
      want:
        'failed to convert patch object to typed object: .spec.replicas: expected numeric (int or float), got ' +
        'string',
    },
    {
      name: 'names each item once',
      when: podSpec({ volumes: [{ name: 'x' }, { name: 'x' }] }),
      want:
        'failed to convert patch object to typed object: .spec.template.spec.volumes: duplicate entries for ' +
        'key [name="x"]',
    },
  ]
  it.each(rows)('$name', ({ given = { metadata: {} }, when, want }) => {
    const { object, problem } = overlaid(schema, deployment(given), deployment(when))
    if (typeof want === 'string') expect(problem).toBe(want)
    else expect(object).toEqual(deployment(want))
  })

  it('changes nothing the second time', () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const container = fc.record(
      {
        name,
        image: fc.string({ maxLength: 3 }),
        env: fc.uniqueArray(fc.record({ name, value: fc.string() }), { selector: (e) => e.name }),
      },
      { requiredKeys: ['name'] },
    )
    const whole = fc.record(
      {
        labels: fc.dictionary(name, fc.string({ maxLength: 3 })),
        replicas: fc.nat(9),
        containers: fc.uniqueArray(container, { selector: (c) => c.name, maxLength: 3 }),
      },
      { requiredKeys: [] },
    )
    const objectOf = ({
      labels,
      replicas,
      containers,
    }: {
      labels?: unknown
      replicas?: unknown
      containers?: unknown
    }) =>
      deployment({
        metadata: labels === undefined ? {} : { labels },
        spec: {
          ...(replicas === undefined ? {} : { replicas }),
          ...(containers === undefined ? {} : { template: { spec: { containers } } }),
        },
      } as unknown as JsonObject)
    fc.assert(
      fc.property(whole, whole, (live, config) => {
        const once = overlaid(schema, objectOf(live), objectOf(config)).object
        if (once === undefined) throw new Error('it fits the schema')
        expect(overlaid(schema, once, objectOf(config)).object).toBe(once)
      }),
      { numRuns: 200 },
    )
  })
})
