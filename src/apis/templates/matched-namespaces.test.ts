import { expect, test } from 'vitest'
import type { Namespace } from '../namespaces/types.ts'
import { compileMatcher } from './match.ts'
import { MatchedNamespaces } from './matched-namespaces.ts'

const template = compileMatcher({
  metadata: { name: 't' },
  spec: { namespaces: { labelSelector: { matchLabels: { tier: 'x' } } } },
})
const namespace = (name: string, tier: string): Namespace => ({ metadata: { name, labels: { tier } } })

test('whatever changes a figure is told, once, and nothing else', () => {
  const told: string[] = []
  const matched = new MatchedNamespaces(
    (version, one) => version.selects(one),
    (name) => told.push(name),
  )
  matched.countAnew(template)
  matched.count(template, namespace('a', 'x'))
  matched.count(template, namespace('d', 'y'))
  expect([matched.counted('t'), told]).toEqual([1, []])
  matched.namespaceChanged(namespace('b', 'x'))
  matched.namespaceChanged(namespace('b', 'x'))
  matched.namespaceChanged(namespace('c', 'y'))
  expect([matched.counted('t'), told]).toEqual([2, ['t']])
  matched.namespaceChanged(namespace('a', 'y'))
  expect([matched.counted('t'), told]).toEqual([1, ['t', 't']])
  matched.namespaceGone('b')
  matched.namespaceGone('c')
  expect([matched.counted('t'), told]).toEqual([0, ['t', 't', 't']])
})
