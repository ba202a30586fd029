import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Namespace } from '../namespaces/types.ts'
import { type LedgerEntry, TemplateLedger } from './ledger.ts'
import { compileMatcher, type Matcher } from './match.ts'
import { MatchedNamespaces } from './matched-namespaces.ts'
import type { ObjectResult } from './object-result.ts'

const templates = ['a', 'b']
const namespaces = ['n0', 'n1', 'n2', 'n3']
const names = fc.constantFrom(...namespaces)

function version(template: string, generation: number, wanted: string): Matcher {
  return compileMatcher({
    metadata: { name: template, uid: `uid of ${template}`, generation },
    spec: { namespaces: { labelSelector: { matchLabels: { for: wanted } } } },
  })
}

const namespace = (name: string, wanted: string): Namespace => ({ metadata: { name, labels: { for: wanted } } })

test('the count of matched namespaces is what counting all namespaces again would give, after any changes', () => {
  const step = fc.oneof(
    fc.record({ set: names, to: fc.constantFrom(...templates, 'nobody') }),
    fc.record({ gone: names }),
    fc.record({ template: fc.constantFrom(...templates), wanted: fc.constantFrom(...templates, 'nobody') }),
    fc.record({ templateGone: fc.constantFrom(...templates) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const matched = new MatchedNamespaces(
        (v, n) => v.selects(n),
        () => {},
      )
      const there = new Map<string, Namespace>()
      const versions = new Map<string, Matcher>()
      for (const one of steps) {
        if ('set' in one) {
          there.set(one.set, namespace(one.set, one.to))
          matched.namespaceChanged(namespace(one.set, one.to))
        } else if ('gone' in one) {
          there.delete(one.gone)
          matched.namespaceGone(one.gone)
        } else if ('template' in one) {
          versions.set(one.template, version(one.template, 1, one.wanted))
          const changed = version(one.template, 1, one.wanted)
          matched.countAnew(changed)
          for (const one of there.values()) matched.count(changed, one)
        } else {
          versions.delete(one.templateGone)
          matched.templateGone(one.templateGone)
        }
        for (const template of templates) {
          const matcher = versions.get(template)
          const again = [...there.values()].filter((n) => matcher?.selects(n)).length
          expect(matched.counted(template)).toBe(again)
        }
      }
    }),
  )
})

/** The first is obstructed, where any is. */
const failureAt = (
  i: number,
  { template, isObstructed }: { template: string; isObstructed: boolean },
): ObjectResult => {
  const failure = { reason: 'Error', message: 'no', retriable: true }
  const first = { ...failure, reason: 'AlreadyExists', isObstructed: true } as const
  return { template, object: `o${i}`, failure: isObstructed && i === 0 ? first : failure }
}

test('the tally of a template is what going through all its entries again would give, after any attempts', () => {
  const attempt = fc.record({
    template: fc.constantFrom(...templates),
    generation: fc.integer({ min: 1, max: 2 }),
    isSelected: fc.boolean(),
    failures: fc.integer({ min: 0, max: 6 }),
    isObstructed: fc.boolean(),
    isSkipping: fc.boolean(),
    isExtended: fc.boolean(),
  })
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ namespace: names, attempts: fc.array(attempt, { maxLength: 2 }) }) },
    { weight: 1, arbitrary: fc.record({ gone: names }) },
    { weight: 1, arbitrary: fc.record({ templateGone: fc.constantFrom(...templates) }) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const ledger = new TemplateLedger()
      for (const one of steps) {
        if ('gone' in one) ledger.forgetNamespace(one.gone)
        else if ('templateGone' in one) ledger.forgetTemplate(one.templateGone)
        else {
          const attempts = new Map(
            one.attempts.map((a) => [
              a.template,
              { version: version(a.template, a.generation, 'x'), isSelected: a.isSelected },
            ]),
          )
          const results = one.attempts.flatMap((a): ObjectResult[] => [
            ...Array.from({ length: a.failures }, (_, i) => failureAt(i, a)),
            ...(a.isSkipping ? [{ ...a, object: 'o', skipped: { reason: 'CreatorUnknown', message: 'no' } }] : []),
            ...(a.isExtended ? [{ ...a, object: 'o', extended: { reason: 'Extended', message: 'no' } as const }] : []),
          ])
          ledger.record(one.namespace, attempts, results)
        }
        for (const template of templates) {
          for (const generation of [1, 2]) {
            const entries = namespaces
              .map((n) => ledger.find(template, n))
              .filter((e): e is LedgerEntry => e !== undefined)
            const failing = entries.filter((e) => e.failures.length > 0)
            const { failures, extendedIn, ...figures } = ledger.tally(version(template, generation, 'x'))
            const holding = entries.filter(
              (e) => e.isSelected && e.failures.length === 0 && e.version.template.metadata.generation === generation,
            )
            expect(figures).toEqual({
              known: entries.length,
              synced: holding.filter((e) => !e.isSkipping && !e.isExtended).length,
              failed: failing.length,
              untried: failing.filter((e) => e.version.template.metadata.generation !== generation).length,
              skipped: holding.filter((e) => e.isSkipping && !e.isExtended).length,
              extended: holding.filter((e) => e.isExtended).length,
            })
            const extended = namespaces.filter((n) => {
              const entry = ledger.find(template, n)
              return entry?.isExtended && holding.includes(entry)
            })
            expect(extendedIn).toHaveLength(Math.min(3, extended.length))
            expect(extended).toEqual(expect.arrayContaining([...extendedIn]))
            const all = failing.flatMap((e) => e.failures)
            const withIt = failing.filter((e) => e.version.template.metadata.generation === generation)
            expect(ledger.failing(template, generation)).toBe(withIt.length)
            const keeping = failing.filter((e) => e.failures.some(({ reason }) => reason === 'Error'))
            const places = keeping.filter((e) => withIt.includes(e)).length
            expect(ledger.keepingPlaces(template, generation)).toBe(places)
            expect(failures).toHaveLength(Math.min(10, all.length))
            expect(failures.some(({ reason }) => reason === 'Error')).toBe(keeping.length > 0)
            expect(all).toEqual(expect.arrayContaining([...failures]))
          }
        }
      }
    }),
  )
})
