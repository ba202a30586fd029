/** A comparison with pauses finds what the one without finds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { workload, workloadSchema } from '../../../test/support/apply-fixtures.ts'
import { Slice } from '../../base/turns.ts'
import type { KubeObject } from '../types.ts'
import { compareObjects, comparingObjects } from './compare.ts'
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

  it('pauses within a map of many members', async () => {
    const labels = (value: string): KubeObject =>
      workload({ metadata: { labels: Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`k${i}`, value])) } })
    const { slice, pauses } = shortSlice()
    await settled(comparingObjects(workloadSchema, labels('a'), labels('b'), undefined, slice))
    expect(pauses()).toBeGreaterThanOrEqual(8)
  })
})
