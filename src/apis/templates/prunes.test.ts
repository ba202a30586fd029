/** Where a version of a template would delete something, and whether that is more than it may. */
import { describe, expect, test } from 'vitest'
import type { Namespace } from '../namespaces/types.ts'
import type { AppliedObject } from './applied-records.ts'
import { compileMatcher } from './match.ts'
import type { PopulatedObjects } from './populated-objects.ts'
import { excessOf, namespacesToPrune, prunes, prunesIn } from './prunes.ts'
import type { NamespaceTemplate } from './types.ts'

type Spec = NonNullable<NamespaceTemplate['spec']>
const gone = { deletionTimestamp: '2026-11-24T06:00:00Z' }
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const team = { labelSelector: { matchLabels: { team: 'a' } } }
const of = (spec: Spec = {}, metadata: object = {}): NamespaceTemplate => ({
  metadata: { name: 't', generation: 3, ...metadata },
  spec,
})
const off = { annotations: { 'policy/namespace-template-apply': 'disable' } }
const newer = { annotations: { 'policy.borough.dev/feature-level': '7' } }
const claim = (name: string, template = 't', kind = 'ConfigMap'): AppliedObject => ({
  ...{ apiVersion: 'v1', kind, name, uid: 'u', template, generation: 1, digest: 'd', content: 'c' },
})
const namespace = (name = 'n', metadata: object = {}): Namespace => ({
  metadata: { name, labels: { team: 'a' }, ...metadata },
})
const set = (labels: object, annotations: object = {}) => ({
  annotations: { 'policy.borough.dev/set-by-templates': JSON.stringify({ labels, annotations }) },
})

const holding = (claims: readonly AppliedObject[]): PopulatedObjects =>
  ({ claimsIn: () => claims, holdings: { namespacesOf: () => ['n', 'm'] } }) as unknown as PopulatedObjects

describe('a version deletes', () => {
  test.each<{ name: string; template: NamespaceTemplate; is: boolean }>([
    { name: 'as a rule', template: of(), is: true },
    { name: 'not while it is switched off', template: of({}, off), is: false },
    { name: 'not while this version does not understand it', template: of({}, newer), is: false },
    { name: 'when it is deleted, even then', template: of({}, { ...off, ...gone }), is: true },
    { name: 'when it is deleted, understood or not', template: of({}, { ...newer, ...gone }), is: true },
  ])('$name: $is', ({ template, is }) => expect(prunes(compileMatcher(template))).toBe(is))
})

const size = { name: 'size', fromLabel: 'size', required: true }
describe('in a namespace', () => {
  test.each<{ name: string; template: NamespaceTemplate; claims?: AppliedObject[]; in?: Namespace; is: boolean }>([
    { name: 'that holds what it says', template: of({ templates: [configMap('a')] }), claims: [claim('a')], is: false },
    {
      name: 'that holds more',
      template: of({ templates: [configMap('a')] }),
      claims: [claim('a'), claim('b')],
      is: true,
    },
    { name: 'that holds less', template: of({ templates: [configMap('a')] }), is: false },
    { name: 'that holds what another gave', template: of(), claims: [claim('b', 'other')], is: false },
    {
      name: 'that it does not select any more',
      template: of({ namespaces: team }),
      in: namespace('n', { labels: {} }),
      is: true,
    },
    ...[true, false].map((is) => ({
      name: 'that a copy was made from, or not',
      template: of({
        objects: [{ cloneFrom: { namespace: is ? 'n' : 'm', apiVersion: 'v1', kind: 'ConfigMap', name: 'a' } }],
      }),
      claims: [claim('a')],
      is,
    })),
    ...["namespaceObject.metadata.name == 'm'", "namespaceObject.metadata.name == 'n'"].map((when, i) => ({
      name: `where it is held ${when}`,
      template: of({ objects: [{ when, template: configMap('a') }] }),
      claims: [claim('a')],
      is: i === 0,
    })),
    {
      name: 'that holds it under its own name',
      template: of({ templates: [configMap('a-$(NAMESPACE)')] }),
      claims: [claim('a-n')],
      is: false,
    },
    { name: 'that goes anyway', template: of({}, gone), in: namespace('n', gone), is: false },
    {
      name: 'if it is deleted itself',
      template: of({ templates: [configMap('a')] }, gone),
      claims: [claim('a')],
      is: true,
    },
    {
      name: 'whose label it set and sets no more',
      template: of(),
      in: namespace('n', { labels: { team: 'a', x: '1' }, ...set({ x: 't' }) }),
      is: true,
    },
    {
      name: 'whose label another set',
      template: of(),
      in: namespace('n', { labels: { team: 'a', x: '1' }, ...set({ x: 'u' }) }),
      is: false,
    },
    {
      name: 'that gives a wrong value, where it holds what the template still has',
      template: of({ parameters: [size], templates: [configMap('a')] }),
      claims: [claim('a')],
      is: false,
    },
    {
      name: 'that gives a wrong value, where it holds what the template has no more',
      template: of({ parameters: [size], templates: [configMap('a')] }),
      claims: [claim('b')],
      is: true,
    },
    {
      name: 'that gives a wrong value, where a name with a token may be the one',
      template: of({ parameters: [size], templates: [configMap('x-$(size)')] }),
      claims: [claim('b')],
      is: false,
    },
    {
      name: 'that gives a wrong value, where that name is of another kind',
      template: of({ parameters: [size], templates: [configMap('x-$(size)')] }),
      claims: [claim('b', 't', 'Secret')],
      is: true,
    },
    {
      name: 'that gives a wrong value, where its label is still set',
      template: of({ parameters: [size], namespaceMetadata: { labels: { x: '$(size)' } } }),
      in: namespace('n', { labels: { x: '1' }, ...set({ x: 't' }) }),
      is: false,
    },
    {
      name: 'that gives a wrong value, where its label is set no more',
      template: of({ parameters: [size], namespaceMetadata: { annotations: { x: '1' } } }),
      in: namespace('n', { labels: { x: '1' }, ...set({ x: 't' }) }),
      is: true,
    },
    {
      name: 'that gives a wrong value, where another set a label',
      template: of({ parameters: [size] }),
      in: namespace('n', { labels: { x: '1' }, ...set({ x: 'u' }) }),
      is: false,
    },
  ])('$name: $is', ({ template, claims = [], in: where = namespace(), is }) => {
    expect(prunesIn(compileMatcher(template), holding(claims), where)).toBe(is)
  })
})

