/** How much the selectors of a template may hold, and in which words more is refused. */
import { expect, test } from 'vitest'
import { matchErrors } from './selector-limits.ts'
import type { NamespaceMatch } from './types.ts'

const many = (count: number): string[] => Array.from({ length: count }, (_, i) => `v${i}`)
const term = (...values: string[]) => ({ key: 'k', operator: 'In', values })
const terms = (...counts: number[]): NamespaceMatch => ({
  labelSelector: { matchExpressions: counts.map((count) => term(...many(count))) },
})
const labels = (count: number): NamespaceMatch => ({
  labelSelector: { matchLabels: Object.fromEntries(many(count).map((key) => [key, ''])) },
})
const at = 'spec.namespaces'

test.each<{ name: string; match: NamespaceMatch; wrong: (readonly [type: string, field: string])[] }>([
  { name: 'nothing', match: {}, wrong: [] },
  { name: 'selectors of nothing', match: { labelSelector: {}, nameSelector: {}, creatorSelector: {} }, wrong: [] },
  { name: 'as many labels as there may be', match: labels(128), wrong: [] },
  { name: 'one label more', match: labels(129), wrong: [['FieldValueTooMany', `${at}.labelSelector.matchLabels`]] },
  { name: 'as many terms as there may be', match: terms(...Array<number>(128).fill(1)), wrong: [] },
  {
    name: 'one term more',
    match: terms(...Array<number>(129).fill(1)),
    wrong: [['FieldValueTooMany', `${at}.labelSelector.matchExpressions`]],
  },
  {
    name: 'a term without values',
    match: { labelSelector: { matchExpressions: [{ key: 'k', operator: 'Exists' }] } },
    wrong: [],
  },
  { name: 'as many values as there may be', match: terms(1000), wrong: [] },
  { name: 'as many in two terms', match: terms(400, 600), wrong: [] },
  {
    name: 'one value more in one term',
    match: terms(1, 1001),
    wrong: [['FieldValueTooMany', `${at}.labelSelector.matchExpressions[1].values`]],
  },
  {
    name: 'one value more in two',
    match: terms(400, 601),
    wrong: [['FieldValueForbidden', `${at}.labelSelector.matchExpressions`]],
  },
  {
    name: 'as many globs as there may be',
    match: { nameSelector: { include: many(128), exclude: many(128) } },
    wrong: [],
  },
  {
    name: 'one glob more of each',
    match: {
      nameSelector: { include: many(129), exclude: many(129) },
      creatorSelector: { users: many(129), serviceAccounts: many(129) },
    },
    wrong: [
      'nameSelector.include',
      'nameSelector.exclude',
      'creatorSelector.users',
      'creatorSelector.serviceAccounts',
    ].map((field) => ['FieldValueTooMany', `${at}.${field}`] as const),
  },
  { name: 'a glob as long as it may be', match: { creatorSelector: { users: ['a', 'ä'.repeat(126)] } }, wrong: [] },
  {
    name: 'a longer one',
    match: { creatorSelector: { users: ['a', 'ä'.repeat(127), '*'.repeat(17), '*'.repeat(254)] } },
    wrong: [
      ['FieldValueTooLong', `${at}.creatorSelector.users[1]`],
      ['FieldValueForbidden', `${at}.creatorSelector.users[2]`],
      ['FieldValueTooLong', `${at}.creatorSelector.users[3]`],
    ],
  },
  {
    name: 'as many wildcards as there may be',
    match: { nameSelector: { include: ['a*?'.repeat(8), 'plain'] } },
    wrong: [],
  },
  {
    name: 'one wildcard more',
    match: { nameSelector: { include: ['plain', `${'a*?'.repeat(8)}?`] } },
    wrong: [['FieldValueForbidden', `${at}.nameSelector.include[1]`]],
  },
])('$name', ({ match, wrong }) => {
  expect(matchErrors(match).map(({ type, field }) => [type, field])).toEqual(wrong)
})

test('what is refused says how much there is, and how much there may be', () => {
  const said = (match: NamespaceMatch): string[] => matchErrors(match).map(({ body }) => body)
  expect(said(terms(400, 601))).toEqual(['Forbidden: the terms hold 1001 values, at most 1000 together'])
  expect(said({ nameSelector: { include: ['*'.repeat(17)] } })).toEqual([
    'Forbidden: holds 17 wildcards (* and ?), at most 16',
  ])
})
