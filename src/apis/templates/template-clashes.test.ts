/** What two templates would both give to the same namespaces, as far as that is certain when one is written. */
import { describe, expect, test } from 'vitest'
import { compileMatcher } from './match.ts'
import { keyClashes, objectClashes } from './template-clashes.ts'
import type { NamespaceTemplate } from './types.ts'

type Spec = NonNullable<NamespaceTemplate['spec']>
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const off = { annotations: { 'policy/namespace-template-apply': 'disable' } }
const gone = { deletionTimestamp: '2026-11-24T06:00:00Z' }
const of = (name: string, spec: Spec = {}, metadata: object = {}): NamespaceTemplate => ({
  metadata: { name, ...metadata },
  spec,
})
const giving = (name: string, more: Spec = {}, metadata: object = {}) =>
  of(name, { templates: [configMap('a')], ...more }, metadata)
const matchers = (others: NamespaceTemplate[]) => ({ matchers: () => others.map(compileMatcher) })
const clashes = (template: NamespaceTemplate, ...others: NamespaceTemplate[]): string[] =>
  objectClashes(template, matchers(others)).map(({ field, body }) => `${field}: ${body}`)
const why = (name: string, field = 'spec.templates[0]'): string =>
  `${field}: Invalid value: "ConfigMap/a": template "${name}" gives it to the same namespaces`

describe('an object that another template gives', () => {
  test('is told, with the template', () =>
    expect(clashes(giving('t'), giving('u'), giving('v'))).toEqual([why('u'), why('v')]))

  test('is told where it stands', () => {
    const own = of('t', { templates: [configMap('b'), configMap('a')] })
    expect(clashes(own, giving('u'))).toEqual([why('u', 'spec.templates[1]')])
    expect(clashes(of('t', { objects: [{ template: configMap('a') }] }), giving('u'))).toEqual([
      why('u', 'spec.objects[0].template'),
    ])
  })

  test.each<{ name: string; template: NamespaceTemplate; other: NamespaceTemplate }>([
    { name: 'is its own', template: giving('t'), other: giving('t') },
    { name: 'has another name', template: giving('t'), other: of('u', { templates: [configMap('b')] }) },
    { name: 'is of one that is switched off', template: giving('t'), other: giving('u', {}, off) },
    { name: 'is of one that goes', template: giving('t'), other: giving('u', {}, gone) },
    { name: 'is that of one that is switched off itself', template: giving('t', {}, off), other: giving('u') },
    { name: 'is that of one that goes itself', template: giving('t', {}, gone), other: giving('u') },
    {
      name: 'may be an alternative',
      template: giving('t'),
      other: of('u', { objects: [{ template: configMap('a'), when: 'params.x == ""' }] }),
    },
    {
      name: 'is an alternative itself',
      template: of('t', { objects: [{ template: configMap('a'), when: 'params.x == ""' }] }),
      other: giving('u'),
    },
  ])('is nothing to tell where it $name', ({ template, other }) => expect(clashes(template, other)).toEqual([]))
})

describe('certainly the same namespaces', () => {
  const [a, b]: Spec['namespaces'][] = [
    { labelSelector: { matchLabels: { a: '1', b: '2' } } },
    { labelSelector: { matchLabels: { b: '2', a: '1' } } },
  ]
  const clash = (one: Spec['namespaces'], other: Spec['namespaces']): boolean => {
    const spec = (namespaces: Spec['namespaces']): Spec => (namespaces === undefined ? {} : { namespaces })
    return clashes(giving('t', spec(one)), giving('u', spec(other))).length > 0
  }

  test.each<{ name: string; one: Spec['namespaces']; other: Spec['namespaces'] }>([
    { name: 'select two that say nothing', one: undefined, other: {} },
    { name: 'select one that says nothing and any other', one: undefined, other: a },
    { name: 'the other way round too', one: a, other: { labelSelector: {}, nameSelector: {} } },
    { name: 'select equal labels in any order', one: a, other: b },
    {
      name: 'select equal names',
      one: { nameSelector: { include: ['a*'] } },
      other: { nameSelector: { include: ['a*'] } },
    },
    { name: 'select empty lists', one: { nameSelector: { include: [], exclude: [] } }, other: a },
    {
      name: 'select equal creators',
      one: { creatorSelector: { users: ['a'] } },
      other: { creatorSelector: { users: ['a'] } },
    },
  ])('$name', ({ one, other }) => expect(clash(one, other)).toBe(true))

  test.each<{ name: string; one: Spec['namespaces']; other: Spec['namespaces'] }>([
    { name: 'other labels', one: a, other: { labelSelector: { matchLabels: { a: '1' } } } },
    {
      name: 'an expression more',
      one: a,
      other: { labelSelector: { ...a?.labelSelector, matchExpressions: [{ key: 'c', operator: 'Exists' }] } },
    },
    {
      name: 'an expression alone',
      one: a,
      other: { labelSelector: { matchExpressions: [{ key: 'c', operator: 'Exists' }] } },
    },
    { name: 'other names', one: { nameSelector: { include: ['a*'] } }, other: { nameSelector: { include: ['b*'] } } },
    { name: 'names left out', one: { nameSelector: { include: ['a'] } }, other: { nameSelector: { exclude: ['a'] } } },
    { name: 'no creator at all', one: a, other: { creatorSelector: {} } },
    { name: 'creators beside it', one: a, other: { ...a, creatorSelector: { users: ['a'] } } },
  ])('are not selected by $name', ({ one, other }) => expect(clash(one, other)).toBe(false))
})

test('keys clash as objects do: of templates in force', () => {
  const sets = (name: string, value: string, metadata: object = {}) =>
    of(name, { namespaceMetadata: { labels: { a: value } } }, metadata)
  const found = (template: NamespaceTemplate, other: NamespaceTemplate): number =>
    keyClashes(template, matchers([other])).length
  expect(found(sets('t', '1'), sets('u', '2'))).toBe(1)
  expect(found(sets('t', '1', off), sets('u', '2'))).toBe(0)
  expect(found(sets('t', '1'), sets('u', '2', off))).toBe(0)
  const elsewhere = { nameSelector: { include: ['x'] } }
  const apart = of('u', { namespaces: elsewhere, namespaceMetadata: { labels: { a: '2' } } })
  expect(
    found(
      of('t', { namespaces: { nameSelector: { include: ['y'] } }, namespaceMetadata: { labels: { a: '1' } } }),
      apart,
    ),
  ).toBe(0)
  expect(found(sets('t', '1'), apart)).toBe(1)
})
