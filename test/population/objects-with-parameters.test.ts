/** Parameters in `spec.objects`: tokens, conditions on them, and what a namespace without a proper value keeps. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isForbidden } from '../../src/kube/status-error.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import { AnyWorld, anyCluster, refusalAnywhere } from './any-world.ts'
import { elsewhere, onBorough } from './enforcement/clusters.ts'
import { configMap, configMapResource } from './population-world.ts'

const size = { name: 'size', fromLabel: 'example.com/size', enum: ['small', 'large'], default: 'small' }
const when = (expression: string, template: JsonObject): JsonObject => ({ when: expression, template })

describe.each(anyCluster)('$where', ({ start }) => {
  let world: AnyWorld
  beforeAll(async () => {
    world = new AnyWorld(await start())
  })
  afterAll(() => world?.[Symbol.asyncDispose]())

  test('conditions and tokens see what the namespace gives, and follow it', async () => {
    const objects = [
      when("params.size == 'large'", configMap('extra', { a: 'large only' })),
      { template: configMap('about', { size: '$(size)' }) },
    ]
    await world.template('sized', objects, { parameters: [size] })
    await world.namespace('sized-1')
    await world.data('sized-1', 'about', { size: 'small' })
    const extras = { namespace: 'sized-1', fieldSelector: 'metadata.name=extra' }
    expect((await world.admin.list(configMapResource, extras)).items).toEqual([])
    await world.label('sized-1', { 'example.com/size': 'large' })
    await world.data('sized-1', 'extra', { a: 'large only' })
    await world.data('sized-1', 'about', { size: 'large' })
  })

  test('what a namespace keeps for want of a value is corrected by the next controller too', async () => {
    const about = { template: configMap('about', { a: '1', size: '$(size)' }) }
    await world.template('keep', [about, { template: configMap('steady') }], { parameters: [size] })
    await world.namespace('keep-1')
    await world.data('keep-1', 'about', { a: '1', size: 'small' })
    // A generation that leaves one of them as it was.
    const next = { template: configMap('about', { a: '2', size: '$(size)' }) }
    await world.edit('keep', { objects: [next, { template: configMap('steady') }] })
    await world.data('keep-1', 'about', { a: '2', size: 'small' })
    const cost = { name: 'cost', fromLabel: 'example.com/cost', required: true, pattern: '[0-9]+' }
    await world.edit('keep', {
      parameters: [size, cost],
      objects: [{ template: configMap('about', { a: '3 $(cost)' }) }],
    })
    await world.failures('keep', 'ParameterMissing')
    await world.cluster.restart()
    const { admin } = world
    await admin.patch(configMapResource, { namespace: 'keep-1', name: 'about' }, { data: { a: 'spoilt' } })
    await admin.delete(configMapResource, { namespace: 'keep-1', name: 'steady' })
    await world.data('keep-1', 'about', { a: '2', size: 'small' })
    await world.data('keep-1', 'steady', { a: '1' })
    await world.failures('keep', 'ParameterMissing')
    await world.label('keep-1', { 'example.com/cost': '7' })
    await world.data('keep-1', 'about', { a: '3 7' })
  })

  test('a text that is no token is refused in either list', async () => {
    const written = world.template('mistyped', [{ template: configMap('about', { size: '$(sise)' }) }], {
      parameters: [size],
    })
    const known = '$(CREATOR), $(OWNER), $(NAMESPACE), $(size)'
    const why = `$(sise) is no token: there are ${known}. The text itself is written $$(sise)`
    const field = 'spec.objects[0].template.data.size'
    expect(await refusalAnywhere(written)).toMatchObject({
      code: 422,
      details: { causes: [{ reason: 'FieldValueInvalid', message: `Invalid value: "$(sise)": ${why}`, field }] },
    })
  })
})

describe.each([
  { where: 'on Borough', start: onBorough },
  { where: 'elsewhere', start: elsewhere },
])('protection $where', ({ start }) => {
  test('an object stays protected where the namespace lacks a value that its template requires now', async () => {
    await using world = new AnyWorld(await start())
    const about = { protect: true, template: configMap('about', { a: '1' }) }
    await world.template('team', [about])
    await world.namespace('team-1')
    await world.data('team-1', 'about', { a: '1' })
    const tenant = await world.admit('tenant', 'team-1')
    const { default: _, ...required } = size
    await world.edit('team', { parameters: [{ ...required, required: true }] })
    await world.failures('team', 'ParameterMissing')
    const of = { namespace: 'team-1', name: 'about' }
    // An API server reads its policies once a second.
    const trial = { dryRun: true }
    const isHeardOf = (): Promise<boolean> => tenant.delete(configMapResource, of, trial).then(() => false, isForbidden)
    await vi.waitUntil(isHeardOf, { timeout: 30_000, interval: 20 })
    expect(await refusalAnywhere(tenant.delete(configMapResource, of))).toMatchObject({
      code: 403,
      message: expect.stringContaining(
        'user "tenant" cannot delete ConfigMap about in namespace "team-1": template "team" protects it',
      ) as string,
    })
  })
})
