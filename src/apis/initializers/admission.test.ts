/** Who says for whom a new namespace waits, who takes an initializer off, and who may write in it meanwhile. */
import { describe, expect, test } from 'vitest'
import { attributesOf, Rights } from '../../../test/support/admission-attributes.ts'
import { failure, forbidden, invalidObject, thrown } from '../../../test/support/refusal.ts'
import { configMaps, namespaces } from '../../../test/support/registry-fixture.ts'
import type { Attributes } from '../../admission/admission.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { namespaceInitializers, transitionErrors } from './admission.ts'

const initialize = 'initialize /v1/namespaces/ team/team'
const mark = 'borough.dev/given-initializers'
const namespace = (initializers?: unknown, metadata: object = {}): Namespace =>
  ({
    metadata: { name: 'team', ...metadata },
    spec: { finalizers: ['kubernetes'], ...(initializers === undefined ? {} : { initializers }) },
  }) as unknown as Namespace
const waitsFor = (...names: string[]) => ({ pending: names.map((name) => ({ name })) })

interface Given {
  readonly rights?: Rights
  readonly pending?: string[]
  /** The namespace of content. */
  readonly found?: Namespace
}
function mutate(about: Partial<Attributes>, { rights = new Rights(), pending = [], found }: Given = {}): unknown {
  const { mutate: run } = namespaceInitializers({
    lookup: { type: namespaces, find: () => found, refresh: async () => {} } as never,
    authorizer: rights,
    pendingFor: () => pending,
  })
  return run?.(attributesOf({ type: namespaces, ...about }) as never, undefined as never)
}
const denied = (why: string) => forbidden({ kind: 'namespaces', name: 'team' }, why)

test.each<[Attributes['operation'], object, string, boolean]>([
  ['CREATE', namespaces, '', true],
  ['UPDATE', namespaces, '', true],
  ['UPDATE', namespaces, 'status', false],
  ['DELETE', namespaces, '', false],
  ['CREATE', { ...namespaces, group: 'ex.io' }, '', false],
  ['CREATE', { ...configMaps, namespaced: false }, '', false],
  ['DELETE', configMaps, '', true],
  ['UPDATE', configMaps, 'status', true],
  ['CONNECT', configMaps, 'exec', false],
  ['CREATE', { ...configMaps, stored: false }, '', false],
])('%s is asked about', (operation, type, subresource, asked) => {
  const { handles } = namespaceInitializers({ lookup: {} as never, authorizer: new Rights(), pendingFor: () => [] })
  expect(handles(operation, type as never, subresource)).toBe(asked)
})

describe('a new namespace', () => {
  test('waits for those who are configured', () => {
    const rights = new Rights()
    expect(mutate({ object: namespace() }, { rights, pending: ['a.ex.io', 'b.ex.io'] })).toEqual(
      namespace(waitsFor('a.ex.io', 'b.ex.io')),
    )
    expect(rights.asked).toEqual([])
  })

  test('stays as it is where nothing is', () => {
    expect(mutate({ object: namespace() })).toBeUndefined()
    expect(mutate({ object: namespace(null) })).toBeUndefined()
  })

  test('is not marked as one whose list was given because its creator says so', () => {
    const object = namespace(undefined, { annotations: { [mark]: 'true', a: 'b' } })
    expect(mutate({ object }, { pending: ['a.ex.io'] })).toEqual(
      namespace(waitsFor('a.ex.io'), { annotations: { a: 'b' } }),
    )
    const plain = namespace(undefined, { annotations: { a: 'b' } })
    expect(mutate({ object: plain }, { pending: ['a.ex.io'] })).toMatchObject(plain)
  })

  test('has the list that its creator gives, with the right to', () => {
    const rights = new Rights(initialize)
    const given = { ...waitsFor('namespace-template', 'a.ex.io'), result: { status: 'Failure' } }
    expect(mutate({ object: namespace(given, { annotations: { a: 'b' } }) }, { rights, pending: ['c.ex.io'] })).toEqual(
      namespace(given, { annotations: { a: 'b', [mark]: 'true' } }),
    )
    expect(mutate({ object: namespace({}) }, { rights })).toEqual(namespace({}, { annotations: { [mark]: 'true' } }))
  })

  test('has none from a creator without it', () => {
    const why = 'create with initializers denied: it needs the verb "initialize" on the namespace'
    expect(thrown(() => mutate({ object: namespace(waitsFor('a.ex.io')) }))).toEqual(denied(why))
  })

  test('waits for nothing that is no initializer', () => {
    const given = { pending: [{ name: 'short' }, {}], result: { status: 'Success' } }
    const object = namespace(given)
    expect(thrown(() => mutate({ object }, { rights: new Rights(initialize) }))).toEqual(
      invalidObject({ kind: 'Namespace', name: 'team' }, [
        'spec.initializers.pending[0].name: Invalid value: "short": should be a domain with at least three segments ' +
          'separated by dots',
        'spec.initializers.pending[1].name: Required value',
        `spec.initializers.result.status: Invalid value: "Success": must be 'Failure'`,
      ]),
    )
  })
})

