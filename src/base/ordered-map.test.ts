import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OrderedMap } from './ordered-map.ts'

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** Everything from `start`, by the cursor. */
function walk(map: OrderedMap<number>, start: string): [string, number][] {
  const found: [string, number][] = []
  for (const cursor = map.seek(start); cursor.key !== undefined; cursor.next()) {
    found.push([cursor.key, cursor.value ?? Number.NaN])
  }
  return found
}

describe('OrderedMap', () => {
  it('agrees with a sorted list after any sets and deletes', () => {
    const key = fc.oneof(
      fc.integer({ min: 0, max: 3000 }).map((n) => `/registry/pods/${n}`),
      fc.string({ minLength: 1, maxLength: 3, unit: 'binary' }).filter((s) => s.isWellFormed()),
    )
    // Several blocks' worth from the start: splits and joins only happen then.
    const filled = fc.constantFrom(0, 511, 512, 513, 2000)
    fc.assert(
      fc.property(
        filled,
        fc.boolean(),
        fc.array(fc.tuple(key, fc.option(fc.nat()), fc.boolean()), { maxLength: 300 }),
        key,
        key,
        fc.nat({ max: 40 }),
        (count, upwards, changes, start, end, limit) => {
          const map = new OrderedMap<number>()
          const model = new Map<string, number>()
          for (let i = 0; i < count; i++) {
            const k = `/registry/pods/${upwards ? 1000 + i : 3000 - i}`
            map.set(k, i)
            model.set(k, i)
          }
          for (const [k, value, replaces] of changes) {
            const before = model.get(k)
            if (value === null) {
              expect(map.delete(k)).toBe(before)
              model.delete(k)
            } else {
              expect(replaces ? map.set(k, value) : map.add(k, value)).toBe(before)
              if (replaces || before === undefined) model.set(k, value)
            }
          }
          const sorted = [...model].sort((a, b) => byBytes(a[0], b[0]))
          expect(map.size).toBe(model.size)
          expect(walk(map, '')).toEqual(sorted)
          expect(walk(map, start)).toEqual(sorted.filter(([k]) => byBytes(k, start) >= 0))
          const inside = sorted.filter(([k]) => byBytes(k, start) >= 0 && byBytes(k, end) < 0).map(([, v]) => v)
          expect(map.collect(start, end, limit)).toEqual({
            values: inside.slice(0, limit),
            more: inside.length > limit,
          })
          for (const [k] of changes) expect(map.get(k)).toBe(model.get(k))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('emptied from either end it stays whole', () => {
    for (const fromFront of [true, false]) {
      const map = new OrderedMap<number>()
      const keys = Array.from({ length: 3000 }, (_, i) => `${i}`.padStart(5, '0'))
      for (const [i, key] of keys.entries()) map.set(key, i)
      const order = fromFront ? keys : keys.toReversed()
      for (const [i, key] of order.entries()) {
        map.delete(key)
        if (i % 250 === 0) expect(walk(map, '')).toHaveLength(keys.length - i - 1)
      }
      expect(map.size).toBe(0)
      expect(map.get('00000')).toBeUndefined()
      map.set('again', 1)
      expect(walk(map, '')).toEqual([['again', 1]])
    }
  })

  it('counts a span as collecting it would', () => {
    const key = fc.integer({ min: 0, max: 2000 }).map((n) => `k${n}`)
    fc.assert(
      fc.property(fc.array(key, { maxLength: 1500 }), fc.array(key, { maxLength: 300 }), key, key, (set, del, a, b) => {
        const map = new OrderedMap<number>()
        for (const k of set) map.set(k, 1)
        for (const k of del) map.delete(k)
        const [start, end] = a < b ? [a, b] : [b, a]
        expect(map.count(start, end)).toBe(map.collect(start, end, Number.POSITIVE_INFINITY).values.length)
      }),
      { numRuns: 50 },
    )
  })
})
