/** What the parameters of a template must be, and what they may stand for when an object is tried beforehand. */
import { describe, expect, test } from 'vitest'
import { isUnbounded, notedErrors, parameterErrors, samplesFor, samplesOf, untriedFor } from './parameter-rules.ts'
import type { TemplateParameter } from './types.ts'

const a = (more: Partial<TemplateParameter> = {}): TemplateParameter => ({ name: 'a', fromLabel: 'a', ...more })
const told = (...parameters: TemplateParameter[]): string[] =>
  parameterErrors(parameters).map(({ field, body }) => `${field.replace('spec.parameters', '')}: ${body}`)

describe('a parameter is right', () => {
  test.each<{ name: string; of: TemplateParameter }>([
    { name: 'with a source alone', of: a() },
    { name: 'from an annotation', of: { name: 'a', fromAnnotation: 'example.com/a' } },
    {
      name: 'with choices, the largest number of them',
      of: a({ enum: Array.from({ length: 128 }, (_, i) => `v${i}`) }),
    },
    {
      name: 'with choices of an annotation, which may be any text',
      of: { name: 'a', fromAnnotation: 'a', enum: ['b c'] },
    },
    { name: 'with a default among its choices', of: a({ enum: ['x', 'y'], default: 'y' }) },
    { name: 'with an empty default, as with none', of: a({ enum: ['x'], default: '', required: true }) },
    { name: 'with a pattern that costs as much as it may', of: a({ pattern: '[a-z]{900}' }) },
    { name: 'with the longest of names', of: a({ name: `a${'B_9'.repeat(20)}cc` }) },
  ])('$name', ({ of }) => expect(told(of)).toEqual([]))

  test('also as one of sixty-four', () => {
    expect(told(...Array.from({ length: 64 }, (_, i) => a({ name: `p${i}` })))).toEqual([])
    expect(parameterErrors(undefined)).toEqual([])
  })
})

describe('a parameter is wrong', () => {
  const name = 'must be a lower-case letter and up to 62 letters, digits and underscores, and no literal of CEL'
  test.each(['', 'A', '9a', 'a-b', 'a.b', `a${'b'.repeat(63)}`, 'a b', 'false', 'in', 'null', 'true'])(
    'called "%s"',
    (called) =>
      expect(told(a({ name: called }))).toEqual([`[0].name: Invalid value: ${JSON.stringify(called)}: ${name}`]),
  )

  test('from an annotation that can be none, which is named', () => {
    expect(told({ name: 'a', fromAnnotation: 'a b' })).toEqual([
      expect.stringMatching(/^\[0\]\.fromAnnotation: Invalid/),
    ])
  })

  test('in each thing that is wrong with it; but of a pattern that is none nothing else is asked', () => {
    expect(told({ name: 'A', enum: [], default: 'x', required: true })).toEqual([
      '[0].fromLabel: Required value: fromLabel or fromAnnotation must say where a namespace gives the value',
      '[0].enum: Required value: must name a value at least: without one nothing could be given',
      `[0].name: Invalid value: "A": ${name}`,
      '[0].default: Invalid value: "x": must be one of ',
      '[0].required: Invalid value: true: may not be given together with default: no namespace would lack a value',
    ])
    expect(told(a({ name: 'A', pattern: '(', default: 'x' }))).toEqual([
      `[0].name: Invalid value: "A": ${name}`,
      expect.stringMatching(/^\[0\]\.pattern: Invalid value: "\(": is no expression of RE2: error parsing/),
    ])
  })

  test('with a choice that no value can be', () => {
    expect(told({ name: 'a', fromAnnotation: 'a', enum: ['b\nc', 'd'] })).toEqual([
      '[0].enum[0]: Invalid value: "b\\nc": must have no control characters and no line breaks',
    ])
  })

  test('by the name of another, each time', () => {
    expect(told(a(), a({ name: 'b' }), a(), a())).toEqual([
      ...['[2].name: Duplicate value: "a"', '[3].name: Duplicate value: "a"'],
    ])
  })
})

