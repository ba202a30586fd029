/** Writes that are only rehearsed: what is asked of the server, and what is remembered of its answers. */
import { beforeEach, describe, expect, test } from 'vitest'
import { notFound } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { type DryRun, type DryRunDeps, startDryRun } from './dry-run-client.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' } as const
const namespaces = { group: '', version: 'v1', resource: 'namespaces' } as const
const namespace: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }
const ref = { namespace: 'team', name: 'one' }
const configMap = (data: object, more: object = {}): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', data },
  metadata: { ...ref, ...more },
})
const options = { fieldManager: 'm' }

/** What the server was asked, in order. */
let asked: unknown[][]
let there: KubeObject | undefined
let answer: (...given: unknown[]) => KubeObject
let dryRun: DryRun
beforeEach(() => {
  asked = []
  there = undefined
  answer = (_, object) => object as KubeObject
  const asks =
    (verb: string) =>
    async (...given: unknown[]): Promise<KubeObject> => {
      asked.push([verb, ...given])
      return answer(...given)
    }
  const client = {
    discovery: { findKind: async () => undefined },
    async get(resource: typeof configMaps, to: typeof ref) {
      asked.push(['get', resource, to])
      if (there === undefined) throw notFound(resource, to.name)
      return there
    },
    apply: asks('apply'),
    update: asks('update'),
    patch: asks('patch'),
    delete: asks('delete'),
  } as unknown as DryRunDeps['client']
  dryRun = startDryRun({ client, namespace, index: { find: () => undefined } })
})

describe('an apply', () => {
  test('is a dry run, beside what is there before it', async () => {
    there = configMap({ a: '1' })
    await dryRun.client.apply(configMaps, configMap({ a: '2' }), { ...options, force: true })
    expect(asked).toEqual([
      ['get', configMaps, ref],
      ['apply', configMaps, configMap({ a: '2' }), { ...options, force: true, dryRun: true }],
    ])
    expect(dryRun.find('ConfigMap/one')).toEqual({ before: there, after: configMap({ a: '2' }) })
    expect([dryRun.find('ConfigMap/two'), dryRun.isShared()]).toEqual([undefined, false])
  })

  test('of what must be absent looks for nothing, and is made where the server says so', async () => {
    await dryRun.client.apply(configMaps, configMap({ a: '1' }), { ...options, mustBeAbsent: true })
    expect(asked).toEqual([['apply', configMaps, configMap({ a: '1' }), { ...options, dryRun: true }]])
    expect(dryRun.find('ConfigMap/one')).toEqual({ before: undefined, after: configMap({ a: '1' }) })
  })

  test.each([
    { name: 'that is there all the same', first: (): KubeObject => configMap({}, { resourceVersion: '7' }) },
    {
      name: 'that is refused',
      first: (): never => {
        throw new Error('no')
      },
    },
  ])('of what must be absent, $name, is asked for as that', async ({ first }) => {
    answer = (_, object) => (asked.length === 1 ? first() : (object as KubeObject))
    await dryRun.client.apply(configMaps, configMap({ a: '1' }), { ...options, mustBeAbsent: true })
    expect(asked.map(([, , , how]) => how)).toEqual([
      { ...options, dryRun: true },
      { ...options, mustBeAbsent: true, dryRun: true },
    ])
  })
})

describe('an update', () => {
  test('of what was looked at is what would change', async () => {
    there = configMap({ a: '1' })
    await dryRun.client.apply(configMaps, configMap({ a: '2' }), options)
    const next = configMap({ a: '3' })
    expect(await dryRun.client.update(configMaps, next, {})).toBe(next)
    expect(asked.at(-1)).toEqual(['update', configMaps, next, { dryRun: true }])
    expect(dryRun.find('ConfigMap/one')).toEqual({ before: there, after: next })
  })

  test('that was to be a dry run anyway leaves what the apply would change', async () => {
    there = configMap({ a: '1' })
    await dryRun.client.apply(configMaps, configMap({ a: '2' }), options)
    await dryRun.client.update(configMaps, configMap({ a: '3' }), { dryRun: true })
    expect(dryRun.find('ConfigMap/one')).toEqual({ before: there, after: configMap({ a: '2' }) })
  })

  test('of what would only be created is not asked for', async () => {
    const next = configMap({ a: '3' })
    await dryRun.client.apply(configMaps, configMap({ a: '2' }), options)
    expect(await dryRun.client.update(configMaps, next)).toBe(next)
    expect(asked.map(([verb]) => verb)).toEqual(['get', 'apply'])
    expect(dryRun.find('ConfigMap/one')).toEqual({ before: undefined, after: configMap({ a: '2' }) })
  })
})

describe('a read', () => {
  test('is asked for once', async () => {
    there = configMap({ a: '1' })
    for (let i = 0; i < 2; i++) expect(await dryRun.client.get(configMaps, ref)).toBe(there)
    expect(asked).toEqual([['get', configMaps, ref]])
  })

  test('of what is not there fails as the server does', async () => {
    await expect(dryRun.client.get(configMaps, ref)).rejects.toThrow('configmaps "one" not found')
  })
})

describe('a patch', () => {
  test('of the namespace itself is not asked for: these templates are stored nowhere', async () => {
    expect(await dryRun.client.patch(namespaces, { name: 'team' }, { metadata: {} })).toBe(namespace)
    expect(asked).toEqual([])
  })

  test('of anything else is a dry run, a kind of that name in another group too', async () => {
    const others = { ...namespaces, group: 'example.com' }
    for (const resource of [configMaps, others]) {
      await dryRun.client.patch(resource, ref, { metadata: { labels: { a: 'b' } } }, { fieldManager: 'm' })
    }
    const how = { fieldManager: 'm', dryRun: true }
    expect(asked).toEqual([
      ['patch', configMaps, ref, { metadata: { labels: { a: 'b' } } }, how],
      ['patch', others, ref, { metadata: { labels: { a: 'b' } } }, how],
    ])
  })
})

test('a deletion is a dry run', async () => {
  const how = { propagationPolicy: 'Background' } as const
  await dryRun.client.delete(configMaps, ref, how)
  await dryRun.client.delete(configMaps, ref)
  expect(asked).toEqual([
    ['delete', configMaps, ref, { ...how, dryRun: true }],
    ['delete', configMaps, ref, { dryRun: true }],
  ])
})
