/** Random requests against a model so plain that it is obviously right: a map of objects, one rule per line. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { configMap, configMaps, countingIds, type Fixture, startFixture } from '../../test/support/registry-fixture.ts'
import { findStatusError } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'

interface Modelled {
  data: string
  finalizers: readonly string[]
  deleting: boolean
  /** How often it changed: a no-op must not count. */
  version: number
}

type Request =
  | { readonly verb: 'create'; readonly name: string; readonly data: string; readonly finalizers: readonly string[] }
  | {
      readonly verb: 'update'
      readonly name: string
      readonly data: string
      readonly finalizers: readonly string[]
      readonly stale: boolean
    }
  | { readonly verb: 'delete'; readonly name: string; readonly policy: 'Background' | 'Foreground' | undefined }
  | { readonly verb: 'get'; readonly name: string }

const name = fc.constantFrom('a', 'b', 'c')
const data = fc.constantFrom('1', '2', '3')
const finalizers = fc.constantFrom<readonly string[]>([], [], ['x.y/1'], ['x.y/1', 'x.y/2'])
const request: fc.Arbitrary<Request> = fc.oneof(
  fc.record({ verb: fc.constant('create' as const), name, data, finalizers }),
  fc.record({ verb: fc.constant('update' as const), name, data, finalizers, stale: fc.boolean() }),
  fc.record({
    verb: fc.constant('delete' as const),
    name,
    policy: fc.constantFrom(undefined, 'Background' as const, 'Foreground' as const),
  }),
  fc.record({ verb: fc.constant('get' as const), name }),
)

type Model = Map<string, Modelled>

const same = (a: readonly string[], b: readonly string[]): boolean => a.join() === b.join()

/** What the request must answer: a reason, or ok. Changes the model. */
function expected(model: Model, r: Request): string {
  const there = model.get(r.name)
  if (r.verb === 'create') {
    if (there) return 'AlreadyExists'
    model.set(r.name, { data: r.data, finalizers: r.finalizers, deleting: false, version: 1 })
    return 'ok'
  }
  if (!there) return 'NotFound'
  if (r.verb === 'get') return 'ok'
  if (r.verb === 'update') {
    if (r.stale) return 'Conflict'
    if (there.deleting && r.finalizers.some((f) => !there.finalizers.includes(f))) return 'Invalid'
    if (there.deleting && r.finalizers.length === 0) {
      model.delete(r.name)
      return 'ok'
    }
    if (there.data === r.data && same(there.finalizers, r.finalizers)) return 'ok'
    Object.assign(there, { data: r.data, finalizers: r.finalizers, version: there.version + 1 })
    return 'ok'
  }
  const others = there.finalizers.filter((f) => f !== 'foregroundDeletion')
  const foreground = r.policy === 'Foreground' || (r.policy === undefined && others.length < there.finalizers.length)
  const next = foreground ? [...others, 'foregroundDeletion'] : others
  if (next.length === 0) model.delete(r.name)
  else if (!there.deleting || !same(next, there.finalizers)) {
    Object.assign(there, { finalizers: next, deleting: true, version: there.version + 1 })
  }
  return 'ok'
}

async function perform(f: Fixture, r: Request): Promise<string> {
  const scope = f.scope(configMaps, r.verb === 'create' ? '' : r.name)
  try {
    if (r.verb === 'create') {
      await f.registry.create(scope, configMap(r.name, { k: r.data }, { finalizers: [...r.finalizers] }))
    } else if (r.verb === 'get') await f.registry.get(configMaps, 'ns', r.name)
    else if (r.verb === 'delete') {
      await f.registry.delete(scope, r.policy ? { propagationPolicy: r.policy } : {})
    } else {
      const metadata = { finalizers: [...r.finalizers], ...(r.stale ? { resourceVersion: '1' } : {}) }
      await f.registry.update(scope, (): KubeObject => configMap(r.name, { k: r.data }, metadata))
    }
    return 'ok'
  } catch (e) {
    const status = findStatusError(e)
    if (!status) throw e
    return status.reason ?? status.message
  }
}

test('any sequence of requests answers and leaves what the model says, on two processes in turn', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(request, fc.boolean()), { maxLength: 40 }), async (requests) => {
      const ids = countingIds()
      await using first = await startFixture({ deps: { ids } })
      await using second = await startFixture({ storage: first.storage, clock: first.clock, deps: { ids } })
      const model: Model = new Map()
      const versions = new Map<string, { seen: number; revision: number }>()
      for (const [r, onFirst] of requests) {
        const f = onFirst ? first : second
        expect([r, await perform(f, r)]).toEqual([r, expected(model, r)])
        const { items } = await f.registry.list(configMaps, { namespace: 'ns' })
        expect(items.map((i) => i.name)).toEqual([...model.keys()].sort())
        for (const item of items) {
          const wanted = model.get(item.name)
          const { metadata } = item.object
          expect({
            data: (item.object as { data?: { k?: string } }).data?.k,
            finalizers: metadata.finalizers ?? [],
            deleting: metadata.deletionTimestamp !== undefined,
          }).toEqual({ data: wanted?.data, finalizers: wanted?.finalizers, deleting: wanted?.deleting })
          // The revision moves exactly when the model says that something changed.
          const key = metadata.uid ?? ''
          const before = versions.get(key)
          if (before) expect(item.revision > before.revision).toBe((wanted?.version ?? 0) > before.seen)
          versions.set(key, { seen: wanted?.version ?? 0, revision: item.revision })
        }
      }
    }),
    { numRuns: 80 },
  )
})
