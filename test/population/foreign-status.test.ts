import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { templateResource } from '../../src/apis/templates/types.ts'
import { AnyWorld, anyCluster } from './any-world.ts'

describe.each(anyCluster)('$where', ({ where, start }) => {
  let world: AnyWorld
  beforeAll(async () => {
    world = new AnyWorld(await start(), where !== 'on Borough')
  }, 120_000)
  afterAll(() => world?.[Symbol.asyncDispose]())

  test('a status that a process wrote late, which led before, is put right', async () => {
    await world.template('late', [])
    await world.namespace('late-1')
    await world.synced('late')
    await world.admin.patch(templateResource, { name: 'late' }, { status: { synced: 7 } }, { subresource: 'status' })
    await expect
      .poll(async () => (await world.admin.get(templateResource, { name: 'late' }))['status'], { timeout: 20_000 })
      .toMatchObject({ synced: 1 })
  })
})
