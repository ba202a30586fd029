import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PolicyRule } from '../../kube/rbac.ts'
import { HeldPermissions } from './held-permissions.ts'
import { missingPermissions } from './rule-cover.ts'

const items = (...from: string[]) => fc.subarray(from)
const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record({
    verbs: items('get', 'list', '*'),
    apiGroups: items('', 'apps', '*'),
    resources: items('pods', 'pods/log', '*/log', 'pods/*', '*'),
    resourceNames: fc.oneof({ weight: 2, arbitrary: fc.constant<string[]>([]) }, items('a', 'b', '')),
  }),
  fc.record({ verbs: items('get', '*'), nonResourceURLs: items('/metrics', '/healthz/a', '/healthz/*', '*') }),
)

/** Upstream's way: each single permission must be covered whole by one rule. */
function coversOne(held: PolicyRule, wanted: PolicyRule): boolean {
  const has = (list: readonly string[] | undefined, item: string): boolean =>
    list?.includes('*') === true || list?.includes(item) === true
  const verb = wanted.verbs[0] ?? ''
  if (!has(held.verbs, verb)) return false
  const url = wanted.nonResourceURLs?.[0]
  if (url !== undefined) {
    return (held.nonResourceURLs ?? []).some((h) => h === url || (h.endsWith('*') && url.startsWith(h.slice(0, -1))))
  }
  const resource = wanted.resources?.[0] ?? ''
  const slash = resource.indexOf('/')
  const names = held.resourceNames ?? []
  const name = wanted.resourceNames?.[0]
  return (
    has(held.apiGroups, wanted.apiGroups?.[0] ?? '') &&
    (has(held.resources, resource) || (slash >= 0 && held.resources?.includes(`*${resource.slice(slash)}`) === true)) &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  )
}

function single({ verbs, apiGroups, resources, resourceNames = [], nonResourceURLs }: PolicyRule): PolicyRule[] {
  if (nonResourceURLs) return nonResourceURLs.flatMap((u) => verbs.map((v) => ({ nonResourceURLs: [u], verbs: [v] })))
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((n) => ({ resourceNames: [n] }))
  return (apiGroups ?? []).flatMap((g) =>
    (resources ?? []).flatMap((r) =>
      verbs.flatMap((v) => names.map((n) => ({ apiGroups: [g], resources: [r], verbs: [v], ...n }))),
    ),
  )
}

test('what is missing is what no single rule covers', () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 4 }), fc.array(rule, { maxLength: 3 }), (held, wanted) => {
      const expected = wanted.flatMap(single).filter((one) => !held.some((h) => coversOne(h, one)))
      expect(missingPermissions(held, wanted)).toEqual(expected)
    }),
    { numRuns: 2000 },
  )
})

test('what does not concern the wanted rules, and what everything stands above, costs nothing', () => {
  const list = Array.from({ length: 100 }, (_, i) => `x${i}`)
  const large = { verbs: list, apiGroups: list, resources: list }
  const get = { verbs: ['get'], apiGroups: [''], resources: ['pods'] }
  const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] }
  expect(HeldPermissions.of([large], [get], 400)).toBeDefined()
  expect(HeldPermissions.of([large], [large], 400)).toBeUndefined()
  expect(HeldPermissions.of([everything, large], [large], 400)).toBeDefined()
})
