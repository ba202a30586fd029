import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runAtOnce } from '../base/resumable.ts'
import { cloneJson, cloningJson } from './clone-json.ts'
import { exactNumber } from './json-value.ts'

test('a copy in pieces is the copy in one', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constant({ a: undefined, b: [exactNumber('9007199254740993')], __proto__: 1 }),
  )
  fc.assert(
    fc.property(value, (given) => {
      const copy = runAtOnce(cloningJson({ given }))
      expect(JSON.stringify(copy)).toBe(JSON.stringify(cloneJson({ given })))
      if (typeof given === 'object' && given !== null) expect(copy.given).not.toBe(given)
    }),
  )
})

test('many maps of few members are copied in many pieces', () => {
  const map = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`k${i}`, 'v']))
  const steps = cloningJson(Array.from({ length: 290 }, () => map))
  let pieces = 1
  for (let step = steps.next(); step.done !== true; step = steps.next()) pieces++
  expect(pieces).toBeGreaterThanOrEqual(14)
})
