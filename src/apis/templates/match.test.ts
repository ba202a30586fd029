/** Which templates are for which namespaces. */
import { describe, expect, test } from 'vitest'
import {
  compileMatcher,
  creatorOf,
  findBeyond,
  isDisabled,
  isOptedOut,
  isRolloutPaused,
  ownerOf,
  selectTemplates,
  selectTemplatesLeft,
} from './match.ts'
import type { NamespaceTemplate } from './types.ts'

type Texts = Record<string, string>
const creatorKey = 'authorization.k8s.io/creator'
const optOut = 'policy/namespace-template-opt-out'
const namespace = (name: string, labels?: Texts, annotations?: Texts) => ({
  metadata: { ...(name ? { name } : {}), ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) },
})
const by = (creator: string, name = 'shop') => namespace(name, undefined, { [creatorKey]: creator })
const template = (name: string, namespaces?: object, annotations?: Texts, deleted = false): NamespaceTemplate => ({
  metadata: {
    ...{ name, ...(annotations ? { annotations } : {}) },
    ...(deleted ? { deletionTimestamp: '2026-11-24T06:00:00Z' } : {}),
  },
  ...(namespaces === undefined ? {} : { spec: { namespaces } }),
})

test.each<{ name: string; wanted: object | undefined; of: ReturnType<typeof namespace>; is: boolean }>([
  { name: 'nothing is said', wanted: undefined, of: namespace('shop'), is: true },
  { name: 'nothing is said in its selector', wanted: {}, of: namespace('shop'), is: true },
  {
    name: 'its label',
    wanted: { labelSelector: { matchLabels: { a: 'b' } } },
    of: namespace('n', { a: 'b' }),
    is: true,
  },
  {
    name: 'another label',
    wanted: { labelSelector: { matchLabels: { a: 'b' } } },
    of: namespace('n', { a: 'c' }),
    is: false,
  },
  { name: 'a label, of none', wanted: { labelSelector: { matchLabels: { a: 'b' } } }, of: namespace('n'), is: false },
  { name: 'one of the names', wanted: { nameSelector: { include: ['x', 'sh*'] } }, of: namespace('shop'), is: true },
  {
    name: 'what can not be read',
    wanted: { labelSelector: { matchExpressions: [{ key: 'a', operator: 'Is', values: ['b'] }] } },
    of: namespace('n', { a: 'b' }),
    is: false,
  },
  { name: 'other names', wanted: { nameSelector: { include: ['x', 'y*'] } }, of: namespace('shop'), is: false },
  {
    name: 'a name that is left out',
    wanted: { nameSelector: { exclude: ['x', 'sh*'] } },
    of: namespace('shop'),
    is: false,
  },
  {
    name: 'a name that is not left out',
    wanted: { nameSelector: { exclude: ['x'] } },
    of: namespace('shop'),
    is: true,
  },
  {
    name: 'a name that is one of the names and left out',
    ...{ wanted: { nameSelector: { include: ['sh*'], exclude: ['shop'] } }, of: namespace('shop'), is: false },
  },
  {
    name: 'a name that is still to be made: it waits',
    ...{ wanted: { nameSelector: { include: ['x'], exclude: ['*'] } }, of: namespace(''), is: true },
  },
  {
    name: 'its label and another name',
    ...{ wanted: { labelSelector: { matchLabels: { a: 'b' } }, nameSelector: { include: ['x'] } } },
    ...{ of: namespace('shop', { a: 'b' }), is: false },
  },
  { name: 'one of the creators', wanted: { creatorSelector: { users: ['x', 'al*'] } }, of: by('alice'), is: true },
  { name: 'other creators', wanted: { creatorSelector: { users: ['x'] } }, of: by('alice'), is: false },
  { name: 'a creator, of none', wanted: { creatorSelector: { users: ['*'] } }, of: namespace('shop'), is: false },
  { name: 'no creator at all', wanted: { creatorSelector: {} }, of: by('alice'), is: false },
  {
    name: 'one of the accounts',
    ...{ wanted: { creatorSelector: { serviceAccounts: ['x/y', 'ci/*'] } }, of: by('system:serviceaccount:ci:bot') },
    is: true,
  },
  {
    name: 'other accounts',
    ...{ wanted: { creatorSelector: { serviceAccounts: ['x/*'] } }, of: by('system:serviceaccount:ci:bot'), is: false },
  },
  {
    name: 'an account, of a user who is called like one',
    ...{ wanted: { creatorSelector: { serviceAccounts: ['*'] } }, of: by('ci/bot'), is: false },
  },
  {
    name: 'an account as a user',
    ...{ wanted: { creatorSelector: { users: ['system:serviceaccount:ci:*'] } } },
    ...{ of: by('system:serviceaccount:ci:bot'), is: true },
  },
])('a template that asks for $name: $is', ({ wanted, of, is }) => {
  expect(compileMatcher(template('t', wanted)).selects(of)).toBe(is)
})

