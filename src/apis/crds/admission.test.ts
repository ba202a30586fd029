import { expect, test } from 'vitest'
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
