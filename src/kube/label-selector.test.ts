import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { notLabelValue, notQualified } from '../../test/support/name-faults.ts'
import { badRequest, faultsOf, thrown } from '../../test/support/refusal.ts'
import {
  everything,
  type LabelOperator,
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorOf,
  matchesLabels,
  nothing,
  parseLabelSelector,
  printLabelSelector,
  requiredLabel,
  selectorOfLabels,
  validateLabelSelector,
} from './label-selector.ts'

describe('label selectors match', () => {
  const cases: { name: string; given: string; labels: Record<string, string>; want: boolean }[] = [
    { name: 'everything when empty', given: '', labels: {}, want: true },
    { name: 'an equal value', given: 'a=b', labels: { a: 'b' }, want: true },
    { name: 'not another value', given: 'a==b', labels: { a: 'c' }, want: false },
    { name: 'an absent key where a value is excluded', given: 'a!=b', labels: {}, want: true },
    { name: 'one value of a set', given: 'a in (b, c)', labels: { a: 'c' }, want: true },
    { name: 'nothing of an excluded set', given: 'a notin (b,c)', labels: { a: 'c' }, want: false },
    { name: 'an existing key', given: 'a', labels: { a: '' }, want: true },
    { name: 'an absent key', given: '! a', labels: {}, want: true },
    { name: 'a greater number', given: 'a>4', labels: { a: '9007199254740993' }, want: true },
    { name: 'no greater word', given: 'a>4', labels: { a: 'x' }, want: false },
    { name: 'an empty value written as nothing', given: 'a=,b', labels: { a: '', b: '1' }, want: true },
    { name: 'an empty value in a set', given: 'a in (,x)', labels: { a: '' }, want: true },
    { name: 'keys called in and notin', given: 'in in (in),notin', labels: { in: 'in', notin: '' }, want: true },
    { name: 'no inherited property', given: 'constructor', labels: {}, want: false },
    { name: 'all requirements together', given: 'a,b=1', labels: { a: '', b: '2' }, want: false },
  ]
  test.each(cases)('$name: $given', ({ given, labels, want }) =>
    expect(matchesLabels(parseLabelSelector(given), labels)).toBe(want),
  )
})

