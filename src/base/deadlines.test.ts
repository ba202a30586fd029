import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Deadlines } from './deadlines.ts'

type Step =
  | { readonly do: 'set'; readonly key: string; readonly dueMs: number }
  | { readonly do: 'delete'; readonly key: string }
  | { readonly do: 'take'; readonly nowMs: number }

const key = fc.integer({ min: 0, max: 30 }).map(String)
const time = fc.integer({ min: 0, max: 50 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key, dueMs: time }),
  fc.record({ do: fc.constant('delete' as const), key }),
  fc.record({ do: fc.constant('take' as const), nowMs: time }),
)

test('it answers what a list that is looked through each time would', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const deadlines = new Deadlines()
      const model = new Map<string, number>()
      for (const one of steps) {
        if (one.do === 'set') {
          deadlines.set(one.key, one.dueMs)
          model.set(one.key, one.dueMs)
        } else if (one.do === 'delete') {
          expect(deadlines.delete(one.key)).toBe(model.delete(one.key))
        } else {
          const first = Math.min(...model.values())
          const taken = deadlines.take(one.nowMs)
          expect(taken !== undefined).toBe(first <= one.nowMs)
          if (taken !== undefined) {
            expect(model.get(taken)).toBe(first)
            model.delete(taken)
          }
        }
        expect(deadlines.size).toBe(model.size)
        expect(deadlines.nextMs()).toBe(model.size === 0 ? undefined : Math.min(...model.values()))
      }
    }),
  )
})

test('a key that is put off a hundred thousand times is one entry, and comes once', () => {
  const deadlines = new Deadlines()
  for (let i = 0; i < 2000; i++) deadlines.set(`other-${i}`, 1_000_000)
  for (let i = 1; i <= 100_000; i++) deadlines.set('one', i)
  expect([deadlines.size, deadlines.nextMs()]).toEqual([2001, 100_000])
  expect([deadlines.take(100_000), deadlines.take(100_000)]).toEqual(['one', undefined])
})
