import { expect, test } from 'vitest'
import type { Namespace } from '../namespaces/types.ts'
import { OpenedGates } from './gate.ts'
import { pendingLabel } from './types.ts'

const namespace = (
  uid: string,
  pending: readonly string[] | undefined,
  labels?: Record<string, string>,
): Namespace => ({
  metadata: { name: 'a', uid, ...(labels ? { labels } : {}) },
  ...(pending ? { spec: { initializers: { pending: pending.map((name) => ({ name })) } } } : {}),
})
const labelled = namespace('u1', undefined, { [pendingLabel]: 'true', team: 'a' })
const unlabelled = namespace('u1', undefined, { team: 'a' })
const waiting = namespace('u1', ['namespace-template', 'other.io/x'])

test.each([
  { what: 'label', given: labelled, want: unlabelled },
  { what: 'initializer', given: waiting, want: namespace('u1', ['other.io/x']) },
])('what was opened counts as open while it is seen shut, by its $what', ({ given, want }) => {
  const gates = new OpenedGates()
  expect(gates.asLeft(given)).toEqual(given)
  gates.opened(given.metadata, given)
  gates.changed('a', given)
  expect(gates.asLeft(given)).toEqual(want)
})

test.each([
  { what: 'was seen open since', next: unlabelled },
  { what: 'is another one', next: namespace('u2', undefined, { [pendingLabel]: 'true' }) },
  { what: 'is gone', next: undefined },
])('a gate that is seen shut is shut where the namespace $what', ({ next }) => {
  const gates = new OpenedGates()
  gates.opened(labelled.metadata, labelled)
  gates.changed('a', next)
  expect(gates.asLeft(labelled)).toEqual(labelled)
})

test.each([
  { what: 'it is open there already', seen: unlabelled },
  { what: 'another one has its name', seen: namespace('u2', undefined, { [pendingLabel]: 'true' }) },
  { what: 'it has gone', seen: undefined },
])('nothing is remembered that no watch will tell of: $what', ({ seen }) => {
  const gates = new OpenedGates()
  gates.opened(labelled.metadata, seen)
  expect(gates.asLeft(labelled)).toEqual(labelled)
})
