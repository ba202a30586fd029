/** Which templates would give another object in the place of one that is protected. */
import { expect, test } from 'vitest'
import type { Authorizer } from '../../authz/authz.ts'
import type { JsonObject } from '../../kube/types.ts'
import { displacedWarnings, missingBypass } from './displaced.ts'
import { compileMatcher } from './match.ts'
import type { NamespaceTemplate } from './types.ts'

const configMap = (name: string, kind = 'ConfigMap', apiVersion = 'v1'): JsonObject => ({
  ...{ apiVersion, kind, metadata: { name } },
})
const template = (name: string, objects: JsonObject[], matchLabels?: Record<string, string>): NamespaceTemplate => ({
  metadata: { name },
  spec: { ...(matchLabels ? { namespaces: { labelSelector: { matchLabels } } } : {}), objects },
})
const shut = (object: JsonObject): JsonObject => ({ protect: true, template: object })
const open = (object: JsonObject): JsonObject => ({ template: object })
const team = (objects = [shut(configMap('policy'))], labels = { tier: 'small' }) => template('team', objects, labels)

function lacksOf(given: NamespaceTemplate, other: NamespaceTemplate, bypassed: string[] = []) {
  const asked: unknown[] = []
  const authorize = (question: object) => {
    asked.push(question)
    return { allowed: bypassed.includes(String((question as { name?: string }).name)), reason: '' }
  }
  const authorizer = { authorize } as unknown as Authorizer
  const user = { username: 'author', groups: [] }
  const matchers = () => [compileMatcher(other), compileMatcher(given)]
  return { asked, lacks: missingBypass({ authorizer, matchers }, user, given) }
}

test('its author is asked for `bypass` on the template that protects it, in either group', () => {
  const first = template('a', [open(configMap('other')), open(configMap('policy'))])
  const { lacks, asked } = lacksOf(first, team())
  const message =
    'takes the place of ConfigMap/policy of template "team", which protects it: needs "bypass" on that template'
  expect(lacks).toEqual([{ field: 'spec.objects[1].template', message }])
  const question = { verb: 'bypass', version: 'v1alpha1', resource: 'namespacetemplates', name: 'team', namespace: '' }
  expect(asked).toMatchObject([
    { ...question, group: 'policy.borough.dev' },
    { ...question, group: 'policy' },
  ])
  expect(lacksOf(first, team(), ['team']).lacks).toEqual([])
})

test.each<{ name: string; given: NamespaceTemplate; other?: NamespaceTemplate; isAsked: boolean }>([
  { name: 'it protects the object itself', given: template('a', [shut(configMap('policy'))]), isAsked: true },
  { name: 'its name may come to that one', given: template('a', [open(configMap('$(NAMESPACE)'))]), isAsked: true },
  {
    name: 'that one’s name may come to its own',
    given: template('a', [open(configMap('policy'))]),
    other: team([shut(configMap('$(OWNER)'))]),
    isAsked: true,
  },
  {
    name: 'it holds it in another version',
    given: template('a', [open(configMap('policy', 'Policy', 'ex.io/v2'))]),
    other: team([shut(configMap('policy', 'Policy', 'ex.io/v1'))]),
    isAsked: true,
  },
  {
    name: 'both may select a namespace: other labels are asked for',
    given: template('a', [open(configMap('policy'))], { env: 'test' }),
    isAsked: true,
  },
  {
    name: 'both may select a namespace: the same value is asked for',
    given: template('a', [open(configMap('policy'))], { env: 'test', tier: 'small' }),
    isAsked: true,
  },
  {
    name: 'the other is switched off, and on again one day',
    given: template('a', [open(configMap('policy'))]),
    other: { ...team(), metadata: { name: 'team', annotations: { 'policy/namespace-template-apply': 'disable' } } },
    isAsked: true,
  },
  { name: 'it comes after that one', given: template('z', [open(configMap('policy'))]), isAsked: false },
  { name: 'it is that one', given: team(), isAsked: false },
  {
    name: 'no namespace is selected by both',
    given: template('a', [open(configMap('policy'))], { env: 'test', tier: 'large' }),
    isAsked: false,
  },
  { name: 'it holds an object of another name', given: template('a', [open(configMap('other'))]), isAsked: false },
  { name: 'it holds another kind', given: template('a', [open(configMap('policy', 'Secret'))]), isAsked: false },
  {
    name: 'it holds a kind of that name in another group',
    given: template('a', [open(configMap('policy', 'ConfigMap', 'ex.io/v1'))]),
    isAsked: false,
  },
  {
    name: 'that one does not protect it',
    given: template('a', [open(configMap('policy'))]),
    other: team([open(configMap('policy')), shut(configMap('other'))]),
    isAsked: false,
  },
  {
    name: 'that one is being deleted',
    given: template('a', [open(configMap('policy'))]),
    other: { ...team(), metadata: { name: 'team', deletionTimestamp: '2026-11-24T06:00:00Z' } },
    isAsked: false,
  },
])('$name: asked $isAsked', ({ given, other = team(), isAsked }) => {
  expect(lacksOf(given, other).lacks).toHaveLength(isAsked ? 1 : 0)
})