test.each<{ name: string; of: Partial<TemplateParameter>; is: boolean }>([
  { name: 'a text of an annotation', of: { fromAnnotation: 'a' }, is: true },
  { name: 'a label', of: { fromLabel: 'a' }, is: false },
  { name: 'a choice', of: { fromAnnotation: 'a', enum: ['x'] }, is: false },
  { name: 'a text of a pattern', of: { fromAnnotation: 'a', pattern: 'x' }, is: false },
])('$name is bounded by nothing: $is', ({ of, is }) => expect(isUnbounded({ name: 'a', ...of })).toBe(is))

describe('examples', () => {
  const examples = (...named: TemplateParameter[]): Record<string, string>[] =>
    samplesOf(named).samples.map((sample) => Object.fromEntries(sample))

  test('of no parameter are one, of nothing', () =>
    expect(samplesOf([])).toEqual({ samples: [new Map()], unknown: [] }))

  test.each<{ name: string; of: TemplateParameter; values: string[] }>([
    { name: 'each choice, and nothing given', of: a({ enum: ['x', 'y'] }), values: ['x', 'y', ''] },
    {
      name: 'each choice alone where one is required',
      of: a({ enum: ['x', 'y'], required: true }),
      values: ['x', 'y'],
    },
    { name: 'or where there is a default', of: a({ enum: ['x', 'y'], default: 'x' }), values: ['x', 'y'] },
    { name: 'the default', of: a({ default: 'z', pattern: '.' }), values: ['z'] },
    { name: 'a guess that its pattern allows', of: a({ pattern: '[0-9]+Gi', required: true }), values: ['1Gi'] },
    { name: 'the first guess that it allows', of: a({ pattern: '[a-z0-9]{2}' }), values: ['10', ''] },
    { name: 'any text', of: a(), values: ['a', ''] },
  ])('$name', ({ of, values }) => expect(examples(of)).toEqual(values.map((value) => ({ a: value }))))

  test.each(['100m', 'a1', 'ab', 'abc', '0001', 'a-b', 'a.b', 'a.example.com', 'A', 'true', '1', '10'])(
    'a guess may be %s',
    (guess) => {
      expect(examples(a({ pattern: guess.replaceAll('.', '[.]'), required: true }))).toEqual([{ a: guess }])
    },
  )

  test('of several run beside each other, as many as the longest has', () => {
    const b: TemplateParameter = { name: 'b', fromLabel: 'b', enum: ['1', '2', '3'], required: true }
    expect(examples(a({ default: 'x' }), b)).toEqual([
      { a: 'x', b: '1' },
      { a: 'x', b: '2' },
      { a: 'x', b: '3' },
    ])
  })

  test('are sixteen at most', () => {
    expect(examples(a({ enum: Array.from({ length: 40 }, (_, i) => `v${i}`) }))).toHaveLength(16)
  })

  test('that are not known are told', () => {
    const odd = a({ pattern: 'x{7}y' })
    expect(samplesOf([odd, a({ name: 'b' })])).toEqual({
      samples: [
        new Map([
          ['a', ''],
          ['b', 'a'],
        ]),
        new Map([
          ['a', ''],
          ['b', ''],
        ]),
      ],
      unknown: ['a'],
    })
    expect(untriedFor(['a', 'b'])).toBe(
      'it could not be tried beforehand: no example of a, b is known; a default would be one',
    )
  })

  test('of a pattern that is none are not sought', () => {
    expect(examples(a({ pattern: '[0-9' }))).toEqual([{ a: '' }])
    expect(samplesOf([a({ pattern: '[0-9', required: true })])).toEqual({
      samples: [new Map([['a', '']])],
      unknown: ['a'],
    })
  })

  test('are of what the object names', () => {
    const choices = { enum: ['x', 'y'], required: true }
    const { samples } = samplesFor({ data: { '$(b)': '1', c: 'is $(a)!' } }, [a(choices), a({ ...choices, name: 'd' })])
    expect(samples).toEqual([new Map([['a', 'x']]), new Map([['a', 'y']])])
  })

  test('with which an object is wrong are noted', () => {
    const error = { type: 'Invalid value', field: 'data', body: 'no' } as never
    expect(notedErrors([error], new Map())).toEqual([error])
    expect(
      notedErrors(
        [error],
        new Map([
          ['a', 'x"'],
          ['b', ''],
        ]),
      ),
    ).toEqual([{ type: 'Invalid value', field: 'data', body: 'no (where a is "x\\"", b is "")' }])
  })
})
