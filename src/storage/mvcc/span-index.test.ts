import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { spanTest } from './key-span.ts'
import { SpanIndex } from './span-index.ts'

describe('SpanIndex', () => {
  it('finds exactly the owners whose span holds the key, also after some have left', () => {
    const key = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', 'b', 'c', '/', '\uffee', '😀') })
    const span = fc.record({ start: key, end: key })
    fc.assert(
      fc.property(fc.array(span, { maxLength: 8 }), fc.array(fc.nat(7)), fc.array(key), (spans, leaving, keys) => {
        const index = new SpanIndex<number>()
        for (const [owner, s] of spans.entries()) index.add(owner, s)
        const check = (gone: ReadonlySet<number>): void => {
          for (const k of [...keys, ...spans.flatMap((s) => [s.start, s.end])]) {
            const want = spans.flatMap((s, owner) => (spanTest(s)(k) && !gone.has(owner) ? [owner] : []))
            expect([...index.find(k)].sort()).toEqual(want)
          }
        }
        check(new Set())
        for (const owner of leaving) index.remove(owner)
        check(new Set(leaving))
      }),
      { numRuns: 100 },
    )
  })
})
