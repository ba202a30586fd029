/** Tokens in texts: what has the form of one, what becomes of it, and where Kubernetes expands such texts itself. */
import { describe, expect, test } from 'vitest'
import {
  hasToken,
  isExpanded,
  namedTokens,
  placeBelow,
  replaceTokens,
  substituteIn,
  textsIn,
  tokensIn,
} from './tokens.ts'

const meanings = new Map([
  ['CREATOR', 'alice'],
  ['size', 'small'],
  ['price', '$5 $(NAMESPACE)'],
])

test('every template has three', () => expect(namedTokens).toEqual(['CREATOR', 'OWNER', 'NAMESPACE']))

test.each<{ text: string; found: [name: string, isEscaped: boolean][] }>([
  { text: '', found: [] },
  { text: 'plain $ text', found: [] },
  { text: '$(CREATOR)', found: [['CREATOR', false]] },
  {
    text: 'a-$(size)-$(CREATOR)',
    found: [
      ['size', false],
      ['CREATOR', false],
    ],
  },
  { text: '$$(size)', found: [['size', true]] },
  { text: '$( size )', found: [[' size ', false]] },
  { text: '$(_a.b-c9)', found: [['_a.b-c9', false]] },
  { text: '$()', found: [] },
  { text: '$(9)', found: [] },
  { text: '$(a b)', found: [] },
  { text: '$(size', found: [] },
  { text: '(size)', found: [] },
])('the tokens in "$text"', ({ text, found }) => {
  expect(tokensIn(text)).toEqual(found.map(([name, isEscaped]) => ({ name, isEscaped })))
  expect(hasToken(text)).toBe(found.length > 0)
})

describe('in a text', () => {
  test.each<{ text: string; plain: string; expanded?: string }>([
    { text: 'nothing', plain: 'nothing' },
    { text: '$(CREATOR)', plain: 'alice' },
    { text: '$(size)/$(size)', plain: 'small/small' },
    { text: '$(unknown)', plain: '$(unknown)' },
    { text: '$( size )', plain: '$( size )' },
    { text: '$$(size)', plain: '$(size)', expanded: '$$(size)' },
    { text: '$$(unknown)', plain: '$(unknown)', expanded: '$$(unknown)' },
    { text: '$(price)', plain: '$5 $(NAMESPACE)', expanded: '$$5 $$(NAMESPACE)' },
    { text: '$5 $(size)', plain: '$5 small' },
  ])('"$text" becomes "$plain"', ({ text, plain, expanded = plain }) => {
    expect(replaceTokens(text, meanings)).toBe(plain)
    for (const place of ['plain', 'container', 'env', 'mount'] as const) {
      expect(replaceTokens(text, meanings, place)).toBe(plain)
    }
    for (const place of ['expanded', 'env value'] as const) expect(replaceTokens(text, meanings, place)).toBe(expanded)
  })
})

describe('Kubernetes expands', () => {
  const container = (list: string): object => ({
    [list]: [
      {
        ...{ image: '$$(size)', command: ['$$(size)'], args: ['$$(size)'] },
        env: [{ name: '$$(size)', value: '$$(size)', valueFrom: { fieldRef: { fieldPath: '$$(size)' } } }],
        volumeMounts: [{ name: '$$(size)', subPathExpr: '$$(size)', subPath: '$$(size)' }],
      },
    ],
  })
  const kept = [
    ...[
      ['command', 0],
      ['args', 0],
      ['env', 0, 'value'],
      ['volumeMounts', 0, 'subPathExpr'],
    ].map((p) => p.join('.')),
  ]

  test.each(['containers', 'initContainers', 'ephemeralContainers'])('in %s its own fields, and no others', (list) => {
    const source = { apiVersion: 'v1', kind: 'Pod', spec: container(list) } as never
    const texts = [...textsIn(substituteIn(source, meanings))].filter(({ text }) => text.includes('(size)'))
    const below = (path: readonly (string | number)[]): string => path.slice(3).join('.')
    expect(texts.filter(({ text }) => text === '$$(size)').map(({ path }) => below(path))).toEqual(kept)
    expect(texts.filter(({ text }) => text === '$(size)').map(({ path }) => below(path))).toEqual([
      ...['image', 'env.0.name', 'env.0.valueFrom.fieldRef.fieldPath', 'volumeMounts.0.name', 'volumeMounts.0.subPath'],
    ])
    expect(texts.filter(({ place }) => isExpanded(place)).map(({ path }) => below(path))).toEqual(kept)
  })

  test('nothing outside of containers', () => {
    for (const key of ['command', 'args', 'env', 'value', 'subPathExpr']) expect(placeBelow('plain', key)).toBe('plain')
    expect(placeBelow('env', 'name')).toBe('plain')
    expect(placeBelow('mount', 'value')).toBe('plain')
    expect(placeBelow('env', 'subPathExpr')).toBe('plain')
  })
})

describe('in an object', () => {
  test('values are replaced, keys and the kind are not', () => {
    const source = {
      ...{ apiVersion: '$(size)/v1', kind: '$(size)', '$(size)': 'key', count: 3, on: true, none: null },
      metadata: { name: '$(CREATOR)', labels: { '$(size)': '$(size)' } },
      list: ['$(CREATOR)', { deep: '$(size)' }],
    }
    expect(substituteIn(source, meanings)).toEqual({
      ...{ apiVersion: '$(size)/v1', kind: '$(size)', '$(size)': 'key', count: 3, on: true, none: null },
      metadata: { name: 'alice', labels: { '$(size)': 'small' } },
      list: ['alice', { deep: 'small' }],
    })
    expect(substituteIn({ data: { a: '$(size)' } }, meanings)).toEqual({ data: { a: 'small' } })
  })

  test('a member of any name stays a member', () => {
    const source = JSON.parse('{"data":{"__proto__":"$(size)"},"__proto__":{"rules":[{"constructor":"a"}]}}')
    const object = substituteIn(source, meanings)
    expect(JSON.stringify(object)).toBe('{"data":{"__proto__":"small"},"__proto__":{"rules":[{"constructor":"a"}]}}')
    expect(object['rules']).toBeUndefined()
  })

  test('every text is told with where it stands, keys as keys', () => {
    const value = { a: 'b', containers: [{ args: ['c'] }], n: 1, none: null }
    expect([...textsIn(value)]).toEqual([
      { text: 'a', path: [], place: 'plain', isKey: true },
      { text: 'b', path: ['a'], place: 'plain', isKey: false },
      { text: 'containers', path: [], place: 'plain', isKey: true },
      { text: 'args', path: ['containers', 0], place: 'container', isKey: true },
      { text: 'c', path: ['containers', 0, 'args', 0], place: 'expanded', isKey: false },
      { text: 'n', path: [], place: 'plain', isKey: true },
      { text: 'none', path: [], place: 'plain', isKey: true },
    ])
    expect([...textsIn(undefined)]).toEqual([])
  })
})
