/** A template that says more than this version understands: a newer one is gone, or not there yet. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/kube/types.ts'
import { templateDefinition } from '../../src/populate/definition.ts'
import { otherAdmissions } from '../support/other-cluster.ts'
import { invalidObject, refusal } from '../support/refusal.ts'
import { isGone, waitFor } from '../support/wait-for.ts'
import { AnyWorld, anyCluster } from './any-world.ts'
import { elsewhere, elsewhereByWebhooks, onBorough } from './enforcement/clusters.ts'
import { conditionOf, configMap, configMapResource, namespaceResource, templateResource } from './population-world.ts'

const level = 'policy.borough.dev/feature-level'
const needsTwo = `the template needs feature level 2 (annotation ${level}), and this is 1`
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
const definition = { name: templateDefinition().metadata.name ?? '' }
const entry = (name: string): JsonObject => ({ template: configMap(name) })

/** Both objects are there, the same as before. */
async function uidsIn(world: AnyWorld, namespace: string): Promise<(string | undefined)[]> {
  const found = await Promise.all(['a', 'b'].map((name) => world.admin.get(configMapResource, { namespace, name })))
  return found.map(({ metadata }) => metadata.uid)
}

describe.each(anyCluster)('$where', ({ start }) => {
  let world: AnyWorld
  beforeAll(async () => {
    world = new AnyWorld(await start())
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  test('what is left of it under an older definition prunes nothing, by the next controller either', async () => {
    await world.template('newer', [entry('a'), entry('b')])
    await world.namespace('newer-1')
    await world.synced('newer')
    const before = await uidsIn(world, 'newer-1')
    const left = { metadata: { annotations: { [level]: '2' } }, spec: { objects: [entry('a')] } }
    await world.admin.patch(templateResource, { name: 'newer' }, left)
    const failure = { namespace: 'newer-1', object: 'template', reason: 'NewerTemplate', message: needsTwo }
    expect(await world.failures('newer', 'NewerTemplate')).toEqual([failure])
    await world.cluster.restart()
    // It has been looked at by the next controller when that has put another object right.
    await world.template('witness', [entry('seen')], { namespaces: { nameSelector: { include: ['newer-1'] } } })
    await world.synced('witness')
    expect(await world.failures('newer', 'NewerTemplate')).toEqual([failure])
    expect(await uidsIn(world, 'newer-1')).toEqual(before)

    await world.admin.patch(templateResource, { name: 'newer' }, { metadata: { annotations: { [level]: null } } })
    await waitFor(world.admin, configMapResource, { namespace: 'newer-1', name: 'b' }, isGone)
    await world.synced('newer')
  })

  test('one that does not select a namespace any more leaves what it made there', async () => {
    await world.template('moved', [entry('a'), entry('b')])
    await world.namespace('moved-1')
    await world.synced('moved')
    const before = await uidsIn(world, 'moved-1')
    await world.admin.patch(
      templateResource,
      { name: 'moved' },
      {
        metadata: { annotations: { [level]: '2' } },
        spec: { namespaces: { nameSelector: { include: ['others'] } } },
      },
    )
    await world.status('moved', (s) => s['observedGeneration'] === 2)
    await world.template('moves', [entry('seen')], { namespaces: { nameSelector: { include: ['moved-1'] } } })
    await world.synced('moves')
    expect(await uidsIn(world, 'moved-1')).toEqual(before)
  })
})

describe.each([
  { where: 'on Borough', start: onBorough },
  { where: 'by webhooks elsewhere', start: elsewhereByWebhooks },
])('$where', ({ start }) => {
  test('a namespace for such a template is refused', async () => {
    await using world = new AnyWorld(await start())
    await world.template('newer', [entry('a')])
    await world.admin.patch(templateResource, { name: 'newer' }, { metadata: { annotations: { [level]: 'two' } } })
    const said = await refusal(world.admin.create(namespaceResource, { metadata: { name: 'newer-2' } }))
    const fault =
      'metadata: Forbidden: template "newer" selects it, which needs feature level two ' +
      `(annotation ${level}), and this is 1`
    const message = said.message?.replace(/^admission webhook "[^"]*" denied the request: /, '') ?? ''
    expect({ ...said, message }).toEqual(invalidObject({ kind: 'Namespace', name: 'newer-2' }, [fault]))
  })
})

test('a controller that comes back leaves the definition of a newer one, and its templates, as they are', async () => {
  await using world = new AnyWorld(await elsewhere())
  const { admin } = world
  await world.template('newer', [entry('a'), entry('b')])
  await world.namespace('newer-1')
  await world.synced('newer')
  const before = await uidsIn(world, 'newer-1')

  const { spec } = (await admin.get(definitions, definition)) as unknown as {
    spec: { versions: [{ schema: { openAPIV3Schema: { properties: { spec: { properties: JsonObject } } } } }] }
  }
  spec.versions[0].schema.openAPIV3Schema.properties.spec.properties['next'] = { type: 'string' }
  await admin.patch(definitions, definition, { metadata: { annotations: { [level]: '2' } }, spec })
  const write = async (more: JsonObject): Promise<unknown> => {
    const written = await admin.patch(templateResource, { name: 'newer' }, { spec: { next: 'x', ...more } })
    return (written['spec'] as JsonObject)['next']
  }
  // The server goes by the new definition in a moment. Until then it drops the field, and what is left is understood.
  await expect.poll(() => write({})).toBe('x')
  expect(await write({ objects: [entry('a')] })).toBe('x')
  await world.cluster.restart()
  const message = 'the template has spec.next, a field that this version does not know'
  expect(await world.failures('newer', 'NewerTemplate')).toMatchObject([{ namespace: 'newer-1', message }])
  expect(await uidsIn(world, 'newer-1')).toEqual(before)
  const { metadata } = await admin.get(definitions, definition)
  expect(metadata.annotations).toMatchObject({ [level]: '2' })

  // Another version is in force, so policies ask a webhook: it knows what it does not understand, and says so.
  const name = 'newer-2'
  const { message: said = '', ...refused } = await refusal(admin.create(namespaceResource, { metadata: { name } }))
  const fault =
    'metadata: Forbidden: template "newer" selects it, which has spec.next, a field that this version does not know'
  const told = said.replace(/^admission webhook "[^"]*" denied the request: /, '')
  expect({ ...refused, message: told }).toEqual(invalidObject({ kind: 'Namespace', name }, [fault]))
})

const decidesByPolicies = (await otherAdmissions()).includes('policies')

test.runIf(decidesByPolicies)('by policies: a namespace for such a template waits for one that knows it', async () => {
  await using world = new AnyWorld(await elsewhere())
  const { admin } = world
  await world.template('newer', [entry('a')])
  await world.namespace('newer-1')
  await world.synced('newer')
  await admin.patch(templateResource, { name: 'newer' }, { metadata: { annotations: { [level]: '2' } } })
  const name = 'newer-2'
  await admin.create(namespaceResource, { metadata: { name } })
  const waiting = await waitFor(admin, namespaceResource, { name }, (n) =>
    JSON.stringify(n?.['status'] ?? {}).includes('NewerTemplate'),
  )
  expect(conditionOf((waiting?.['status'] ?? {}) as JsonObject, 'Populated')).toMatchObject({ status: 'False' })
  expect(waiting?.metadata.labels).toMatchObject({ 'policy/namespace-template-pending': 'true' })
})
