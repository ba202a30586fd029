/** What a template means to the author of a namespace: how to be selected, what to give, what comes of it. */
import { expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { describeTemplate, type TemplateDescription } from './describe.ts'
import type { NamespaceTemplate } from './types.ts'

const said = (
  spec: NamespaceTemplate['spec'],
  metadata: object = {},
  more: object = {},
): Promise<TemplateDescription> => {
  const template = { metadata: { name: 'team', ...metadata }, ...(spec === undefined ? {} : { spec }), ...more }
  const client = { get: async () => template, list: async () => ({ items: [] }) } as unknown as Client
  return describeTemplate(client, 'team', AbortSignal.timeout(60_000))
}

test('of one that says nothing: it is for every namespace, and gives none anything', async () => {
  const example = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: '<name>' } }
  const lists = { selects: [], needs: [], parameters: [], objects: [], rights: [], quotas: [], giving: [] }
  const nothing = { ...lists, sets: {}, people: {}, example }
  expect(await said(undefined)).toEqual({ template: 'team', isDisabled: false, ...nothing })
  expect(await said({})).toEqual({ template: 'team', isDisabled: false, ...nothing })
})

test('while its newest generation is stopped, which is in force beside that', async () => {
  expect(await said({}, {}, { status: { heldGeneration: 3 } })).toHaveProperty('heldGeneration', 3)
  expect(await said({}, {}, { status: { heldGeneration: 0 } })).not.toHaveProperty('heldGeneration')
})

test('that it is being deleted', async () => {
  expect(await said({}, { deletionTimestamp: '2026-11-29T11:00:00Z' })).toHaveProperty('isBeingDeleted', true)
  expect(await said({})).not.toHaveProperty('isBeingDeleted')
})

test('it is asked by its name, and told by the name that it has', async () => {
  const asked: unknown[] = []
  const list = async () => ({ items: [] })
  const client = { get: async (...given: unknown[]) => (asked.push(...given.slice(0, 2)), { metadata: {} }), list }
  const { template } = await describeTemplate(client as never, 'team', AbortSignal.timeout(60_000))
  expect(template).toBe('team')
  expect(asked).toEqual([expect.objectContaining({ resource: 'namespacetemplates' }), { name: 'team' }])
})

test.each<{ name: string; namespaces: NonNullable<NamespaceTemplate['spec']>['namespaces']; selects: string[] }>([
  { name: 'labels', namespaces: { labelSelector: { matchLabels: { a: 'b' } } }, selects: ['labels a=b'] },
  { name: 'names', namespaces: { nameSelector: { include: ['a-*', 'b'] } }, selects: ['name a-* or b'] },
  { name: 'other names', namespaces: { nameSelector: { exclude: ['a', 'b'] } }, selects: ['name not a, b'] },
  { name: 'users', namespaces: { creatorSelector: { users: ['alice', 'bob'] } }, selects: ['creator alice or bob'] },
  { name: 'accounts', namespaces: { creatorSelector: { serviceAccounts: ['a/b'] } }, selects: ['creator a/b'] },
  { name: 'no creator at all', namespaces: { creatorSelector: {} }, selects: ['creator '] },
  { name: 'empty selectors', namespaces: { labelSelector: {}, nameSelector: {} }, selects: [] },
  {
    name: 'all at once',
    namespaces: {
      labelSelector: { matchLabels: { a: 'b' } },
      nameSelector: { include: ['a'], exclude: ['b'] },
      creatorSelector: { users: ['u'], serviceAccounts: ['s/t'] },
    },
    selects: ['labels a=b', 'name a', 'name not b', 'creator u or s/t'],
  },
])('it selects by $name', async ({ namespaces, selects }) => {
  expect(await said({ ...(namespaces && { namespaces }) })).toMatchObject({ selects })
})

test('what it takes: the verb use where its template asks for it', async () => {
  const guarded = (value: string) => ({ annotations: { 'policy/namespace-template-require-permission': value } })
  expect(await said({}, guarded('true'))).toMatchObject({ needs: ['use on namespacetemplates team'] })
  expect(await said({}, guarded('false'))).toMatchObject({ needs: [] })
  expect(await said({}, { annotations: {} })).toMatchObject({ needs: [] })
})

test('that it is switched off', async () => {
  const annotations = { 'policy/namespace-template-apply': 'disable' }
  expect(await said({}, { annotations })).toMatchObject({ isDisabled: true })
})

test('parameters: where each is given, and what it may be', async () => {
  const { parameters } = await said({
    parameters: [
      { name: 'size', fromLabel: 'example.com/size', enum: ['small', 'large'], default: 'small' },
      { name: 'cost', fromAnnotation: 'example.com/cost', pattern: '[0-9]+', required: true },
      { name: 'free', fromAnnotation: 'free', default: '' },
    ],
  })
  expect(parameters).toEqual([
    {
      name: 'size',
      from: 'label example.com/size',
      allowed: 'one of "small", "large"',
      default: 'small',
      required: false,
    },
    { name: 'cost', from: 'annotation example.com/cost', allowed: 'text that matches [0-9]+', required: true },
    { name: 'free', from: 'annotation free', allowed: expect.any(String), required: false },
  ])
})

test('what it sets, when it ends, and what it makes', async () => {
  const object = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
  expect(
    await said({
      namespaceMetadata: { labels: { tier: '$(tier)' }, annotations: { note: 'n' } },
      expiry: { ttl: '8h' } as never,
      templates: [object('a')],
      objects: [{ template: object('b'), when: 'true' }],
    }),
  ).toMatchObject({
    sets: { 'label tier': '$(tier)', 'annotation note': 'n' },
    expiry: { ttl: '8h' },
    objects: ['ConfigMap/a', 'ConfigMap/b if true'],
  })
})
