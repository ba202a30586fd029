/** What templates set on a namespace: which values, what can't be set, and what is recorded of it. */
import { describe, expect, test } from 'vitest'
import {
  holdersOf,
  keysHeld,
  parseObject,
  setsMetadata,
  valueOf,
  wantedMetadata,
  withHolders,
  withKeys,
} from './namespace-metadata.ts'
import type { NamespaceTemplate } from './types.ts'

type Texts = Record<string, string>
type Spec = NonNullable<NamespaceTemplate['spec']>
const key = 'policy.borough.dev/set-by-templates'
const template = (name: string, namespaceMetadata?: Spec['namespaceMetadata'], more: Spec = {}): NamespaceTemplate => ({
  metadata: { name },
  spec: { ...more, ...(namespaceMetadata && { namespaceMetadata }) },
})
const labels = (name: string, set: Texts): NamespaceTemplate => template(name, { labels: set })
const namespace = (annotations: Texts = {}, set: Texts = {}) => ({ metadata: { name: 'n', labels: set, annotations } })

test.each<{ name: string; of: NamespaceTemplate; sets: boolean }>([
  { name: 'nothing', of: { metadata: { name: 't' } }, sets: false },
  { name: 'objects alone', of: template('t'), sets: false },
  { name: 'no labels', of: template('t', { labels: {} }), sets: false },
  { name: 'labels', of: labels('t', { a: 'b' }), sets: true },
  { name: 'annotations', of: template('t', { annotations: { a: 'b' } }), sets: true },
])('a template with $name: $sets', ({ of, sets }) => expect(setsMetadata(of)).toBe(sets))

describe('wanted', () => {
  const said = (templates: NamespaceTemplate[], of = namespace()) => {
    const { keys, unsettable } = wantedMetadata(templates, of)
    return {
      keys: keys.map(({ part, key, value, template: { metadata } }) => `${part} ${key}=${value} by ${metadata.name}`),
      unsettable: unsettable.map(({ key, reason, message }) => `${key}: ${reason}: ${message}`),
    }
  }

  test('is what all of them set, in labels and annotations', () => {
    const both = template('a', { labels: { a: '1' }, annotations: { a: '2' } })
    expect(said([both, labels('b', { b: '3' }), template('c')])).toEqual({
      keys: ['labels a=1 by a', 'annotations a=2 by a', 'labels b=3 by b'],
      unsettable: [],
    })
    expect(said([template('c')])).toEqual({ keys: [], unsettable: [] })
  })

  test('is what the first of two says', () => {
    expect(said([labels('a', { a: '1' }), labels('b', { a: '1' })])).toEqual({
      keys: ['labels a=1 by a'],
      unsettable: [],
    })
    expect(said([labels('a', { a: '1' }), labels('b', { a: '2' })])).toEqual({
      keys: ['labels a=1 by a'],
      unsettable: ['a: Conflict: template "a" sets it to "1" and comes first'],
    })
  })

  const creator = { 'authorization.k8s.io/creator': 'alice' }
  test('names the creator and the owner, where they are recorded', () => {
    const named = template('t', { annotations: { by: '$(CREATOR)', of: '$(OWNER)', in: '$(NAMESPACE)' } })
    expect(said([named], namespace({ ...creator, 'borough.dev/owner': 'bob' })).keys).toEqual([
      ...['annotations by=alice by t', 'annotations of=bob by t', 'annotations in=n by t'],
    ])
    expect(said([named])).toEqual({
      keys: ['annotations in=n by t'],
      unsettable: [
        'by: CreatorUnknown: it names $(CREATOR), and none is recorded of this namespace',
        'of: OwnerUnknown: it names $(OWNER), and none is recorded of this namespace',
      ],
    })
  })

  test('is no label that can not be one; an annotation may be anything', () => {
    const of = namespace({ 'authorization.k8s.io/creator': 'a b' })
    const { keys, unsettable } = said(
      [template('t', { labels: { l: '$(CREATOR)' }, annotations: { l: '$(CREATOR)' } })],
      of,
    )
    expect(keys).toEqual(['annotations l=a b by t'])
    expect(unsettable).toEqual([expect.stringMatching(/^l: Invalid: "a b": a valid label must be/)])
  })

  test('is what its parameters say, and nothing while one of them is wrong', () => {
    const size = { name: 'size', fromLabel: 'size', enum: ['small', 'large'] }
    const sized = template('t', { annotations: { a: '$(size)!' } }, { parameters: [size] })
    expect(said([sized], namespace({}, { size: 'small' })).keys).toEqual(['annotations a=small! by t'])
    expect(said([sized, labels('u', { b: '1' })], namespace({}, { size: 'huge' }))).toEqual({
      keys: ['labels b=1 by u'],
      unsettable: [],
    })
  })
})

