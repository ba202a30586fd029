/** What people are told of an object that would be another. */
import { expect, test } from 'vitest'
import type { KubeObject } from '../../kube/types.ts'
import { type Difference, differences } from './differences.ts'

const object = (more: object, metadata: object = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', ...metadata }, ...more }) as KubeObject

test.each<{ name: string; before: KubeObject; after: KubeObject; found: Difference[] }>([
  { name: 'nothing', before: object({ data: { a: '1' } }), after: object({ data: { a: '1' } }), found: [] },
  {
    name: 'a value',
    before: object({ data: { a: '1', b: '1' } }),
    after: object({ data: { a: '2', b: '1' } }),
    found: [{ path: 'data.a', before: '1', after: '2' }],
  },
  {
    name: 'what is new',
    before: object({}),
    after: object({ data: { a: '1' } }),
    found: [{ path: 'data', after: { a: '1' } }],
  },
  {
    name: 'what goes',
    before: object({ data: { a: '1' } }),
    after: object({ data: {} }),
    found: [{ path: 'data.a', before: '1' }],
  },
  {
    name: 'a label whose key is no word',
    before: object({}, { labels: { 'a.b/c': 'd' } }),
    after: object({}, { labels: { 'a.b/c': 'e' } }),
    found: [{ path: 'metadata.labels["a.b/c"]', before: 'd', after: 'e' }],
  },
  {
    name: 'a key with a hyphen',
    before: object({ data: { 'a-b': '1' } }),
    after: object({ data: { 'a-b': '2' } }),
    found: [{ path: 'data.a-b', before: '1', after: '2' }],
  },
  {
    name: 'an item of a list',
    before: object({ rules: [{ verbs: ['get'] }, { verbs: ['list'] }] }),
    after: object({ rules: [{ verbs: ['get'] }, { verbs: ['watch'] }] }),
    found: [{ path: 'rules[1].verbs[0]', before: 'list', after: 'watch' }],
  },
  {
    name: 'a list of another length, as a whole',
    before: object({ rules: ['a'] }),
    after: object({ rules: ['a', 'b'] }),
    found: [{ path: 'rules', before: ['a'], after: ['a', 'b'] }],
  },
  {
    name: 'a list that becomes an object',
    before: object({ x: [] }),
    after: object({ x: {} }),
    found: [{ path: 'x', before: [], after: {} }],
  },
  {
    name: 'an object that becomes a text',
    before: object({ x: { a: '1' } }),
    after: object({ x: 'a' }),
    found: [{ path: 'x', before: { a: '1' }, after: 'a' }],
  },
  {
    name: 'what became null',
    before: object({ x: ['a'] }),
    after: object({ x: [null] }),
    found: [{ path: 'x[0]', before: 'a', after: null }],
  },
  {
    name: 'no bookkeeping, kind or status',
    before: object({ status: { a: 1 } }, { resourceVersion: '1', uid: 'a', generation: 1, selfLink: '/a' }),
    after: {
      ...object({ status: { a: 2 } }, { resourceVersion: '2', uid: 'b', generation: 2, selfLink: '/b' }),
      ...{ apiVersion: 'v2', kind: 'Map' },
    },
    found: [],
  },
  {
    name: 'nor who wrote it, and when',
    before: object({}, { managedFields: [], creationTimestamp: '2026-11-24T06:00:00Z' }),
    after: object({}, { managedFields: [{ manager: 'a' }] }),
    found: [],
  },
])('$name', ({ before, after, found }) => expect(differences(before, after)).toEqual(found))