describe('label selectors are refused in upstream words', () => {
  const cases: { given: string; want: string }[] = [
    { given: 'a,=b', want: "found '=', expected: identifier after ','" },
    { given: '=b', want: "found '=', expected: !, identifier, or 'end of string'" },
    { given: '!=b', want: "found '!=', expected: !, identifier, or 'end of string'" },
    { given: '!', want: "unable to parse requirement: found '', expected: identifier" },
    { given: 'a in b', want: "unable to parse requirement: found 'b' expected: '('" },
    { given: 'a in (b', want: "unable to parse requirement: found '', expected: ',' or ')'" },
    { given: 'a in (b c)', want: "unable to parse requirement: found 'c', expected: ',' or ')'" },
    { given: 'a in (=)', want: "unable to parse requirement: found '=', expected: ',', ')' or identifier" },
    { given: 'a b', want: "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt" },
    { given: 'a=b c', want: "found 'c', expected: ',' or 'end of string'" },
    { given: 'a=(', want: "unable to parse requirement: found '(', expected: identifier" },
    { given: 'a,', want: "found '', expected: identifier after ','" },
    {
      given: 'a/b/c',
      want:
        'unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key must consist of ' +
        `alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. ` +
        `'MyName',  or 'my.name',  or '123-abc', regex used for validation is ` +
        `'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. ` +
        `'example.com/MyName')`,
    },
    {
      given: 'a>x',
      want:
        `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must ` +
        'be an integer',
    },
    {
      given: 'a=-',
      want:
        'unable to parse requirement: values[0][a]: Invalid value: "-": a valid label must be an empty string ' +
        `or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric ` +
        `character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is ` +
        `'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    },
  ]
  test.each(cases)('$given', ({ given, want }) =>
    expect(thrown(() => parseLabelSelector(given))).toEqual(badRequest(want)),
  )
})

test('a selector prints sorted by key, its sets sorted and without repeats', () => {
  expect(printLabelSelector(parseLabelSelector('z in (c,a,c), !b ,a ==1,c!=2,d>3,e<4,f'))).toBe(
    'a==1,!b,c!=2,d>3,e<4,f,z in (a,c)',
  )
})

const word = fc.stringMatching(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?$/)
const selectorText = fc.array(
  fc.oneof(
    fc.tuple(word, fc.constantFrom('=', '==', '!='), fc.oneof(word, fc.constant(''))).map((t) => t.join('')),
    fc
      .tuple(
        word,
        fc.constantFrom('in', 'notin'),
        fc.array(fc.oneof(word, fc.constant('')), { minLength: 1, maxLength: 4 }),
      )
      .map(([k, o, v]) => `${k} ${o} (${v.join(',')})`),
    fc.tuple(word, fc.constantFrom('>', '<'), fc.integer({ min: 0 })).map((t) => t.join('')),
    word,
    word.map((k) => `!${k}`),
  ),
  { minLength: 1, maxLength: 4 },
)

test('parsing what was printed gives the same selector', () => {
  fc.assert(
    fc.property(selectorText, (parts) => {
      const selector = parseLabelSelector(parts.join(','))
      expect(parseLabelSelector(printLabelSelector(selector))).toEqual(selector)
    }),
    { numRuns: 200 },
  )
})

test('any text is either a selector or a bad request, never a fault', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab =!<>(),/-\0\tinot') }), (text) => {
      try {
        const selector = parseLabelSelector(text)
        expect(parseLabelSelector(printLabelSelector(selector))).toEqual(selector)
      } catch (e) {
        expect(e).toMatchObject({ code: 400, reason: 'BadRequest' })
      }
    }),
    { numRuns: 500 },
  )
})

test('an absent selector object selects nothing, an empty one everything', () => {
  expect(labelSelectorOf(undefined)).toBe(nothing)
  expect(matchesLabels(nothing, {})).toBe(false)
  expect(matchesLabels(nothing, { '': '' })).toBe(false)
  expect(printLabelSelector(nothing)).toBe('')
  expect(labelSelectorOf({})).toEqual(everything)
})

test('a selector object means its labels and its expressions together', () => {
  const selector = labelSelectorOf({
    matchLabels: { b: '1' },
    matchExpressions: [
      { key: 'a', operator: 'In', values: ['y', 'x'] },
      { key: 'c', operator: 'DoesNotExist' },
    ],
  })
  expect(printLabelSelector(selector)).toBe('a in (x,y),b=1,!c')
  expect(matchesLabels(selector, { a: 'x', b: '1' })).toBe(true)
  expect(matchesLabels(selector, { a: 'x', b: '1', c: '' })).toBe(false)
  expect(thrown(() => labelSelectorOf({ matchExpressions: [{ key: 'a', operator: 'Like' }] }))).toEqual(
    badRequest('"Like" is not a valid label selector operator'),
  )
})

test('each fault of a selector object has its own field', () => {
  const bad: LabelSelectorObject = {
    matchExpressions: [
      { key: 'a', operator: 'In' },
      { key: 'a', operator: 'Exists', values: ['x'] },
      { key: '', operator: 'Like', values: ['-'] },
    ],
  }
  expect(faultsOf(validateLabelSelector(bad, 'sel'))).toEqual([
    "sel.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "sel.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    'sel.matchExpressions[2].operator: Invalid value: "Like": not a valid selector operator',
    'sel.matchExpressions[2].key: Invalid value: "": name part must be non-empty',
    `sel.matchExpressions[2].key: Invalid value: "": ${notQualified}`,
    `sel.matchExpressions[2].values[0]: Invalid value: "-": ${notLabelValue}`,
  ])
})

test('an exact requirement can be looked up', () => {
  const selector = parseLabelSelector('a=1,b in (2),c in (3,4),d!=5')
  expect(['a', 'b', 'c', 'd', 'e'].map((k) => requiredLabel(selector, k))).toEqual([
    '1',
    '2',
    undefined,
    undefined,
    undefined,
  ])
})

test('a selector is frozen through and through', () => {
  const frozen = (s: LabelSelector): boolean =>
    Object.isFrozen(s) &&
    s.every(
      (r: { operator: LabelOperator; values: readonly string[] }) => Object.isFrozen(r) && Object.isFrozen(r.values),
    )
  expect(frozen(parseLabelSelector('a=1,b in (1,2)'))).toBe(true)
  expect(frozen(selectorOfLabels({ a: '1' }))).toBe(true)
})

test('attack: a selector of thousands of values looks at few of them', () => {
  const all = parseLabelSelector(`k in (${Array.from({ length: 10_000 }, (_, i) => `v${i * 2}`).join(',')})`)
  let looks = 0
  const counting = all.map((requirement) => ({
    ...requirement,
    values: new Proxy(requirement.values, {
      get(values, key, receiver) {
        looks++
        return Reflect.get(values, key, receiver) as unknown
      },
    }),
  }))
  for (const [value, want] of [
    ['v0', true],
    ['v19998', true],
    ['v10', true],
    ['v11', false],
    ['', false],
    ['z', false],
  ] as const) {
    expect(matchesLabels(counting, { k: value })).toBe(want)
    expect(matchesLabels(parseLabelSelector('k notin (v0,v10)'), { k: value })).toBe(value !== 'v0' && value !== 'v10')
  }
  expect(looks).toBeLessThan(6 * 40)
})
