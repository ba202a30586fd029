import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { threadMs } from '../../test/support/thread-time.ts'
import { parseYaml } from './yaml-body.ts'
import { YamlSyntaxError } from './yaml-document.ts'

test('what follows a long quoted text is read as it is', () => {
  const long = 'x'.repeat(70_000)
  expect(parseYaml(`a:\n- b: "${long}"\n  c: 1\nd: {e: '${long}', f: 2}\ng: "${long}"   # c\nh: 4\n`).value).toEqual({
    a: [{ b: long, c: 1 }],
    d: { e: long, f: 2 },
    g: long,
    h: 4,
  })
})

describe('a key of more than 1,024 characters is refused, as by kube-apiserver', () => {
  const long = 'k'.repeat(1100)
  const quoted = `"${'x'.repeat(70_000)}"`
  test.each([
    { name: 'plain', given: `${long}: 1\n`, line: 1 },
    { name: 'in quotes', given: `'${long}': 1\n`, line: 1 },
    { name: 'plain, behind a long quoted text', given: `a: ${quoted}\n${long}: 1\n`, line: 2 },
    { name: 'in quotes, behind a long quoted text', given: `a: ${quoted}\nb: 1\n"${long}": 1\n`, line: 3 },
    { name: 'in a sequence of flow style', given: `a: ${quoted}\nb: ["${long}": 1]\n`, line: 2 },
  ])('$name', ({ given, line }) => {
    expect(() => parseYaml(given)).toThrow(`yaml: line ${line}: The : indicator must be at most 1024 chars`)
  })

  test('and one of 1,000 is not', () => {
    const key = 'k'.repeat(1000)
    expect(parseYaml(`a: ${quoted}\n"${key}": 1\n${key}2: 2\n`).value).toMatchObject({ [key]: 1, [`${key}2`]: 2 })
  })

  test('a comment right behind quotes is none, however long they are', () => {
    expect(() => parseYaml(`a: ${quoted}# c\nb: 1\n`)).toThrow('yaml: line 1: Comments must be separated')
  })
})

describe('a YAML body', () => {
  const cases: { name: string; given: string; want: unknown }[] = [
    { name: 'is read', given: 'a: 1\nb: [x, "y"]\nc:\n  d: null\n', want: { a: 1, b: ['x', 'y'], c: { d: null } } },
    { name: 'may be JSON', given: ' {"a": [1, true]}', want: { a: [1, true] } },
    { name: 'may be a flow collection that is no JSON', given: '{a: 1, b: [x]}', want: { a: 1, b: ['x'] } },
    { name: 'may be empty', given: '', want: null },
    { name: 'may be a comment', given: '# nothing', want: null },
    { name: 'has the booleans of YAML 1.1', given: 'a: yes\nb: "yes"\nc: Off', want: { a: true, b: 'yes', c: false } },
    {
      name: 'keeps texts that look like the exponent of a number',
      given: 'a: e11\nb: -E5\nc: .e1\ne2: [e3]\nf: 1e2',
      want: { a: 'e11', b: '-E5', c: '.e1', e2: ['e3'], f: 100 },
    },
    { name: 'has octal and hexadecimal numbers', given: 'a: 010\nb: 0x1F\nc: 1_000', want: { a: 8, b: 31, c: 1000 } },
    {
      name: 'keeps dates and clock times as texts',
      given: 'a: 2001-01-01\nb: 12:30\nc: 2001-01-01T00:00:00Z',
      want: { a: '2001-01-01', b: '12:30', c: '2001-01-01T00:00:00Z' },
    },
    { name: 'has keys that become texts', given: '1: a\ntrue: b\n~: c', want: { 1: 'a', true: 'b', null: 'c' } },
    { name: 'shares what is aliased', given: 'a: &x {b: 1}\nc: *x', want: { a: { b: 1 }, c: { b: 1 } } },
    {
      name: 'merges maps',
      given: 'a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3',
      want: { a: { p: 1, q: 2 }, b: { p: 1, q: 3 } },
    },
    { name: 'is its first document', given: 'a: 1\n---\nb: 2', want: { a: 1 } },
    { name: 'takes __proto__ for a name', given: '__proto__: {a: 1}', want: JSON.parse('{"__proto__":{"a":1}}') },
  ]
  test.each(cases)('$name', ({ given, want }) => expect(parseYaml(given).value).toEqual(want))

  test('keeps 64-bit integers exact', () => {
    expect(JSON.stringify(parseYaml('a: 9007199254740993').value)).toBe('{"a":9007199254740993}')
    expect(JSON.stringify(parseYaml('{"a": 9007199254740993}').value)).toBe('{"a":9007199254740993}')
  })

  test('tells of duplicate keys with their path', () => {
    const twice = parseYaml('a:\n- b: 1\n  b: 2\n')
    expect(twice.duplicates).toEqual(['a[0].b'])
    expect(twice.repeats).toEqual(['line 3: key "b" already set in map'])
    expect(parseYaml('{"a": 1, "a": 2}').duplicates).toEqual(['a'])
  })

  test.each(['.', '+.', '-.', '.e1', '._', '1e999', '-1e999'])('takes %s for text, as Go does', (text) => {
    expect(parseYaml(`a: ${text}\n? ${text}\n: 1`).value).toEqual({ a: text, [text]: 1 })
  })

  const faults: { given: string; want: RegExp }[] = [
    { given: 'a: b: c', want: /^yaml: line 1: / },
    { given: 'a: 1\nb: [1', want: /^yaml: line 2: / },
    { given: 'a: *x', want: /^yaml: unknown anchor 'x' referenced$|^yaml: line 1: / },
    { given: 'a: .nan', want: /^yaml: \.nan is no JSON number$/ },
    { given: 'a: .inf', want: /^yaml: \.inf is no JSON number$/ },
    { given: '? [a]\n: 1', want: /^yaml: invalid map key$/ },
  ]
  test.each(faults)('is refused with its line: $given', ({ given, want }) => {
    expect(() => parseYaml(given)).toThrow(YamlSyntaxError)
    expect(() => parseYaml(given)).toThrow(want)
  })
})

