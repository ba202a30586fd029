/** Whatever the owners of namespaces are called, a plan that asks some tells what one tells that asks in each. */
import { expect, test } from 'vitest'
import { planTemplates } from '../../src/apis/templates/plan.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { configMap, ofUsers, PopulationWorld } from './population-world.ts'

const held = (a: string): JsonObject[] => [configMap('fixed', { a }), configMap('own', { by: `${a} $(OWNER)` })]

test.each([
  { name: 'hold what means something where texts are replaced', owners: ["pay$&team $' $$"] },
  { name: 'are a word of what a plan keeps', owners: ['after', 'bob'] },
  { name: 'are a word of what objects are', owners: ['kind', 'bob'] },
  { name: 'are a word of what a plan tells', owners: ['object', 'bob'] },
])('that $name', async ({ owners }) => {
  await using world = await PopulationWorld.start()
  await world.template('t', held('1'))
  // More of the first than are asked at one time.
  for (let i = 0; i < 25; i++) {
    const owner = owners[i < 20 ? 0 : owners.length - 1] ?? ''
    await world.namespace(`ns-${i + 10}`, { annotations: { 'borough.dev/owner': owner } })
  }
  const edited = {
    namespaces: ofUsers,
    templates: [...held('2'), configMap('new'), configMap('by', { a: '$(OWNER)' })],
  }
  const template = { apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', metadata: { name: 't' } }
  const deps = { client: world.admin, clock: systemClock, signal: AbortSignal.timeout(60_000), asksOfAlike: 3 }
  const plan = (asksEachUpTo: number) =>
    planTemplates({ ...deps, asksEachUpTo }, [{ ...template, spec: edited } as KubeObject])
  const [{ believed = 0, ...told } = {}] = await plan(5)
  expect([told]).toEqual(await plan(100))
  expect(believed).toBeGreaterThan(0)
})
