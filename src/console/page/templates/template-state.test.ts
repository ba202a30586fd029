import { expect, test } from 'vitest'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { progressOf, progressText, wordOf } from './template-state.ts'

const progressing = (status: string, reason: string) => [
  { type: 'Progressing', status, reason, message: '', lastTransitionTime: '' },
]
const template = (
  status: NamespaceTemplate['status'],
  metadata = {},
  rollout: { readonly pauseOnFailure?: boolean } = {},
): NamespaceTemplate => ({
  spec: { rollout, templates: [] },
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
  {
    given: template({ ...seen, failed: 1, conditions: progressing('False', 'Paused') }, {}, { pauseOnFailure: true }),
    word: 'stopped',
  },
  // Just resumed: the server has not gone on yet.
  { given: template({ ...seen, waiting: 3, conditions: progressing('False', 'Paused') }), word: 'rolling out' },
  { given: template(seen, { annotations: { 'policy/namespace-template-apply': 'disable' } }), word: 'disabled' },
  {
    given: template(
      { ...seen, conditions: progressing('False', 'Paused') },
      { annotations: { 'policy.borough.dev/pause-rollout': 'true' } },
    ),
    word: 'paused',
  },
  {
    given: template(
      { ...seen, conditions: progressing('False', 'TooManyPrunes') },
      { annotations: { 'policy.borough.dev/pause-rollout': 'true' } },
    ),
    word: 'stopped',
  },
  { given: template(seen, { deletionTimestamp: '2026-01-01T00:00:00Z' }), word: 'going' },
])('$word', ({ given, word }) => {
  expect(wordOf(given)).toBe(word)
})

test('what is neither done nor failed, skipped or waiting is under way', () => {
  expect(progressOf(template({ matched: 10, synced: 3, failed: 1, skipped: 1, waiting: 2 })).underWay).toBe(3)
  expect(progressOf(template({ matched: 1, synced: 3 })).underWay).toBe(0)
  expect(progressOf(template({ matched: 3, synced: 1, extended: 2 })).underWay).toBe(0)
})

test('no more is under way than a rollout begins at a time', () => {
  const begun = template({ ...seen, matched: 1000, synced: 42, waiting: 707 })
  expect(progressOf(begun)).toMatchObject({ underWay: 100, waiting: 858 })
  expect(progressText(begun)).toBe('42 of 1,000 namespaces hold generation 2: wave 2 of 10, 100 at a time.')
})

test('before a prune is confirmed nothing is under way, however many the server has looked at', () => {
  const halted = template({ ...seen, matched: 40, waiting: 3, conditions: progressing('False', 'TooManyPrunes') })
  expect(progressOf(halted)).toMatchObject({ waiting: 40, underWay: 0 })
  expect(progressText(halted)).toBe('0 of 40 namespaces hold generation 2: no wave of 8 has begun, 5 at a time.')
})

test.each([
  {
    status: { matched: 40, synced: 12, failed: 1, waiting: 20 },
    text: '12 of 40 namespaces hold generation 2: wave 4 of 8, 5 at a time.',
  },
  {
    status: { matched: 40, waiting: 40 },
    text: '0 of 40 namespaces hold generation 2: no wave of 8 has begun, 5 at a time.',
  },
  { status: { matched: 3, synced: 1, extended: 1, skipped: 1 }, text: '3 of 3 namespaces hold generation 2.' },
])('$text', ({ status, text }) => {
  expect(progressText(template({ ...seen, ...status }))).toBe(text)
})

test('figures of an earlier generation are told as such', () => {
  const text = 'Generation 2 was not looked at yet; the figures are of 1.'
  expect(progressText(template({ observedGeneration: 1, matched: 3, synced: 3 }))).toBe(text)
})