test('all namespaces are told that hold something, by object or by label, and are there', () => {
  const there = new Map(['n', 'x'].map((name) => [name, namespace(name)]))
  const reached = { find: (name: string) => there.get(name), withMetadataOf: () => ['x', 'n', 'y'] }
  const told = (template: NamespaceTemplate): string[] =>
    namespacesToPrune(compileMatcher(template), holding([claim('b')]), reached)
  expect(told(of())).toEqual(['n', 'x'])
  expect(told(of({}, off))).toEqual([])
  expect(told(of({ templates: [configMap('b')] }))).toEqual([])
})

describe('that is too many', () => {
  const confirmed = (generation: string) => ({ annotations: { 'policy.borough.dev/confirm-prune': generation } })
  test.each<{ name: string; spec?: Spec; metadata?: object; pruned: number; reached: number; allowed?: string }>([
    { name: 'five of any', pruned: 5, reached: 1 },
    { name: 'six of few', pruned: 6, reached: 10, allowed: '5 (the default)' },
    { name: 'a tenth', pruned: 10, reached: 100 },
    { name: 'more than a tenth', pruned: 11, reached: 100, allowed: '10 (the default)' },
    { name: 'as many as it says', spec: { rollout: { maxPrune: 2 } }, pruned: 2, reached: 9 },
    { name: 'more than it says', spec: { rollout: { maxPrune: 2 } }, pruned: 3, reached: 9, allowed: '2' },
    {
      name: 'more than the share it says',
      spec: { rollout: { maxPrune: '20%' } },
      pruned: 3,
      reached: 10,
      allowed: '20%',
    },
    { name: 'any, where nothing is allowed', spec: { rollout: { maxPrune: 0 } }, pruned: 1, reached: 10, allowed: '0' },
    { name: 'none, where nothing is allowed', spec: { rollout: { maxPrune: 0 } }, pruned: 0, reached: 10 },
    { name: 'what is left behind', spec: { deletionPolicy: 'Orphan' }, pruned: 50, reached: 50 },
    { name: 'what is confirmed', metadata: confirmed('3'), pruned: 50, reached: 50 },
    {
      name: 'what was confirmed of another generation',
      metadata: confirmed('2'),
      pruned: 50,
      reached: 50,
      allowed: '5 (the default)',
    },
  ])('$name', ({ spec = {}, metadata = {}, pruned, reached, allowed }) => {
    expect(excessOf(compileMatcher(of(spec, metadata)), pruned, () => reached)).toEqual(
      allowed === undefined
        ? undefined
        : {
            consequence:
              `would delete objects in ${pruned} of ${reached} namespaces, ` +
              `spec.rollout.maxPrune allows ${allowed}`,
            confirmation: 'kubectl annotate --overwrite namespacetemplate t policy.borough.dev/confirm-prune=3',
          },
    )
  })
})