test.each<{ name: string; other: NamespaceTemplate }>([
  { name: 'an edit of its selector', other: team([shut(configMap('policy'))], { tier: 'typo' }) },
  { name: 'an edit that drops the object', other: team([]) },
  { name: 'an edit that leaves both as they are', other: team() },
  { name: 'its deletion', other: { ...team(), metadata: { name: 'team', deletionTimestamp: '2026-11-24T06:00:00Z' } } },
])('its author is asked, and told, once for what is in force while $name is stopped', ({ other }) => {
  const given = template('a', [open(configMap('policy'))], { tier: 'small' })
  const matchers = () => [{ ...compileMatcher(other), held: compileMatcher(team()) }]
  const authorizer = { authorize: () => ({ allowed: false, reason: '' }) } as unknown as Authorizer
  const lacks = missingBypass({ authorizer, matchers }, { username: 'author', groups: [] }, given)
  expect(lacks.map(({ field }) => field)).toEqual(['spec.objects[0].template'])
  expect(displacedWarnings({ matchers }, given)).toHaveLength(1)
})

test('its author is told what another template loses to it, and it is not told where it loses', () => {
  const told = (given: NamespaceTemplate, other: NamespaceTemplate): string[] =>
    displacedWarnings({ matchers: () => [compileMatcher(other), compileMatcher(given)] }, given)
  const first = template('a', [open(configMap('own')), open(configMap('about'))], { env: 'test' })
  const team = template('team', [open(configMap('about'))], { tier: 'small' })
  expect(told(first, team)).toEqual([
    'spec.objects[1].template: where template "team" selects a namespace too, ConfigMap/about comes from this one ' +
      'and no more from that: the first by name gives it',
  ])
  expect(told(team, first)).toEqual([])
  expect(told(template('a', [open(configMap('about'))], { tier: 'large' }), team)).toEqual([])
  const off = { annotations: { 'policy/namespace-template-apply': 'disable' } }
  expect(told(first, { ...team, metadata: { ...team.metadata, ...off } })).toEqual([])
  expect(told({ ...first, metadata: { ...first.metadata, ...off } }, team)).toEqual([])
})

test('of many objects ten are told', () => {
  const all = Array.from({ length: 12 }, (_, i) => open(configMap(`c-${i}`)))
  const given = template('a', all, { env: 'test' })
  const matchers = () => [compileMatcher(template('team', all, { tier: 'small' }))]
  const told = displacedWarnings({ matchers }, given)
  expect(told).toHaveLength(11)
  expect(told[10]).toBe('and 2 more objects in the place of others')
})
