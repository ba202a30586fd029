/** What one decision adds to the counters of quotas, and whether their limits allow it. */
import { describe, expect, test } from 'vitest'
import type { DecisionView } from '../../admission/admission.ts'
import { loadCatalog } from '../../catalog/catalog.ts'
import { objectKey } from '../../kube/object-key.ts'
import { amounts } from '../pods/resources.ts'
import { Charges, chargedTo, usedIn } from './charges.ts'
import { clusterQuotaKind } from './kind.ts'
import { type Counter, QuotaRecords } from './records.ts'
import { type ParsedQuota, parseQuota } from './selection.ts'

const records = new QuotaRecords(loadCatalog().declare(clusterQuotaKind))
const quota = (name: string, hard: Record<string, string>, per: object = {}): ParsedQuota =>
  parseQuota({ metadata: { name, uid: `of-${name}` }, spec: { quota: { hard }, ...per } })
const key = (name: string): string => `/registry/borough/quotacounter/${name}`

/** Of the counters by name; each was written at revision 7. */
function view(counters: Record<string, Omit<Counter, 'metadata'>> = {}): DecisionView {
  return {
    see(type: { storageName: string }, where: string, name: string) {
      const found = counters[name]
      return {
        ...{ key: objectKey(type.storageName, where, name), expect: found === undefined ? 'absent' : 7 },
        ...(found === undefined ? { object: undefined } : { object: { metadata: { name }, ...found } }),
      }
    },
    queuedIn: () => [],
  } as unknown as DecisionView
}

describe('what is used after a charge', () => {
  const hard = new Set(['pods'])
  test.each<{ name: string; used: Record<string, string> | undefined; more: Record<string, string>; after: object }>([
    { name: 'is what was used, where none is charged', used: { pods: '2' }, more: {}, after: { pods: '2' } },
    { name: 'is the sum', used: { pods: '2' }, more: { pods: '3' }, after: { pods: '5' } },
    { name: 'is the charge, where nothing was used', used: undefined, more: { pods: '3' }, after: { pods: '3' } },
    { name: 'is less after a charge below zero', used: { pods: '2' }, more: { pods: '-1' }, after: { pods: '1' } },
    { name: 'is zero of what is limited', used: { pods: '2' }, more: { pods: '-2' }, after: { pods: '0' } },
    {
      name: 'is nothing of what is not',
      used: { secrets: '2', pods: '1' },
      more: { secrets: '-2' },
      after: { pods: '1' },
    },
    { name: 'keeps what is not limited', used: {}, more: { secrets: '2' }, after: { secrets: '2' } },
  ])('$name', ({ used, more, after }) => {
    const printed = chargedTo(used, amounts(more), hard)
    expect(printed).toEqual(after)
    expect(usedIn(printed)).toEqual(amounts(after as Record<string, string>))
  })

  test('what was printed once is parsed once', () => {
    const used = { pods: '2' }
    expect(usedIn(used)).toBe(usedIn(used))
    expect(usedIn(undefined).size).toBe(0)
  })
})

describe('charges', () => {
  const pods = quota('q', { pods: '3' })

  test('of one account are one', () => {
    const charges = new Charges()
    expect(charges.size).toBe(0)
    charges.add(pods, '', amounts({ pods: '1' }))
    charges.add(pods, '', amounts({ pods: '2' }), { times: -1n, namespaces: 1 })
    charges.add(pods, 'alice', amounts({ pods: '1' }))
    expect(charges.size).toBe(2)
    const { writes } = charges.decision(view(), records)
    expect(writes.map(({ key: of, object }) => [of, object])).toEqual([
      [
        key('of-q.all'),
        { metadata: { name: 'of-q.all' }, quota: 'of-q', holder: '', namespaces: 1, used: { pods: '-1' } },
      ],
    ])
  })

  const refusal = (charges: Charges, counters: Record<string, Omit<Counter, 'metadata'>> = {}) =>
    charges.refusal(view(counters), records)
  const over = 'counted over all namespaces that this ClusterResourceQuota selects'

  test('are allowed up to the limit, and refused beyond it', () => {
    const charges = new Charges()
    charges.add(pods, '', amounts({ pods: '1', secrets: '9' }))
    expect(refusal(charges)).toBeUndefined()
    expect(refusal(charges, { 'of-q.all': { used: { pods: '2' } } })).toBeUndefined()
    expect(refusal(charges, { 'of-q.all': { used: { pods: '3' } } })).toBe(
      `exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3, ${over}`,
    )
  })

  test('are refused by the first quota by name', () => {
    const charges = new Charges()
    for (const name of ['b', 'a', 'c']) charges.add(quota(name, { pods: '0' }), '', amounts({ pods: '1' }))
    expect(refusal(charges)).toMatch(/^exceeded quota: a, /)
  })

  test('are refused on the account that they are on, and not where none is recorded', () => {
    const each = quota('q', { pods: '1' }, { perCreator: true })
    const charge = (holder: string): Charges => {
      const charges = new Charges()
      charges.add(each, holder, amounts({ pods: '1' }))
      return charges
    }
    const used = { 'of-q.n.alice': { used: { pods: '1' } }, 'of-q.all': { used: { pods: '9' } } }
    expect(refusal(charge('alice'), used)).toMatch(/counted over the namespaces of creator "alice"/)
    expect(refusal(charge('bob'), used)).toBeUndefined()
    expect(refusal(charge(''), used)).toBeUndefined()
  })
})

describe('a counter', () => {
  const pods = quota('q', { pods: '3' })
  const decided = (namespaces: number, counters: Record<string, Omit<Counter, 'metadata'>>) => {
    const charges = new Charges()
    charges.add(pods, '', amounts({ pods: '1' }), { namespaces })
    return charges.decision(view(counters), records)
  }
  const name = 'of-q.all'
  const counter = { quota: 'of-q', holder: '', used: { pods: '1' }, namespaces: 1 }

  test('is written as it was seen, with what is charged', () => {
    const { writes, guards } = decided(2, { [name]: counter })
    expect(writes).toEqual([
      expect.objectContaining({
        ...{ key: key(name), expect: 7 },
        object: { metadata: { name }, ...counter, namespaces: 3, used: { pods: '2' } },
      }),
    ])
    expect(guards).toEqual([])
  })

  test('goes with the last namespace on it', () => {
    expect(decided(-1, { [name]: counter })).toEqual({
      writes: [{ key: key(name), expect: 7, value: undefined }],
      guards: [],
    })
  })

  test('that is not there is not made for content alone: it is looked at again', () => {
    expect(decided(0, {})).toEqual({ writes: [], guards: [{ key: key(name), expect: 'absent' }] })
  })
})