const shops = { labelSelector: { matchLabels: { kind: 'shop' } } }
const shop = namespace('n', { kind: 'shop' })
const names = (templates: readonly NamespaceTemplate[]) => templates.map(({ metadata }) => metadata.name)

describe('a namespace', () => {
  const matchers = [
    template('z', shops),
    template('b'),
    template('a', shops),
    template('off', shops, { 'policy/namespace-template-apply': 'disable' }),
    template('gone', shops, undefined, true),
    template('other', { labelSelector: { matchLabels: { kind: 'lab' } } }),
  ].map(compileMatcher)

  test('is given what selects it and is in force, by name', () => {
    expect(names(selectTemplates(matchers, shop))).toEqual(['a', 'b', 'z'])
    expect(names(selectTemplates(matchers, namespace('n')))).toEqual(['b'])
  })

  test('that has opted out is given nothing, and neither is kube-system', () => {
    const opted = (said: string) => namespace('n', { kind: 'shop' }, { [optOut]: said })
    expect(selectTemplates(matchers, opted('true'))).toEqual([])
    expect(names(selectTemplates(matchers, opted('yes')))).toEqual(['a', 'b', 'z'])
    expect(selectTemplates(matchers, namespace('kube-system', { kind: 'shop' }))).toEqual([])
    expect([isOptedOut(opted('true')), isOptedOut(opted('yes')), isOptedOut(shop)]).toEqual([true, false, false])
  })

  test('leaves what selected it, switched off or not, but for what is being deleted', () => {
    expect(names(selectTemplatesLeft(matchers, namespace('n', {}), shop))).toEqual(['z', 'a', 'off'])
    expect(selectTemplatesLeft(matchers, shop, namespace('n', {}))).toEqual([])
    expect(selectTemplatesLeft(matchers, shop, shop)).toEqual([])
    const system = namespace('kube-system', { kind: 'shop' })
    expect(selectTemplatesLeft(matchers, namespace('kube-system'), system)).toEqual([])
  })
})

test.each([
  { said: undefined, is: false },
  { said: '', is: false },
  { said: 'false', is: false },
  { said: 'true', is: true },
  { said: 'ture', is: true },
])('a rollout whose pause says $said is paused: $is', ({ said, is }) => {
  const annotations = said === undefined ? { other: 'x' } : { 'policy.borough.dev/pause-rollout': said }
  expect(isRolloutPaused(template('t', {}, annotations))).toBe(is)
  expect(isRolloutPaused(template('t', {}, annotations, true))).toBe(false)
  expect(isRolloutPaused(template('t'))).toBe(false)
})

test('only one word switches a template off', () => {
  const said = (value: string) => template('t', {}, { 'policy/namespace-template-apply': value })
  expect([said('disable'), said('Disable'), template('t')].map(isDisabled)).toEqual([true, false, false])
})

test('the owner is the one that is named, else the creator', () => {
  const owned = namespace('n', undefined, { [creatorKey]: 'portal', 'borough.dev/owner': 'alice' })
  expect([owned, by('portal'), namespace('n')].map((n) => [creatorOf(n), ownerOf(n)])).toEqual([
    ['portal', 'alice'],
    ['portal', 'portal'],
    [undefined, undefined],
  ])
})

test('a template from a newer version is not understood, by what it says or asks for', () => {
  const level = 'policy.borough.dev/feature-level'
  expect(findBeyond(template('t'))).toBeUndefined()
  expect(findBeyond(template('t', {}, { [level]: '1' }))).toBeUndefined()
  expect(findBeyond(template('t', {}, { [level]: '99999' }))).toContain('99999')
  expect(findBeyond(template('t', undefined, { [level]: '99999' }))).toContain('99999')
  const said = { metadata: { name: 't' }, spec: { novelty: 1 } } as NamespaceTemplate
  expect(findBeyond({ ...said, metadata: { name: 't', annotations: { [level]: '1' } } })).toContain('novelty')
  expect(findBeyond(said)).toContain('novelty')
  expect(findBeyond(said)).toContain('novelty')
})
