import { RE2JS } from 're2js'
import { describe, expect, test } from 'vitest'
import { compilePattern } from './pattern.ts'
import { largestPatternSize, patternSize } from './pattern-size.ts'

const dns = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'

describe('the size of a pattern', () => {
  test.each([
    'abc',
    '^(a|b)*c{1,20}$',
    '(a{1,100}){1,10}',
    'a{1000}',
    'a{2,}b{0,3}c+d?e*',
    `^${dns}(\\.${dns})*$`,
    '^(([a-zA-Z0-9]{1,63})[._-]){1,9}[a-z]{2,}$',
    '[]a]{30}[^]\\]b]{20}',
    '[[:alpha:]]{1,50}x',
    '(?:\\(|\\)|\\{){10}',
    '[\\pL\\p{Greek}]{1,100}',
    'a{,5}b{x}',
    '((((a{1,10}){1,10}|b){1,9}){1,1})',
  ])('%s is told within a factor of three, but for classes of Unicode', (pattern) => {
    const size = RE2JS.compile(pattern).programSize()
    expect(patternSize(pattern)).toBeGreaterThan(size / 3)
    expect(patternSize(pattern)).toBeLessThan(size * 3 + 250 + (/pL/.test(pattern) ? 4000 : 0))
  })

  test.each([
    ['repetitions of repetitions', '(a{1,100}){1,10}'.repeat(20)],
    ['a megabyte of them', '(a{1,100}){1,10}'.repeat(65_000)],
    ['a long text', 'a'.repeat(20_000)],
    ['many alternatives', Array.from({ length: 5000 }, (_, i) => `k${i}`).join('|')],
    ['many classes of Unicode', '\\pL'.repeat(1000)],
    ['a long class', `[${'a-b'.repeat(100_000)}]`],
    ['classes repeated', `[\\pL\\pN]{1,1000}`.repeat(30)],
  ])('attack: %s are refused uncompiled', (_, pattern) => {
    expect(() => compilePattern(pattern)).toThrow(
      `error parsing regexp: expression too large: more than ${largestPatternSize} instructions`,
    )
  })

  test('what real definitions have is far below it', () => {
    const hostname = `^(\\*\\.)?${dns}(\\.${dns})*$`
    const quantity = '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?[0-9]+))?$'
    for (const pattern of [hostname, quantity, '^.{1,1000}$', '^([a-z0-9]{1,63}\\.){0,50}[a-z]+$'])
      expect(patternSize(pattern)).toBeLessThan(largestPatternSize / 2)
  })
})
