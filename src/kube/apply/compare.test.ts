/** A comparison with pauses finds what the one without finds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { workload, workloadSchema } from '../../../test/support/apply-fixtures.ts'
import { Slice } from '../../base/turns.ts'
import type { KubeObject } from '../types.ts'
import { compareObjects } from './compare.ts'
import { comparingObjects } from './comparing.ts'
import { settled } from './steps.ts'

const word = fc.constantFrom('a', 'b', '')
const words = fc.oneof(
  fc.dictionary(word, word, { maxKeys: 3 }),
  // More than are gone through in one part.
  fc
    .record({ from: fc.integer({ min: 0, max: 50 }), value: word })
    .map(({ from, value }) => Object.fromEntries(Array.from({ length: 2200 }, (_, i) => [`k${from + i}`, value]))),
  fc.constant(null),
)
const containers = fc.uniqueArray(fc.record({ name: word, resources: fc.record({ limits: words }) }), {
  maxLength: 2,
  selector: ({ name }) => name,
})
const body = fc.record(
  {
    metadata: fc.record({ labels: words }, { requiredKeys: [] }),
    spec: fc.record(
      { selector: fc.record({ matchLabels: words }), template: fc.record({ labels: words, containers }) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)
const objects: fc.Arbitrary<KubeObject> = body.map((fields) => workload(fields as Partial<KubeObject>))

/** Used up whenever it is asked. */
function shortSlice(): { readonly slice: Slice; readonly pauses: () => number } {
  let nowMs = 0
  let pauses = 0
  const slice = new Slice(
    () => (nowMs += 100),
    () => {
      pauses++
      return Promise.resolve()
    },
  )
  return { slice, pauses: () => pauses }
}

describe('a comparison with pauses', () => {
  it('finds what the one without finds', async () => {
    await fc.assert(
      fc.asyncProperty(fc.option(objects, { nil: undefined }), objects, async (live, next) => {
        const { slice } = shortSlice()
        const found = await settled(comparingObjects(workloadSchema, live, next, undefined, slice))
        expect(JSON.stringify(found)).toBe(JSON.stringify(compareObjects(workloadSchema, live, next)))
      }),
      { numRuns: 60 },
    )
  })

  const many = <T>(count: number, make: (i: number) => T): Record<string, T> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, make(i)]))
  const labels = (value: string): KubeObject => workload({ metadata: { labels: many(9000, () => value) } })
  const maps = (value: string): KubeObject =>
    workload({ spec: { any: many(120, () => many(99, () => value)) } as KubeObject['spec'] })
  const list = (value: string): KubeObject =>
    workload({
      spec: {
        template: {
          containers: Object.keys(many(4000, () => '')).map((name) => ({ name, image: value })),
        },
      } as KubeObject['spec'],
    })

  it('goes as far down as a body may', async () => {
    const deep = (value: string): KubeObject => {
      let inner: unknown = many(3000, () => value)
      for (let i = 0; i < 980; i++) inner = { a: inner }
      return workload({ spec: { any: inner } as KubeObject['spec'] })
    }
    for (const live of [undefined, deep('a')]) {
      const { slice, pauses } = shortSlice()
      const found = await settled(comparingObjects(workloadSchema, live, deep('b'), undefined, slice))
      expect(JSON.stringify(found)).toBe(JSON.stringify(compareObjects(workloadSchema, live, deep('b'))))
      expect(pauses()).toBeGreaterThanOrEqual(900)
    }
  })

  it.each([
    { name: 'a map of many members', of: labels, pieces: 8 },
    { name: 'many maps of few', of: maps, pieces: 12 },
    { name: 'a keyed list', of: list, pieces: 8 },
  ])('pauses within $name', async ({ of, pieces }) => {
    for (const live of [undefined, of('a')]) {
      const { slice, pauses } = shortSlice()
      await settled(comparingObjects(workloadSchema, live, of('b'), undefined, slice))
      expect(pauses()).toBeGreaterThanOrEqual(pieces)
    }
  })
})
