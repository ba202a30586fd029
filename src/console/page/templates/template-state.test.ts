import { expect, test } from 'vitest'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { progressOf, wordOf } from './template-state.ts'

const progressing = (status: string, reason: string) => [
  { type: 'Progressing', status, reason, message: '', lastTransitionTime: '' },
]
const template = (status: NamespaceTemplate['status'], metadata = {}): NamespaceTemplate => ({
  metadata: { name: 'a', generation: 2, ...metadata },
  ...(status === undefined ? {} : { status }),
})
const seen = { observedGeneration: 2 }

test.each([
  { given: template(undefined), word: 'not yet seen' },
  { given: template({ observedGeneration: 1 }), word: 'not yet seen' },
  { given: template({ ...seen, conditions: progressing('True', 'RollingOut') }), word: 'rolling out' },
  { given: template({ ...seen, failed: 1 }), word: 'failing' },
  { given: template({ ...seen, matched: 3, synced: 3 }), word: 'complete' },
  { given: template({ ...seen, conditions: progressing('False', 'TooManyPrunes') }), word: 'stopped' },
  { given: template({ ...seen, conditions: progressing('False', 'Paused') }), word: 'stopped' },
  { given: template(seen, { annotations: { 'policy/namespace-template-apply': 'disable' } }), word: 'disabled' },
  { given: template(seen, { deletionTimestamp: '2026-01-01T00:00:00Z' }), word: 'going' },
])('$word', ({ given, word }) => {
  expect(wordOf(given)).toBe(word)
})

test('what is neither done nor failed, skipped or waiting is under way', () => {
  expect(progressOf(template({ matched: 10, synced: 3, failed: 1, skipped: 1, waiting: 2 })).underWay).toBe(3)
  expect(progressOf(template({ matched: 1, synced: 3 })).underWay).toBe(0)
})
