import { expect, test } from 'vitest'
import { commandOf } from '../namespace/commands.ts'
import { listCommand } from './list-command.ts'
import type { NamespaceRow } from './namespace-row.ts'

const row = (name: string, phase: NamespaceRow['phase'] = 'Active'): NamespaceRow => ({
  name,
  phase,
  population: { kind: 'populated' },
  owner: '',
  labels: {},
  isProtected: false,
})
/** Without its columns. */
const commandFor = (rows: readonly NamespaceRow[], areChosen: boolean, mayListQuotas: boolean): string =>
  listCommand({ rows, areChosen, mayListQuotas }).replace(/ -o custom-columns='[^']*'/, '')

test('what the server lists is asked for as a list, with quotas as far as one may list them', () => {
  expect(commandFor([row('a')], false, true)).toBe('kubectl get namespaces; kubectl get resourcequotas -A')
  expect(commandFor([row('a')], false, false)).toBe(
    'kubectl get namespaces; kubectl get namespaces -o name | cut -d/ -f2 | xargs -n 1 kubectl get resourcequotas -n',
  )
})

test('what is chosen, and what a list would leave out, is named, unless it is too much for a line', () => {
  const named = 'kubectl get namespaces a b; echo a b | xargs -n 1 kubectl get resourcequotas -n'
  expect(commandFor([row('a'), row('b')], true, true)).toBe(named)
  expect(commandFor([row('a'), row('b', 'Initializing')], false, true)).toBe(named)
  const many = Array.from({ length: 201 }, (_, i) => row(`n${i}`))
  expect(commandFor(many, true, true)).toBe('kubectl get namespaces; kubectl get resourcequotas -A')
  expect(commandFor([], true, true)).toBe('kubectl get namespaces; kubectl get resourcequotas -A')
})

test('of a namespace that is not shown itself only what is in it is asked for', () => {
  expect(commandOf('', 'a', false)).toBe(
    'kubectl describe resourcequotas,limitranges -n a; ' +
      'kubectl get events -n a --sort-by=.lastTimestamp -o wide | tail -n 6',
  )
  expect(commandOf('access', 'a', false)).toMatch(/^kubectl auth can-i --list -n a; kubectl get rolebindings,/)
  expect(commandOf('delete', 'a', false)).toMatch(/^kubectl get "\$\(kubectl api-resources/)
})
