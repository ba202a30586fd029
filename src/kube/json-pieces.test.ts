import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJsonText } from '../base/parse-json-text.ts'
import { runAtOnce } from '../base/resumable.ts'
import { parsingInPieces } from './json-pieces.ts'

const inPieces = (text: string, marks: number): unknown => {
  try {
    return runAtOnce(parsingInPieces(text, marks))
  } catch (error) {
    if (error instanceof SyntaxError) return 'refused'
    throw error
  }
}
const natively = (text: string): unknown => {
  try {
    return parseJsonText(text)
  } catch {
    return 'refused'
  }
}
const marks = fc.integer({ min: 1, max: 6 })

describe('what is parsed in pieces is what the native parser makes of it', () => {
  test('of any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t'), marks, (value, space, count) => {
        const text = JSON.stringify(value, null, space)
        expect(JSON.stringify(inPieces(text, count))).toBe(JSON.stringify(parseJsonText(text)))
      }),
      { numRuns: 500 },
    )
  })

  test('of any text, refusals included', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      ' ',
      '"a"',
      '"__proto__"',
      '"\\\\"',
      '"\\""',
      '1',
      'x',
      '"',
    )
    const tokens = fc.array(token, { maxLength: 14 })
    // Sound where one token more or less makes it unsound.
    const sound = fc.tuple(fc.jsonValue({ maxDepth: 3 }), fc.nat(), fc.nat(3), token).map(([value, at, taken, put]) => {
      const text = JSON.stringify([value, [1, 2, [3, {}], []], { a: [4, 5, {}], b: {} }])
      const from = at % text.length
      return text.slice(0, from) + put + text.slice(from + taken)
    })
    fc.assert(
      fc.property(
        fc.oneof(
          tokens.map((all) => all.join('')),
          sound,
        ),
        marks,
        (text, count) => {
          expect(JSON.stringify(inPieces(text, count))).toBe(JSON.stringify(natively(text)))
        },
      ),
      { numRuns: 3000 },
    )
  })
})

test.each(['{"a":1[2,3]}', '{"a":-1{"b":1,"c":2}}', '{"a":1.5e[2,3]}', '{"a"[2,3]}', '{"a":"b"[2,3]}', '[1[2,3]]'])(
  'what stands right before a container is refused: %s',
  (text) => {
    expect(inPieces(text, 0)).toBe('refused')
    expect(inPieces(text, 1)).toBe('refused')
  },
)

test('a long container is many pieces, however deep it lies', () => {
  const keyed = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, [i]]))
  const steps = parsingInPieces(JSON.stringify({ a: { b: [1, keyed, 2] }, c: keyed }))
  let count = 1
  while (steps.next().done !== true) count++
  expect(count).toBeGreaterThanOrEqual(40)
})

test('attack: levels are not gone into without end, since each is scanned anew', () => {
  const text = `${'['.repeat(900)}"${'\\"'.repeat(1000)}"${',1'.repeat(500)}${']'.repeat(900)}`
  const steps = parsingInPieces(text, 2)
  let count = 1
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count++
  expect(step.value).toEqual(parseJsonText(text))
  expect(count).toBeLessThan(40)
})
