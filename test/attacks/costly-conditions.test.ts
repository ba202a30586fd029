/**
 * Templates whose conditions cost as much as they may, in many namespaces. What is counted is the work of one turn of
 * the loop, by looks at the time that an evaluation takes after each piece of it: no clock is asked.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { JsonObject, KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { configMap, configMapResource, namespaceResource, templateResource } from '../population/population-world.ts'
import { isThere, waitFor } from '../support/wait-for.ts'

const templates = 40
const namespaces = 6
/** In 600,000 pieces of work, all that the conditions of a namespace may take, at one look for 5,000. */
const looksOfOneBudget = 120
/** Each condition is begun with two more. Passes that were judged ahead in turns of their own end in one. */
const mostLooks = 2 * looksOfOneBudget

const twelve = `[${Array.from({ length: 12 }, (_, i) => i)}]`
/** Some ten together use up the budget. */
const when = (n: number): string =>
  `${twelve}.all(x, ${twelve}.all(y, ${twelve}.all(z, x + y + z >= 0))) && ` +
  `namespaceObject.metadata.annotations['a'] != 'no${n}'`
const nameOf = (n: number): string => `t${String(n).padStart(2, '0')}`
const specOf = (n: number, value: string): JsonObject => ({
  failurePolicy: 'Ignore',
  namespaces: { labelSelector: { matchLabels: { costly: 'yes' } } },
  objects: [{ when: when(n), template: configMap(`c${n}`, { value }) }],
})

/** Looks in the turn with the most, and in all. */
class Looks {
  most = 0
  all = 0
  readonly #look = process.threadCpuUsage
  #isOver = false

  constructor() {
    let ofTurn = 0
    process.threadCpuUsage = (before) => {
      this.all++
      this.most = Math.max(this.most, ++ofTurn)
      return this.#look.call(process, before)
    }
    const turn = (): void => {
      ofTurn = 0
      if (!this.#isOver) setImmediate(turn)
    }
    turn()
  }

  stop(): this {
    this.#isOver = true
    process.threadCpuUsage = this.#look
    return this
  }
}

let plane: TestControlPlane
beforeAll(async () => {
  plane = await startControlPlane()
  for (let n = 0; n < templates; n++)
    await plane.client.create(templateResource, { metadata: { name: nameOf(n) }, spec: specOf(n, '1') } as KubeObject)
  for (let i = 0; i < namespaces; i++) {
    const metadata = { name: `n${i}`, labels: { costly: 'yes' }, annotations: { a: 'yes' } }
    await plane.client.create(namespaceResource, { metadata })
    await waitFor(plane.client, configMapResource, { namespace: `n${i}`, name: 'c0' }, isThere)
  }
}, 60_000)
afterAll(() => plane?.[Symbol.asyncDispose]())

const valueIn = async (i: number, name: string): Promise<unknown> =>
  ((await plane.client.get(configMapResource, { namespace: `n${i}`, name })) as KubeObject & { data: JsonObject }).data[
    'value'
  ]

test('attack: an edit of all templates holds the loop for no more than one namespace in a turn', async () => {
  const looks = new Looks()
  for (let n = 0; n < templates; n++)
    await plane.client.patch(templateResource, { name: nameOf(n) }, { spec: specOf(n, '2') })
  await vi.waitFor(
    async () => {
      for (let i = 0; i < namespaces; i++) expect(await valueIn(i, 'c0')).toBe('2')
    },
    { timeout: 60_000 },
  )
  expect(looks.stop().most).toBeLessThan(mostLooks)
}, 90_000)

test('attack: a new namespace is judged a few conditions at a time, by its create and by the controller', async () => {
  const looks = new Looks()
  const metadata = { name: 'new', labels: { costly: 'yes' }, annotations: { a: 'yes' } }
  await plane.client.create(namespaceResource, { metadata })
  await waitFor(plane.client, configMapResource, { namespace: 'new', name: 'c0' }, isThere)
  expect(looks.stop().most).toBeLessThan(looksOfOneBudget / 2)
})

test('attack: passes over what has not changed judge none of it again', async () => {
  const looks = new Looks()
  for (let i = 0; i < namespaces; i++) {
    await plane.client.patch(configMapResource, { namespace: `n${i}`, name: 'c0' }, { data: { value: 'of a tenant' } })
    await vi.waitFor(async () => expect(await valueIn(i, 'c0')).toBe('2'), { timeout: 30_000 })
  }
  // To judge all that a budget allows, once for each namespace, would take so many.
  expect(looks.stop().all).toBeLessThan(namespaces * looksOfOneBudget)
}, 60_000)

test('attack: a write of what may be protected is judged a few conditions at a time', async () => {
  const protectedName = 'guarded'
  const objects = Array.from({ length: 12 }, (_, n) => ({
    when: `${when(100 + n)} && namespaceObject.metadata.name == 'nowhere'`,
    protect: true,
    template: configMap(n === 0 ? protectedName : `guarded-${n}`),
  }))
  const spec = { ...specOf(0, '1'), objects }
  await plane.client.create(templateResource, { metadata: { name: 'guards' }, spec } as KubeObject)
  // Else the controller would have judged what the write asks.
  const switchOf = { namespace: 'kube-system', name: 'borough-population' }
  await plane.client.create(configMapResource, { metadata: switchOf, data: { paused: 'true' } } as KubeObject)
  await plane.client.patch(namespaceResource, { name: 'n0' }, { metadata: { annotations: { a: 'of a tenant' } } })
  const looks = new Looks()
  await plane.client.create(configMapResource, { metadata: { namespace: 'n0', name: protectedName } })
  expect(looks.stop().all).toBeGreaterThan(looksOfOneBudget / 3)
  expect(looks.most).toBeLessThan(looksOfOneBudget / 3)
})
