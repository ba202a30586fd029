import { describe, expect, test } from 'vitest'
import { failure, thrown } from '../../../test/support/refusal.ts'
import type { Attributes, DecisionView } from '../../admission/admission.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { definitionLifecycle } from './admission.ts'
import type { CustomResourceDefinition } from './types.ts'

test('a create that is decided when its definition is gone finds nothing of the kind any more', () => {
  const plugin = definitionLifecycle(
    { resource: 'customresourcedefinitions' } as ResourceType<CustomResourceDefinition>,
    () => undefined,
  )
  const create = { type: { storageName: 'ex.io/widgets' }, name: 'w' } as Attributes
  const view = { see: () => ({ key: 'k', expect: 'absent', object: undefined }) } as unknown as DecisionView
  expect(thrown(() => plugin.decide?.(create, view))).toEqual(
    failure({
      message: 'the server could not find the requested resource',
      reason: 'NotFound',
      details: {},
      code: 404,
    }),
  )
})

describe('of a definition that goes away', () => {
  const going = { metadata: { name: 'widgets.ex.io', deletionTimestamp: '2026-01-01T00:00:00Z' } }
  const type = { group: 'ex.io', resource: 'widgets', kind: 'Widget', storageName: 'ex.io/widgets' }
  const create = { type, name: 'w' } as Attributes
  const refused = failure({
    message: 'widgets.ex.io "w" is forbidden: create not allowed while custom resource definition is terminating',
    reason: 'Forbidden',
    details: { name: 'w', group: 'ex.io', kind: 'widgets' },
    code: 403,
  })
  const plugin = (found?: object) =>
    definitionLifecycle(
      { resource: 'customresourcedefinitions' } as ResourceType<CustomResourceDefinition>,
      () => found as CustomResourceDefinition | undefined,
    )
  const viewOf = (object: object): DecisionView =>
    ({ see: () => ({ key: 'k', expect: 'absent', object }) }) as unknown as DecisionView

  test('no object is created, neither where it is known at once nor where it is seen at the commit', () => {
    expect(thrown(() => plugin(going).mutate?.(create as never, {} as never))).toEqual(refused)
    expect(thrown(() => plugin().decide?.(create, viewOf(going)))).toEqual(refused)
  })

  test('one of a definition that stays is, as long as that is as it was seen', () => {
    const stays = { metadata: { name: 'widgets.ex.io' } }
    for (const found of [stays, undefined]) expect(plugin(found).mutate?.(create as never, {} as never)).toBeUndefined()
    expect(plugin().decide?.(create, viewOf(stays))).toEqual({ guards: [{ key: 'k', expect: 'absent' }] })
  })
})
