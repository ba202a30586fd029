import { expect, it } from 'vitest'
import { admissionOrder } from '../../src/admission/admission-order.ts'
import { controllerNames } from '../../src/app/config.ts'
import { bootstrapClusterRoleBindings, bootstrapClusterRoles, everyFeature } from '../support/default-policy.ts'

it('the command line knows every controller that a feature brings, and no other', () => {
  const brought = everyFeature.flatMap(({ controllerRules = {} }) => Object.keys(controllerRules))
  expect([...controllerNames].sort()).toEqual(brought.sort())
})

it.each(controllerNames)('%s has rights to work with', (name) => {
  const role = `system:controller:${name}`
  expect(bootstrapClusterRoles.map((r) => r.metadata.name)).toContain(role)
  const binding = bootstrapClusterRoleBindings.find((b) => b.metadata.name === role)
  expect(binding?.subjects).toEqual([{ kind: 'ServiceAccount', namespace: 'kube-system', name }])
})

it('no name stands twice in the order of admission', () => {
  expect(new Set(admissionOrder).size).toBe(admissionOrder.length)
})
