/** Kinds of a template are in its status before the first object of them is made. */
import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/client.ts'
import { StatusError } from '../../kube/status-error.ts'
import { kindsEverOf, kindsOf, RecordedKinds } from './kinds.ts'
import type { NamespaceTemplate } from './types.ts'

const { signal } = new AbortController()
const object = (kind: string, apiVersion = 'v1') => ({ apiVersion, kind, metadata: { name: 'a' } })
const of = (kinds: string[], recorded?: string[], metadata: object = {}): NamespaceTemplate => ({
  metadata: { name: 't', uid: 'u', resourceVersion: '7', ...metadata },
  spec: { templates: kinds.map((kind) => object(kind)) },
  ...(recorded && { status: { kinds: recorded } }),
})

test('the kinds of a template are told once each, in one order', () => {
  const template = {
    metadata: {},
    spec: { templates: [object('Secret'), object('Role', 'x/v1'), object('ConfigMap'), object('Secret')] },
  }
  expect(kindsOf(template)).toEqual(['v1/ConfigMap', 'v1/Secret', 'x/v1/Role'])
  expect(kindsEverOf({ ...template, status: { kinds: ['v1/Pod'] } })).toEqual(['v1/Pod', ...kindsOf(template)])
  expect(kindsEverOf({ metadata: {} })).toEqual([])
})

interface Answers {
  readonly errors?: (Error | undefined)[]
  readonly there?: NamespaceTemplate[]
}
function recorded({ errors = [], there = [] }: Answers = {}) {
  const patches: unknown[] = []
  const client = {
    async patch(_: object, { name }: { name: string }, patch: object, options: object) {
      patches.push([name, patch, options])
      const error = errors.shift()
      if (error !== undefined) throw error
    },
    get: async () => there.shift(),
  } as unknown as Client
  return { kinds: new RecordedKinds(client), patches }
}
const patched = (kinds: string[], resourceVersion = '7') => [
  't',
  { metadata: { resourceVersion }, status: { kinds } },
  { subresource: 'status', signal },
]
const refused = (reason: 'Conflict' | 'NotFound' | 'InternalError') => new StatusError('no', { reason })

describe('they are recorded', () => {
  test('beside those that are there', async () => {
    const { kinds, patches } = recorded()
    await kinds.ensure(of(['Secret', 'ConfigMap'], ['v1/Pod']), signal)
    expect(patches).toEqual([patched(['v1/ConfigMap', 'v1/Pod', 'v1/Secret'])])
  })

  test('not again, as long as there is none that is new', async () => {
    const { kinds, patches } = recorded()
    await kinds.ensure(of(['Secret']), signal)
    await kinds.ensure(of(['Secret']), signal)
    await kinds.ensure(of([]), signal)
    expect(patches).toHaveLength(1)
    await kinds.ensure(of(['Secret', 'Pod']), signal)
    await kinds.ensure(of(['Pod']), signal)
    expect(patches).toHaveLength(2)
    await kinds.ensure(of(['Secret'], undefined, { uid: 'another' }), signal)
    expect(patches).toHaveLength(3)
  })

  test('not at all where the status says so already', async () => {
    const { kinds, patches } = recorded()
    await kinds.ensure(of(['Secret'], ['v1/Secret', 'v1/Pod']), signal)
    await kinds.ensure(of(['Pod'], []), signal)
    expect(patches).toEqual([])
  })

  test('once, by all that wait for it', async () => {
    const { kinds, patches } = recorded()
    await Promise.all([kinds.ensure(of(['Secret']), signal), kinds.ensure(of(['Secret']), signal)])
    expect(patches).toHaveLength(1)
  })

  test('on what is there by now', async () => {
    const later = of([], ['v1/Pod'], { resourceVersion: '9' })
    const { kinds, patches } = recorded({ errors: [refused('Conflict')], there: [later] })
    await kinds.ensure(of(['Secret']), signal)
    expect(patches).toEqual([patched(['v1/Secret']), patched(['v1/Pod', 'v1/Secret'], '9')])
  })

  test('not on a later template of the name, nor on one that is gone', async () => {
    const later = recorded({ errors: [refused('Conflict')], there: [of([], [], { uid: 'later' })] })
    await later.kinds.ensure(of(['Secret']), signal)
    expect(later.patches).toHaveLength(1)
    const none = recorded({ errors: [refused('NotFound')] })
    await none.kinds.ensure(of(['Secret']), signal)
    expect(none.patches).toHaveLength(1)
  })

  test('again after a failure, which is told', async () => {
    const failure = refused('InternalError')
    const { kinds, patches } = recorded({ errors: [failure] })
    await expect(kinds.ensure(of(['Secret']), signal)).rejects.toBe(failure)
    await kinds.ensure(of(['Secret']), signal)
    expect(patches).toHaveLength(2)
  })

  test('again when they were taken off, or it is not known what the status says', async () => {
    const { kinds, patches } = recorded()
    await kinds.ensure(of(['Secret']), signal)
    kinds.narrowed(of([]), ['v1/Pod'])
    await kinds.ensure(of(['Pod']), signal)
    expect(patches).toHaveLength(1)
    await kinds.ensure(of(['Secret']), signal)
    expect(patches).toHaveLength(2)
    kinds.forget('u')
    await kinds.ensure(of(['Secret']), signal)
    expect(patches).toHaveLength(3)
  })
})
