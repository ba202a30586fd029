import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { isExactNumber } from './json-value.ts'
import { maxDepth, parseJson, parsingJson } from './strict-json.ts'

describe('a body that is not JSON is refused in the words of Go', () => {
  const cases: { given: string; want: string }[] = [
    { given: '', want: 'unexpected end of JSON input' },
    { given: '{"a":', want: 'unexpected end of JSON input' },
    { given: 'hello', want: "invalid character 'h' looking for beginning of value" },
    { given: "{'a':1}", want: "invalid character '\\'' looking for beginning of object key string" },
    { given: '{"a" 1}', want: "invalid character '1' after object key" },
    { given: '{"a":1 "b"}', want: "invalid character '\"' after object key:value pair" },
    { given: '{"a":1,}', want: "invalid character '}' looking for beginning of object key string" },
    { given: '[1 2]', want: "invalid character '2' after array element" },
    { given: '{} x', want: "invalid character 'x' after top-level value" },
    { given: '"a\nb"', want: "invalid character '\\n' in string literal" },
    { given: '"\\x"', want: "invalid character 'x' in string escape code" },
    { given: '"\\u12g4"', want: "invalid character 'g' in \\u hexadecimal character escape" },
    { given: '-x', want: "invalid character 'x' in numeric literal" },
    { given: '01', want: "invalid character '1' after top-level value" },
    { given: '1.x', want: "invalid character 'x' after decimal point in numeric literal" },
    { given: '1ex', want: "invalid character 'x' in exponent of numeric literal" },
    { given: 'trux', want: "invalid character 'x' in literal true (expecting 'e')" },
    { given: 'é', want: "invalid character 'Ã' looking for beginning of value" },
    { given: '1e999', want: 'json: cannot unmarshal number 1e999 into Go value of type float64' },
  ]
  test.each(cases)('$given', ({ given, want }) => expect(() => parseJson(given)).toThrow(want))
})

describe('duplicate keys', () => {
  const cases: { name: string; given: string; want: string[] }[] = [
    { name: 'are none in a plain object', given: '{"a":{"b":1},"c":[{"b":1}]}', want: [] },
    { name: 'are named with their path', given: '{"metadata":{"name":"a","name":"b"}}', want: ['metadata.name'] },
    { name: 'are found inside lists', given: '{"l":[1,{"x":1,"x":2}]}', want: ['l[1].x'] },
    { name: 'are found however they are escaped', given: '{"a":1,"\\u0061":2}', want: ['a'] },
    { name: 'are not mistaken for colons in strings', given: '{"a":":\\":\\\\"}', want: [] },
    { name: 'are reported once, however often they repeat', given: '{"a":1,"a":2,"a":3}', want: ['a'] },
    {
      name: 'are found inside what a later duplicate replaces',
      given: '{"a":{"x":1,"x":2},"a":1}',
      want: ['a.x', 'a'],
    },
    { name: 'include __proto__', given: '{"__proto__":1,"__proto__":2}', want: ['__proto__'] },
  ]
  test.each(cases)('$name', ({ given, want }) => {
    const parsed = parseJson(given, { duplicates: true })
    expect(parsed.duplicates).toEqual(want)
    expect(parsed.value).toEqual(JSON.parse(given))
  })
})

describe('numbers', () => {
  const cases: { name: string; given: string; want: string }[] = [
    {
      name: 'a 64-bit integer is printed as it was read',
      given: '[9223372036854775807,-9223372036854775808]',
      want: '[9223372036854775807,-9223372036854775808]',
    },
    {
      name: 'one beyond 2^53 keeps its last digit',
      given: '{"a":{"b":9007199254740993}}',
      want: '{"a":{"b":9007199254740993}}',
    },
    {
      name: 'an integer beyond 64 bits becomes a double, as upstream has it',
      given: '[92233720368547758070]',
      want: '[92233720368547760000]',
    },
    { name: 'a long fraction becomes a double', given: '[0.12345678901234567890]', want: '[0.12345678901234568]' },
    { name: 'digits inside strings stay strings', given: '["12345678901234567890"]', want: '["12345678901234567890"]' },
    { name: 'a safe integer of 16 digits stays a number', given: '[9007199254740991]', want: '[9007199254740991]' },
  ]
  test.each(cases)('$name', ({ given, want }) => expect(JSON.stringify(parseJson(given).value)).toBe(want))

  test('an exact number is told apart from objects', () => {
    const value = parseJson('[9007199254740993]').value as unknown[]
    expect(isExactNumber(value[0])).toBe(true)
    expect(isExactNumber({ rawJSON: '1' })).toBe(false)
  })
})

test('nesting stops at the limit with a clear message, with and without care', () => {
  const nested = (n: number, inner: string): string => '{"a":'.repeat(n) + inner + '}'.repeat(n)
  expect(() => parseJson(nested(maxDepth, '1'))).not.toThrow()
  expect(() => parseJson(nested(maxDepth + 1, '1'))).toThrow('exceeded max depth')
  expect(() => parseJson(nested(100_000, '1'))).toThrow('exceeded max depth')
  expect(() => parseJson(nested(100_000, '12345678901234567'))).toThrow('exceeded max depth')
  expect(() => parseJson('['.repeat(3_000_000))).toThrow('exceeded max depth')
})

test('parsing with care gives what the native parser gives', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      // The long number forces our own parser.
      const careful = parseJson(`[1234567890123456,${text}]`).value as unknown[]
      // Exact numbers are printed as they were; reading them natively makes the two comparable.
      expect(JSON.parse(JSON.stringify(careful[1]))).toEqual(JSON.parse(text))
      const plain = parseJson(text, { duplicates: true }).value
      expect(JSON.parse(JSON.stringify(plain))).toEqual(JSON.parse(text))
    }),
    { numRuns: 200 },
  )
})

test('any text is parsed or refused exactly as the native parser would', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0aetrue1-. \n') }), (text) => {
      let native: unknown
      try {
        native = JSON.parse(text)
      } catch {
        expect(() => parseJson(text)).toThrow()
        return
      }
      expect(parseJson(text).value).toEqual(native)
    }),
    { numRuns: 500 },
  )
})

describe('a long text is read in parts', () => {
  const keyed = (value: string): string =>
    `{"uid":"a4e123","data":{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${value}`).join()}}}`
  const stepsOf = (text: string): number => {
    const steps = parsingJson(text, { duplicates: true })
    let count = 1
    while (steps.next().done !== true) count++
    return count
  }

  test.each([
    { name: 'plain', text: keyed('"v"'), least: 22 },
    { name: 'with a long number', text: keyed('"v"').replace('"a4e123"', '1234567890123456'), least: 20 },
    { name: 'with a key twice', text: keyed('"v"').replace('"k7":', '"k8":'), least: 40 },
  ])('$name', ({ text, least }) => {
    expect(stepsOf(text)).toBeGreaterThanOrEqual(least)
  })

  // The uid of an object may hold such digits. Our own parser has each string read natively.
  test.each(['a4e123', '1234567890123456', '\\"4e123'])('at once natively, though a text in it says %s', (uid) => {
    const native = vi.spyOn(JSON, 'parse')
    try {
      parseJson(keyed('"v"').replace('a4e123', uid))
      expect(native).toHaveBeenCalledTimes(1)
      parseJson(keyed('1e+100'))
      expect(native.mock.calls.length).toBeGreaterThan(20_000)
    } finally {
      native.mockRestore()
    }
  })
})
