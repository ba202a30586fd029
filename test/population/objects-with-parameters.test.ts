/** Parameters in `spec.objects`: tokens, conditions on them, and what a namespace without a proper value keeps. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
  }, 60_000)
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
    expect(await refusalAnywhere(tenant.delete(configMapResource, of))).toMatchObject({
      code: 403,
      message: expect.stringContaining(
        'user "tenant" cannot delete ConfigMap about in namespace "team-1": template "team" protects it',
      ) as string,
    })
  })
})