describe('the list of a namespace', () => {
  const update = (next: unknown, old: unknown, rights = new Rights()) =>
    mutate({ operation: 'UPDATE', object: namespace(next), oldObject: namespace(old) }, { rights })
  const both = waitsFor('a.ex.io', 'b.ex.io')

  test('is changed with the right to initialize', () => {
    const rights = new Rights(initialize)
    expect(update(waitsFor('b.ex.io'), both, rights)).toBeUndefined()
    expect(update(null, waitsFor('b.ex.io'), rights)).toBeUndefined()
    const why = 'update of initializers denied: it needs the verb "initialize" on the namespace'
    expect(thrown(() => update(waitsFor('b.ex.io'), both))).toEqual(denied(why))
  })

  test('stays with a write that says nothing of it, or the same', () => {
    const rights = new Rights()
    expect(update(undefined, both, rights)).toBeUndefined()
    expect(update(both, both, rights)).toBeUndefined()
    expect(rights.asked).toEqual([])
  })

  test('is not begun anew', () => {
    expect(thrown(() => update(both, undefined, new Rights(initialize)))).toEqual(
      invalidObject({ kind: 'Namespace', name: 'team' }, [
        'spec.initializers: Invalid value: {"pending":[{"name":"a.ex.io"},{"name":"b.ex.io"}]}: field is immutable ' +
          'once initialization has completed',
      ]),
    )
  })

  const failed = { status: 'Failure' } as const
  const inOrder = 'initializers act in order: only the first, "a.ex.io", can be removed'
  test.each<[string, object, object | null, string[]]>([
    ['the first goes', both, waitsFor('b.ex.io'), []],
    ['all but the first', both, waitsFor('a.ex.io'), [inOrder]],
    ['both at once', both, {}, [inOrder]],
    ['one more', both, waitsFor('a.ex.io', 'b.ex.io', 'c.ex.io'), [inOrder]],
    ['all is done', waitsFor('a.ex.io'), null, []],
    ['a failure is told', both, { ...both, result: failed }, []],
    ['and with the first gone', both, { ...waitsFor('b.ex.io'), result: failed }, []],
    ['a success is not', both, { ...both, result: { status: 'Success' } }, ["must be 'Failure'"]],
    ['a failure stays', { ...both, result: failed }, { ...both, result: failed }, []],
    ['and is not taken back', { ...both, result: failed }, both, ['field is immutable']],
    ['nor by an end', { ...waitsFor('a.ex.io'), result: failed }, null, ['field is immutable']],
    ['nothing was pending', {}, {}, []],
  ])('%s', (_, old, next, problems) => {
    const told = transitionErrors(old as never, next as never).map(({ body }) => body)
    expect(told).toHaveLength(problems.length)
    for (const [i, problem] of problems.entries()) expect(told[i]).toContain(problem)
  })
})

describe('content of a namespace', () => {
  const waiting = namespace(waitsFor('a.ex.io'))
  const write = (found: Namespace | undefined, rights = new Rights(), about: Partial<Attributes> = {}) =>
    mutate(
      { type: configMaps, object: { metadata: { name: 'c' } }, ...about },
      { rights, ...(found === undefined ? {} : { found }) },
    )

  test('is written by initializers while it waits; others are told for whom', () => {
    expect(write(waiting, new Rights(initialize))).toBeUndefined()
    const told = (by: string) =>
      failure({
        message: `namespace "team" is being initialized: waiting for "${by}"; try again in a moment`,
        ...{ reason: 'TooManyRequests', code: 429, details: { retryAfterSeconds: 1 } },
      })
    expect(thrown(() => write(waiting))).toEqual(told('a.ex.io'))
    expect(thrown(() => write(namespace({})))).toEqual(told(''))
    // As one that is created in the same transaction.
    const pendingScope = { object: waiting as KubeObject, mayWait: true }
    expect(thrown(() => write(undefined, new Rights(), { pendingScope }))).toEqual(told('a.ex.io'))
  })

  test.each<[string, Namespace | undefined, Partial<Attributes>]>([
    ['it waits no more', namespace(), {}],
    ['it goes away', namespace(waitsFor('a.ex.io'), { deletionTimestamp: '2030-01-01T00:00:00Z' }), {}],
    ['there is none', undefined, {}],
    ['it is of no namespace', waiting, { namespace: '' }],
  ])('is written by all where %s', (_, found, about) => {
    const rights = new Rights()
    expect(write(found, rights, about)).toBeUndefined()
    expect(rights.asked).toEqual([])
  })
})
