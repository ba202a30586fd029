import fc from 'fast-check'
import { expect, test } from 'vitest'
import { involvedIn } from './failure-words.ts'

test.each([
  {
    message: 'it differs from the template in data.a, spec.hard.pods, and 3 more, changed by "kubectl-edit", "a \\"b"',
    fields: ['data.a', 'spec.hard.pods', 'and 3 more'],
    by: ['kubectl-edit', 'a "b'],
  },
  { message: 'it differs from the template in data.a', fields: ['data.a'], by: [] },
  {
    message: 'changes by "kubectl-patch" were put back: data.a, data.b',
    fields: ['data.a', 'data.b'],
    by: ['kubectl-patch'],
  },
  {
    message: 'it holds what the template does not: data.b; drift: Strict takes it out',
    fields: ['data.b'],
    by: [],
  },
  {
    message: 'Apply failed with 1 conflict: conflict with "argocd-controller": .data.a',
    fields: ['data.a'],
    by: ['argocd-controller'],
  },
  {
    message:
      'Apply failed with 3 conflicts: conflicts with "m1":\n- .data.a\n- .spec.selector\n' +
      'conflicts with "m2" using v1:\n- .data.c',
    fields: ['data.a', 'spec.selector', 'data.c'],
    by: ['m1', 'm2'],
  },
  { message: 'template first sets it to "x" and comes first', fields: [], by: ['template first'] },
  { message: 'the server refused it', fields: [], by: [] },
])('$message', ({ message, fields, by }) => {
  expect(involvedIn(message)).toEqual({ fields, by })
})

test('whatever a message says, it is read', () => {
  const pieces = fc.constantFrom(
    'conflict with "',
    '"',
    'differs from the template in ',
    ', changed by ',
    '\\',
    ': .a',
    '\n',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string())), (parts) => {
      const { fields, by } = involvedIn(parts.join(''))
      expect([...fields, ...by].every((name) => typeof name === 'string')).toBe(true)
    }),
  )
})
