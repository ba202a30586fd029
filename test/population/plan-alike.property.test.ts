/**
 * A plan that asks some namespaces what the others would answer alike tells what one tells that asks in each: whatever
 * the templates hold, what namespaces give, and what their tenants have changed.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { planTemplates, type TemplatePlan } from '../../src/apis/templates/plan.ts'
import { pausedKey, populationConfig } from '../../src/apis/templates/population-config.ts'
import { templateNameLabel } from '../../src/apis/templates/types.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { conditionOf, configMap, configMapResource, PopulationWorld } from './population-world.ts'

const names = Array.from({ length: 48 }, (_, i) => `${i % 3 === 0 ? 'team' : 'dev'}-${String(i).padStart(2, '0')}`)
const sizes = ['small', 'large', undefined]
const own = configMap('own', { by: '$(NAMESPACE)', of: '$(OWNER)' })

let world: PopulationWorld
beforeAll(async () => {
  world = await PopulationWorld.start()
  await world.template('t', [configMap('one'), configMap('two'), own], {
    namespaces: { nameSelector: { include: ['team-*', 'dev-*'] } },
    namespaceMetadata: { labels: { tier: 'free' } },
  })
  for (const [i, name] of names.entries()) {
    const size = sizes[i % sizes.length]
    await world.namespace(name, {
      labels: size === undefined ? {} : { size },
      annotations: { 'borough.dev/owner': `user-${i % 5}`, seen: String(i) },
    })
  }
  // What tenants change stays as they have it.
  const { name: config, namespace: system } = populationConfig
  await world.admin.create(configMapResource, {
    metadata: { namespace: system, name: config },
    data: { [pausedKey]: 'true' },
  } as KubeObject)
  await world.status('t', (status) => conditionOf(status, 'Progressing')?.['reason'] === 'PopulationPaused')
  // Not where the first are asked: what answers otherwise there is asked everywhere.
  for (const [i, name] of names.entries()) if (i >= 20) await changeByHand(i, name)
}, 60_000)
afterAll(() => world[Symbol.asyncDispose]())

async function changeByHand(i: number, namespace: string): Promise<void> {
  const change = (name: string, patch: JsonObject): Promise<KubeObject> =>
    world.admin.patch(configMapResource, { namespace, name }, patch)
  if (i % 7 === 0) await change('one', { data: { a: 'mine' } })
  if (i % 11 === 0) await change('two', { data: { more: namespace } })
  if (i % 6 === 5) await change('one', { metadata: { finalizers: ['example.com/own'] } })
  if (i % 13 === 0) await change('own', { metadata: { labels: { [templateNameLabel]: null } } })
  const three: KubeObject = { metadata: { namespace, name: 'three' }, data: { a: '1' } }
  if (i % 5 === 0) await world.admin.create(configMapResource, three)
  if (i % 9 === 0) await world.admin.delete(configMapResource, { namespace, name: 'two' })
}

const text = fc.constantFrom('1', '2', '$(NAMESPACE)', 'of $(OWNER)', '$(CREATOR)', '$(NAMESPACE)x', '$(size)', 'mine')
const conditions = ["params.size == 'large'", "namespaceObject.metadata.name.startsWith('team')", "params.size != ''"]
const objectsNamed = (...held: readonly string[]) =>
  fc.record(
    {
      template: fc
        .tuple(fc.constantFrom(...held), text, fc.constantFrom<JsonObject>({}, { finalizers: ['example.com/given'] }))
        .map(([name, a, more]): JsonObject => ({ ...configMap(name, { a }), metadata: { ...more, name } })),
      when: fc.constantFrom(...conditions),
      drift: fc.constantFrom('Strict', 'Report', 'Correct'),
    },
    { requiredKeys: ['template'] },
  )
/** Two templates that select the same namespaces may not hold the same. */
const specWith = (...held: readonly string[]) =>
  fc.record(
    {
      namespaces: fc.constantFrom<JsonObject>(
        {},
        { nameSelector: { include: ['team-*'] } },
        { labelSelector: { matchExpressions: [{ key: 'size', operator: 'Exists' }] } },
      ),
      parameters: fc.constant<JsonObject[]>([{ name: 'size', fromLabel: 'size', default: 'small' }]),
      objects: fc.uniqueArray(objectsNamed(...held), {
        maxLength: 4,
        selector: ({ template, when }) => `${(template['metadata'] as { name: string }).name} ${when}`,
      }),
      adopt: fc.boolean(),
      deletionPolicy: fc.constantFrom('Delete', 'Orphan'),
      driftPolicy: fc.constantFrom('Correct', 'Report'),
    },
    { requiredKeys: ['namespaces', 'parameters', 'objects'] },
  )

async function plan(templates: readonly KubeObject[], asksEachUpTo: number): Promise<readonly TemplatePlan[]> {
  const { signal } = new AbortController()
  const deps = { client: world.admin, clock: systemClock, signal, asksEachUpTo, asksOfAlike: 4 }
  return planTemplates(deps, templates)
}

const named = (name: string, of: JsonObject): KubeObject => ({
  apiVersion: 'policy.borough.dev/v1alpha1',
  kind: 'NamespaceTemplate',
  metadata: { name },
  spec: of,
})

test('a plan that asks some is the plan that asks in each', async () => {
  let believed = 0
  await fc.assert(
    fc.asyncProperty(
      specWith('one', 'two', 'own', 'x-$(NAMESPACE)'),
      fc.constantFrom('free', '$(size)'),
      fc.option(specWith('three', 'four', 'y-$(NAMESPACE)'), { nil: undefined }),
      async (edited, tier, other) => {
        const namespaceMetadata = { labels: { tier } }
        const templates = [named('t', { ...edited, namespaceMetadata } as JsonObject)]
        if (other !== undefined) templates.push(named('u', other as JsonObject))
        const each = await plan(templates, Number.POSITIVE_INFINITY)
        const some = await plan(templates, 10)
        expect(some.map(({ believed: _, ...told }) => told)).toEqual(each)
        for (const told of some) believed += told.believed ?? 0
      },
    ),
    { numRuns: 15 },
  )
  // Enough was believed for this to say something.
  expect(believed).toBeGreaterThan(50)
}, 120_000)
