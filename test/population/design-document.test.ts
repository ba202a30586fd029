/**
 * Sentences of the design document 'Namespace Population' that no other test of this folder is named after. The rest:
 * templates.test.ts (matching, tokens, creator, permission, opt-out, drift, pruning, authors), bad-input.test.ts
 * (schema validation, events), any-cluster.test.ts (namespaces older than the controller), initializers.test.ts (who
 * sees and may write what is not ready), examples.test.ts (its files).
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  configMap,
  configMapResource,
  namespaceResource,
  PopulationWorld,
  refusal,
  templateResource,
} from './population-world.ts'

let world: PopulationWorld
beforeEach(async () => {
  world = await PopulationWorld.start()
})
afterEach(() => world[Symbol.asyncDispose]())

const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
const widgets = { group: 'ex.io', version: 'v1', resource: 'widgets' }
const widget: JsonObject = { apiVersion: 'ex.io/v1', kind: 'Widget', metadata: { name: 'w' }, spec: { size: 3 } }
const phaseOf = (o: KubeObject | undefined): unknown => (o?.['status'] as JsonObject | undefined)?.['phase']

async function defineWidgets(): Promise<void> {
  const schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } }
  await world.admin.create(
    { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
    {
      metadata: { name: 'widgets.ex.io' },
      spec: {
        group: 'ex.io',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    },
  )
  await expect.poll(() => world.admin.discovery.findKind('ex.io/v1', 'Widget')).toBeDefined()
}

async function holding(username: string, ...rules: JsonObject[]): Promise<Client> {
  const metadata = { name: `of-${username}` }
  await world.admin.create(rbac('clusterroles'), { metadata, rules })
  await world.admin.create(rbac('clusterrolebindings'), {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }],
  })
  return world.clientAs(username)
}

describe('the mechanism is agnostic to object types as long as they are namespace scoped', () => {
  test('a custom resource is given as well', async () => {
    await defineWidgets()
    await world.template('t', [widget])
    await world.namespace('team')
    expect(await world.admin.get(widgets, { namespace: 'team', name: 'w' })).toMatchObject({ spec: { size: 3 } })
    await world.edit('t', { templates: [] })
    await waitFor(world.admin, widgets, { namespace: 'team', name: 'w' }, (o) => o === undefined)
  })

  test('one that its schema refuses is refused when the template is written', async () => {
    await defineWidgets()
    const bad = { ...widget, spec: { size: 'large', colour: 'red' } }
    const status = await refusal(world.template('t', [bad]))
    expect(status.details?.causes?.map((c) => c.field).sort()).toEqual([
      'spec.templates[0].spec.colour',
      'spec.templates[0].spec.size',
    ])
  })

  test('a kind that is defined later is made then, and the namespace opens', async () => {
    await world.template('t', [widget])
    const held = { includeUninitialized: true }
    await world.admin.create(namespaceResource, { metadata: { name: 'team' } }, held)
    await world.status('t', (s) => s['failed'] === 1)
    await defineWidgets()
    await waitFor(world.admin, namespaceResource, { name: 'team' }, (n) => phaseOf(n) === 'Active')
    expect(await world.admin.get(widgets, { namespace: 'team', name: 'w' })).toMatchObject({ spec: { size: 3 } })
  })
})

test('during this period, no other users should be able to create objects into the namespace', async () => {
  // Nobody serves the kind: the period does not end by itself.
  await world.template('t', [widget])
  const create = { verbs: ['create'], apiGroups: [''], resources: ['configmaps', 'namespaces'] }
  const editor = await holding('editor', create)
  const initializer = await holding('initializer', create, {
    verbs: ['initialize'],
    apiGroups: [''],
    resources: ['namespaces'],
  })
  const stranger = await holding('stranger', { ...create, resources: ['namespaces'] })
  await editor.create(namespaceResource, { metadata: { name: 'team' } }, { includeUninitialized: true })
  const write = (by: Client, name: string): Promise<KubeObject> =>
    by.create(configMapResource, { ...configMap(name), metadata: { namespace: 'team', name } })
  expect(await refusal(write(editor, 'a'))).toMatchObject({ code: 429, reason: 'TooManyRequests' })
  expect(await refusal(write(stranger, 'b'))).toMatchObject({ code: 403, reason: 'Forbidden' })
  await write(initializer, 'c')
  await world.edit('t', { templates: [] })
  await waitFor(world.admin, namespaceResource, { name: 'team' }, (n) => phaseOf(n) === 'Active')
  await write(editor, 'a')
})

test('objects are applied, under a name of its own, and labelled with their template', async () => {
  await world.template('t', [configMap('one')])
  await world.namespace('team')
  const { metadata } = await world.admin.get(configMapResource, { namespace: 'team', name: 'one' })
  expect(metadata.labels).toEqual({ 'policy/namespace-template-name': 't' })
  expect(metadata.managedFields).toMatchObject([
    {
      manager: 'namespace-template',
      operation: 'Apply',
      fieldsV1: { 'f:data': { 'f:a': {} }, 'f:metadata': { 'f:labels': { 'f:policy/namespace-template-name': {} } } },
    },
  ])
})

test('a disabled template changes nothing, and goes on when it is enabled', async () => {
  const one = { namespace: 'team', name: 'one' }
  const apply = (value: string | null): Promise<KubeObject> =>
    world.admin.patch(
      templateResource,
      { name: 't' },
      { metadata: { annotations: { 'policy/namespace-template-apply': value } } },
    )
  await world.template('t', [configMap('one'), configMap('two')])
  await world.namespace('team')
  await apply('disable')
  await world.status('t', (s) => s['matched'] === 0)
  await world.admin.patch(configMapResource, one, { data: { a: 'mine' } })
  await world.edit('t', { templates: [configMap('one', { a: '2' })] })
  await world.status('t', (s) => s['observedGeneration'] === 2)
  // Whatever would have been done to it, has been done when another one is ready.
  await world.namespace('other')
  expect(await world.data('team', 'one')).toEqual({ a: 'mine' })
  expect(await world.data('team', 'two')).toEqual({ a: '1' })
  await apply(null)
  await waitFor(world.admin, configMapResource, one, (o) => JSON.stringify(o?.['data']) === '{"a":"2"}')
  await waitFor(world.admin, configMapResource, { ...one, name: 'two' }, (o) => o === undefined)
})

test('the items in the templates are concatenated according to the order of names', async () => {
  // Made in the other order; each is told what was there before it by the revision that it was given.
  for (const name of ['c', 'a', 'b']) {
    const pod = { spec: { containers: [{ name: 'c', image: 'i' }] } }
    await world.template(name, [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: `of-${name}` }, ...pod }])
  }
  await world.namespace('team')
  const { items } = await world.admin.list({ ...configMapResource, resource: 'pods' }, { namespace: 'team' })
  const made = items.toSorted((x, y) => Number(x.metadata.resourceVersion) - Number(y.metadata.resourceVersion))
  expect(made.map((p) => p.metadata.name)).toEqual(['of-a', 'of-b', 'of-c'])
})
