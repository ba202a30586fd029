import { expect, test } from 'vitest'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { updatesIn } from './updates.ts'

const template = (status: NamespaceTemplate['status'], generation = 2): NamespaceTemplate => ({
  metadata: { name: 'default', generation },
  spec: { namespaces: { nameSelector: { include: ['team-*'] } } },
  ...(status === undefined ? {} : { status }),
})
const team = { metadata: { name: 'team-a' } }

test.each([
  { name: 'it has reached all', status: { observedGeneration: 2, matched: 3, synced: 2, failed: 1 }, updates: [] },
  { name: 'some wait', status: { observedGeneration: 2, matched: 9, synced: 2, waiting: 7 }, updates: [2] },
  { name: 'one is under way', status: { observedGeneration: 2, matched: 3, synced: 2 }, updates: [2] },
  { name: 'the newest was not looked at', status: { observedGeneration: 1, matched: 3, synced: 3 }, updates: [0] },
  { name: 'it was never looked at', status: undefined, updates: [0] },
])('of a template is told what is done, where $name', ({ status, updates }) => {
  expect(updatesIn([template(status)])(team).map(({ done }) => done)).toEqual(updates)
})

test('of one that does not select it, is disabled or kept off, nothing is told', () => {
  const waiting = template({ observedGeneration: 1 })
  expect(updatesIn([waiting])({ metadata: { name: 'other' } })).toEqual([])
  const annotations = { 'policy/namespace-template-opt-out': 'true' }
  expect(updatesIn([waiting])({ metadata: { name: 'team-a', annotations } })).toEqual([])
  const off = { ...waiting.metadata, annotations: { 'policy/namespace-template-apply': 'disable' } }
  expect(updatesIn([{ ...waiting, metadata: off }])(team)).toEqual([])
})