describe('the record', () => {
  test.each<{ name: string; text: string | undefined; held: string[] }>([
    { name: 'is not there', text: undefined, held: [] },
    {
      name: 'tells who set what',
      text: '{"labels":{"a":"t"},"annotations":{"a/b c":"u"}}',
      held: ['labels a t', 'annotations a/b c u'],
    },
    { name: 'may lack a part', text: '{"annotations":{"a":"t"}}', held: ['annotations a t'] },
    { name: 'may be no JSON', text: '{', held: [] },
    { name: 'may be a list', text: '["labels"]', held: [] },
    { name: 'may hold anything', text: '{"labels":["a"],"annotations":{"a":1,"b":"t"}}', held: ['annotations b t'] },
  ])('$name', ({ text, held }) => {
    const holders = holdersOf(namespace(text === undefined ? {} : { [key]: text }))
    expect(keysHeld(holders).map(({ part, key: of, template: by }) => `${part} ${of} ${by}`)).toEqual(held)
  })

  test('is read from what no client has validated', () => {
    expect(holdersOf({ metadata: { name: 'n' } }).size).toBe(0)
    expect(holdersOf({ metadata: { name: 'n', annotations: { [key]: 7 } } } as never).size).toBe(0)
    expect(parseObject('null')).toEqual({})
  })

  test('is written in one order, and only where it is another', () => {
    const holders = new Map([
      ['labels b', 't'],
      ['annotations c', 'u'],
      ['labels a', 'u'],
    ])
    const text = '{"labels":{"a":"u","b":"t"},"annotations":{"c":"u"}}'
    const written = withHolders(namespace({ x: 'y' }), holders)
    expect(written).toEqual(namespace({ x: 'y', [key]: text }))
    expect(withHolders(written, new Map([...holders].reverse()))).toBe(written)
    expect(withHolders(written, new Map())).toEqual(namespace({ x: 'y' }))
    const bare = { metadata: { name: 'n' } }
    expect(withHolders(bare, new Map())).toBe(bare)
    expect(withHolders(bare, new Map([['labels a', 't']]))).toEqual({
      metadata: { name: 'n', annotations: { [key]: '{"labels":{"a":"t"},"annotations":{}}' } },
    })
  })
})

test('keys are set where they belong, beside what is there', () => {
  const of = namespace({ a: '1' }, { a: '2' })
  const wanted = (part: 'labels' | 'annotations', name: string, value: string) => ({
    ...{ part, key: name, value, template: template('t') },
  })
  expect(withKeys(of, [])).toBe(of)
  expect(withKeys(of, [wanted('labels', 'b', '3'), wanted('annotations', 'a', '4')])).toEqual(
    namespace({ a: '4' }, { a: '2', b: '3' }),
  )
  expect(of).toEqual(namespace({ a: '1' }, { a: '2' }))
})

test('a value is what the namespace itself holds', () => {
  const value = (of: object, name: string) => valueOf(of as never, { part: 'labels', key: name })
  expect(value(namespace({}, { a: '1' }), 'a')).toBe('1')
  expect(value(namespace({ a: '1' }), 'a')).toBeUndefined()
  expect(value(namespace(), 'constructor')).toBeUndefined()
  expect(value({ metadata: {} }, 'a')).toBeUndefined()
  expect(value({ metadata: { labels: null } }, 'a')).toBeUndefined()
})
