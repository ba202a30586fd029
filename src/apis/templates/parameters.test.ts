import { describe, expect, test } from 'vitest'
import { evaluateParameters, isLongToEvaluate } from './parameters.ts'
import type { NamespaceTemplate, TemplateParameter } from './types.ts'

const template = (...parameters: TemplateParameter[]): NamespaceTemplate => ({
  metadata: { name: 'team' },
  spec: { parameters },
})
const size: TemplateParameter = { name: 'size', fromLabel: 'example.com/size', enum: ['small', 'large'] }
const cost: TemplateParameter = { name: 'cost', fromAnnotation: 'example.com/cost', pattern: '[0-9]{4}' }
const labelled = (value: string) => ({ metadata: { labels: { 'example.com/size': value } } })
const annotated = (value: string) => ({ metadata: { annotations: { 'example.com/cost': value } } })

describe('what a parameter stands for', () => {
  test.each([
    ['what the label says', size, labelled('large'), 'large'],
    ['what the annotation says', cost, annotated('1234'), '1234'],
    ['its default where nothing is given', { ...size, default: 'small' }, { metadata: {} }, 'small'],
    ['its default where an empty text is given', { ...size, default: 'small' }, labelled(''), 'small'],
    ['nothing, where nothing is given and it has no default', size, { metadata: {} }, ''],
  ] as const)('is %s', (_, parameter, namespace, value) => {
    const { values, faults } = evaluateParameters(template({ ...parameter } as TemplateParameter), namespace)
    expect([values.get(parameter.name), faults]).toEqual([value, []])
  })

  test('is nothing of Object: a parameter that is not declared has no value', () => {
    expect(evaluateParameters(template(size), labelled('small')).values.get('constructor')).toBeUndefined()
  })
})

describe('a value that is refused', () => {
  const inLabel = 'metadata.labels[example.com/size]'
  const inAnnotation = 'metadata.annotations[example.com/cost]'
  const free: TemplateParameter = { name: 'cost', fromAnnotation: 'example.com/cost' }
  test.each([
    ['one that is not among the choices', size, labelled('medium'), inLabel, 'must be one of "small", "large"'],
    ['part of a value that matches', cost, annotated('12345'), inAnnotation, 'must be text that matches [0-9]{4}'],
    ['a match in one line of two', cost, annotated('1234\n'), inAnnotation, expect.stringContaining('line breaks')],
    ['alternatives match the whole too', { ...cost, pattern: 'a|b' }, annotated('ab'), inAnnotation, expect.anything()],
    ['a line break', free, annotated('a\nadmin: true'), inAnnotation, expect.stringContaining('no line breaks')],
    ['a line separator', free, annotated('a\u2028b'), inAnnotation, expect.stringContaining('no line breaks')],
    ['a very long one', free, annotated('a'.repeat(1025)), inAnnotation, 'must have at most 1024 characters'],
  ] as const)('%s', (_, parameter, namespace, field, wrong) => {
    const { faults } = evaluateParameters(template({ ...parameter } as TemplateParameter), namespace)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatchObject({ parameter: parameter.name, field, wrong })
  })

  test('values whose patterns are too much work together, counted in order', () => {
    const pattern = '(a|b)*a(a|b){150}c'
    const two = ['p', 'q'].map((name): TemplateParameter => ({ name, fromAnnotation: name, pattern }))
    const faultsOf = (p: string, q: string): unknown[] => {
      const { faults } = evaluateParameters(template(...two), { metadata: { annotations: { p, q } } })
      return faults.map(({ parameter, wrong }) => [parameter, wrong])
    }
    const tooLong = `is too long to compare with ${pattern}: it and the values before it must be shorter`
    const right = `${'a'.repeat(151)}c`
    expect(faultsOf(right, right)).toEqual([])
    expect(faultsOf(right, 'a'.repeat(1024))).toEqual([['q', tooLong]])
    expect(faultsOf('a'.repeat(1024), right)).toEqual([
      ['p', tooLong],
      ['q', tooLong],
    ])
  })

  test('one that is missing says what it must be', () => {
    expect(evaluateParameters(template({ ...size, required: true }), { metadata: {} }).faults).toEqual([
      {
        parameter: 'size',
        field: inLabel,
        value: undefined,
        wrong: 'is required: it must be one of "small", "large"',
      },
    ])
  })
})

describe('what takes long to evaluate', () => {
  const pattern = '(a|b)*a(a|b){140}c'
  const long = (more: Partial<TemplateParameter> = {}): TemplateParameter => ({
    ...{ name: 'p', fromLabel: 'p', pattern },
    ...more,
  })
  const given = (p: string) => ({ metadata: { labels: { p } } })
  const right = `${'a'.repeat(141)}c`

  test.each<{ name: string; template: NamespaceTemplate; value: string; is: boolean }>([
    { name: 'a text against a pattern', template: template(long()), value: right, is: true },
    { name: 'a choice against a pattern', template: template(long({ enum: [right] })), value: right, is: true },
    { name: 'what is no choice is not compared', template: template(long({ enum: ['b'] })), value: right, is: false },
    { name: 'nor is what is too long', template: template(long()), value: 'a'.repeat(1025), is: false },
    { name: 'nor an empty text', template: template(long({ pattern: '(a|b){0,900}' })), value: '', is: false },
    { name: 'a pattern that is soon compared', template: template(long({ pattern: 'a' })), value: 'a', is: false },
    { name: 'nor a template without parameters', template: { metadata: { name: 't' } }, value: right, is: false },
  ])('$name: $is', ({ template: of, value, is }) => expect(isLongToEvaluate(of, given(value))).toBe(is))

  test('no template that this version does not understand', () => {
    const annotations = { 'policy.borough.dev/feature-level': '7' }
    const newer: NamespaceTemplate = { metadata: { name: 't', annotations }, spec: { parameters: [long()] } }
    expect(isLongToEvaluate(newer, given(right))).toBe(false)
  })

  test('nothing that was compared before', () => {
    const value = `b${right}`
    expect(isLongToEvaluate(template(long()), given(value))).toBe(true)
    expect(evaluateParameters(template(long()), given(value)).faults).toEqual([])
    expect(isLongToEvaluate(template(long()), given(value))).toBe(false)
  })
})
