/** In which order the objects of a namespace are applied. */
import { expect, test } from 'vitest'
import { batches, countersLast, isCounter, isUnordered } from './apply-order.ts'

const of = (type: string) => {
  const [group = '', resource = ''] = type.split('/')
  return { group, resource }
}

test.each([
  ...['/configmaps', '/limitranges', '/resourcequotas', '/secrets', '/serviceaccounts'],
  ...['networking.k8s.io/networkpolicies', 'rbac.authorization.k8s.io/rolebindings', 'rbac.authorization.k8s.io/roles'],
])('%s may come in any order', (type) => expect(isUnordered(of(type))).toBe(true))

test.each([
  ...['/pods', '/', 'apps/configmaps', '/roles', '/networkpolicies', 'networking.k8s.io/ingresses'],
  ...['rbac.authorization.k8s.io/clusterroles', 'networking.k8s.io/roles', 'example.com/things'],
])('%s has its place', (type) => expect(isUnordered(of(type))).toBe(false))

test('only a quota of Kubernetes counts', () => {
  expect(isCounter(of('/resourcequotas'))).toBe(true)
  expect(isCounter(of('example.com/resourcequotas'))).toBe(false)
  expect(isCounter(of('/configmaps'))).toBe(false)
})

const placed = (...types: string[]) => types.map((type) => ({ kind: of(type), type }))
const said = (run: readonly { type: string }[]): string => run.map(({ type }) => type).join(' ')

test.each<{ types: string[]; runs: string[] }>([
  { types: [], runs: [] },
  { types: ['/configmaps'], runs: ['/configmaps'] },
  { types: ['/pods'], runs: ['/pods'] },
  { types: ['/resourcequotas', '/configmaps', '/secrets'], runs: ['/configmaps /secrets /resourcequotas'] },
  {
    types: ['/resourcequotas', '/secrets', '/pods', 'a/things', '/configmaps', '/resourcequotas', '/secrets'],
    runs: ['/secrets /resourcequotas', '/pods', 'a/things', '/configmaps /secrets /resourcequotas'],
  },
  { types: ['/pods', '/services'], runs: ['/pods', '/services'] },
])('$types is applied as $runs', ({ types, runs }) => {
  expect([...batches(placed(...types))].map(said)).toEqual(runs)
})

test('quotas come last, in the order in which they stand', () => {
  const run = [...placed('/resourcequotas', '/secrets', '/resourcequotas')].map((p, i) => ({ ...p, type: String(i) }))
  expect(said(countersLast(run))).toBe('1 0 2')
})