describe('a hostile YAML body is stopped soon', () => {
  let bomb = 'a0: &a0 [x,x,x,x,x,x,x,x,x]\n'
  for (let i = 1; i < 12; i++)
    bomb += `a${i}: &a${i} [${Array(9)
      .fill(`*a${i - 1}`)
      .join(',')}]\n`
  const map = Array.from({ length: 3000 }, (_, i) => `  k${i}: v\n`).join('')
  const merges = `a: &a\n${map}l:\n${'- <<: *a\n'.repeat(1000)}`
  const cases: { name: string; given: string; want: string }[] = [
    { name: 'aliases of aliases', given: bomb, want: 'excessive aliasing' },
    { name: 'a thousand merges of a large map', given: merges, want: 'excessive aliasing' },
    {
      name: 'a long text, a hundred times',
      given: `a: &a ${'x'.repeat(100_000)}\nb: [${'*a,'.repeat(100)}]`,
      want: 'excessive aliasing',
    },
    { name: 'aliases that copy little', given: `a: &a 1\n${'- *a\n'.repeat(1001)}`, want: 'excessive aliasing' },
    { name: 'a million small items', given: `[${'a,'.repeat(1_000_000)}a]`, want: 'more than 160000 tokens' },
    { name: 'a million digits', given: `a: ${'1'.repeat(1_000_000)}`, want: 'an integer has more than 1100 digits' },
    { name: 'half a million in base 16', given: `a: 0x${'f_'.repeat(500_000)}`, want: 'more than 1100 digits' },
    { name: 'a block of many lines', given: `a: |\n${' x\n'.repeat(900_000)}`, want: 'more than 160000 lines' },
    { name: 'a plain text of many lines', given: `a: x\n${' x\n'.repeat(900_000)}`, want: 'more than 160000 lines' },
    { name: 'a quoted text of many lines', given: `a: "${'\n'.repeat(900_000)}"`, want: 'more than 160000 lines' },
    { name: 'deep nesting', given: `a: ${'['.repeat(2_000)}${']'.repeat(2_000)}`, want: 'yaml: ' },
    { name: 'deep nesting in JSON', given: '['.repeat(100_000), want: 'exceeded max depth' },
  ]
  test.each(cases)('$name', ({ given, want }) => {
    const before = threadMs()
    expect(() => parseYaml(given)).toThrow(want)
    expect(threadMs() - before).toBeLessThan(10_000)
  })

  test('while ten thousand keys and a thousand aliases are no problem', () => {
    const keys = Array.from({ length: 10_000 }, (_, i) => `k${i}: ${i < 1000 ? '*x' : 'x'}`).join('\n')
    expect(Object.keys(parseYaml(`k: &x 1\n${keys}`).value as object)).toHaveLength(10_001)
  })
})

test('every JSON value reads as itself', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
      const text = JSON.stringify({ value })
      // Exact numbers are printed as they were; reading them natively makes the two comparable.
      expect(JSON.parse(JSON.stringify(parseYaml(text).value))).toEqual(JSON.parse(text))
    }),
    { numRuns: 100 },
  )
})
