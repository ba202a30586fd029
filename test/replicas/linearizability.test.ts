/** The checker finds what it is there to find. */
import { describe, expect, test } from 'vitest'
import { type Operation, type Version, violations } from './linearizability.ts'

const history: readonly Version[] = [
  { revision: 10, id: 'a' },
  { revision: 20, id: 'b' },
  { revision: 30, id: undefined },
  { revision: 40, id: 'c' },
]
const done = { outcome: 'acknowledged' } as const
const good: readonly Operation[] = [
  { type: 'write', id: 'a', expected: 'absent', ...done, revision: 10, began: 0, ended: 1 },
  { type: 'read', revision: 10, began: 2, ended: 3 },
  { type: 'write', id: 'b', expected: 10, ...done, revision: 20, began: 4, ended: 6 },
  { type: 'write', id: 'x', expected: 10, outcome: 'refused', began: 4, ended: 7 },
  { type: 'delete', id: 'd', expected: 20, ...done, began: 8, ended: 9 },
  { type: 'read', revision: 'absent', began: 9.5, ended: 9.6 },
  { type: 'write', id: 'c', expected: 'absent', outcome: 'unknown', began: 10, ended: Number.POSITIVE_INFINITY },
  { type: 'read', revision: 40, began: 12, ended: 13 },
]
const without = (id: string): Operation[] => good.filter((o) => o.type === 'read' || o.id !== id)

test('a run that was linearizable passes', () => {
  expect(violations(history, good)).toEqual([])
})

describe('what is wrong is found', () => {
  const rows: { name: string; history?: readonly Version[]; operations?: readonly Operation[]; want: RegExp }[] = [
    {
      name: 'an acknowledged write that is lost',
      history: history.filter((v) => v.id !== 'b'),
      want: /b was acknowledged as 20 and is lost/,
    },
    {
      name: 'an acknowledged deletion that is lost',
      history: history.filter((v) => v.id !== undefined),
      want: /the deletion of 20 was acknowledged and is lost/,
    },
    { name: 'a change that nobody asked for', operations: without('b'), want: /20: b is there, but nobody wrote it/ },
    {
      name: 'a deletion that nobody asked for',
      operations: without('d'),
      want: /30: a deletion that nobody asked for/,
    },
    {
      name: 'a refused write that happened',
      operations: [...without('b'), { type: 'write', id: 'b', expected: 10, outcome: 'refused', began: 4, ended: 6 }],
      want: /b is there, but was refused/,
    },
    {
      name: 'a lost update',
      history: [{ revision: 10, id: 'a' }, { revision: 15, id: 'x' }, ...history.slice(1)],
      operations: [
        ...without('x'),
        { type: 'write', id: 'x', expected: 10, ...done, revision: 15, began: 4, ended: 7 },
      ],
      want: /20: b replaced 15, and expected 10/,
    },
    {
      name: 'an answer with another revision',
      operations: [
        ...without('b'),
        { type: 'write', id: 'b', expected: 10, ...done, revision: 21, began: 4, ended: 6 },
      ],
      want: /b was acknowledged as 21/,
    },
    {
      name: 'a stale read',
      operations: [...good, { type: 'read', revision: 10, began: 7.5, ended: 7.6 }],
      want: /a read of 10 from 7.5 to 7.6 does not fit: 20 was known before/,
    },
    {
      name: 'a stale "not found"',
      operations: [...good, { type: 'read', revision: 'absent', began: 14, ended: 15 }],
      want: /a read of absent from 14 to 15 does not fit/,
    },
    {
      name: 'a read from the future',
      operations: [...good, { type: 'read', revision: 20, began: 3.1, ended: 3.2 }],
      want: /a read of 20 from 3.1 to 3.2 does not fit/,
    },
    {
      name: 'a refusal by a change that had not been asked for',
      operations: [...good, { type: 'write', id: 'y', expected: 10, outcome: 'refused', began: 3.1, ended: 3.2 }],
      want: /write of 10 \(refused\) from 3.1 to 3.2 does not fit/,
    },
  ]
  test.each(rows)('$name', (row) => {
    expect(violations(row.history ?? history, row.operations ?? good).join('\n')).toMatch(row.want)
  })
})
