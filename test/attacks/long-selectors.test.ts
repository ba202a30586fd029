/** Selectors of thousands of values: parsing one takes milliseconds, and a client may send a hundred in one turn. */
import { expect, test } from 'vitest'
import { Turns } from '../../src/base/turns.ts'
import { configMaps, startFixture } from '../support/registry-fixture.ts'
import { TurnCounter } from '../support/turn-counter.ts'

const labelSelector = `k in (${Array.from({ length: 1000 }, (_, i) => `v${i}`).join(',')})`
const fieldSelector = Array.from({ length: 300 }, (_, i) => `metadata.name!=n${i}`).join(',')

test.each([
  { name: 'lists by labels', query: { namespace: 'a', labelSelector }, watches: false },
  { name: 'lists by fields', query: { namespace: 'a', fieldSelector }, watches: false },
  { name: 'watches by labels', query: { namespace: 'a', labelSelector }, watches: true },
])('attack: 20 long selectors are parsed one in each turn: $name', async ({ query, watches }) => {
  // No time passes: none of them pauses for having taken long.
  await using f = await startFixture({ deps: { turns: new Turns({ now: () => 0 }) } })
  const counter = new TurnCounter()
  const ends = Array.from({ length: 20 }, async () => {
    if (!watches) return f.registry.list(configMaps, query)
    return (await f.registry.watch(configMaps, { ...query, signal: AbortSignal.abort() }))[Symbol.asyncDispose]()
  })
  await Promise.all(ends)
  counter.stop()
  expect(counter.turns).toBeGreaterThanOrEqual(19)
})
