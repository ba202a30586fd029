import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AppliedObject } from './applied-records.ts'
import { Holdings } from './holdings.ts'

const applied = (template: string, kind: string, name: string): AppliedObject => ({
  apiVersion: 'v1',
  kind,
  name,
  uid: 'u',
  template,
  generation: 1,
  digest: '',
  content: '',
})

const objects = fc.uniqueArray(
  fc.tuple(fc.constantFrom('t1', 't2'), fc.constantFrom('Secret', 'ConfigMap'), fc.constantFrom('x', 'y')),
  { selector: (object) => object.join(), maxLength: 6 },
)
const changes = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), objects), { maxLength: 30 })

test('holdings are what counting all records anew says, after any changes', () => {
  fc.assert(
    fc.property(changes, (history) => {
      const holdings = new Holdings(() => undefined)
      const records = new Map<string, AppliedObject[]>()
      for (const [namespace, wanted] of history) {
        const next = wanted.map((object) => applied(...object))
        holdings.changed(namespace, next, records.get(namespace) ?? [])
        records.set(namespace, next)
      }
      for (const template of ['t1', 't2']) {
        const held = [...records].map(([namespace, all]) => ({
          namespace,
          kinds: all.filter((object) => object.template === template).map(({ kind }) => `v1/${kind}`),
        }))
        const namespaces = held.filter(({ kinds }) => kinds.length > 0).map(({ namespace }) => namespace)
        expect([...holdings.namespacesOf(template)].toSorted()).toEqual(namespaces.toSorted())
        expect(holdings.countNamespaces(template)).toBe(namespaces.length)
        expect([...holdings.kindsOf(template)].toSorted()).toEqual(
          [...new Set(held.flatMap(({ kinds }) => kinds))].toSorted(),
        )
        for (const namespace of ['a', 'b', 'c']) {
          expect(holdings.holds(template, namespace)).toBe(namespaces.includes(namespace))
        }
      }
    }),
  )
})

test('a template is said to have left a namespace when its last object there goes, and not before', () => {
  const left: string[] = []
  const holdings = new Holdings((template) => left.push(template))
  const [secret, configMap] = [applied('t1', 'Secret', 'x'), applied('t1', 'ConfigMap', 'x')]
  holdings.changed('a', [secret, configMap], [])
  holdings.changed('b', [secret], [])
  holdings.changed('a', [secret], [secret, configMap])
  expect(left).toEqual([])
  holdings.changed('a', [], [secret])
  expect(left).toEqual(['t1'])
  expect([...holdings.namespacesOf('t1')]).toEqual(['b'])
})
