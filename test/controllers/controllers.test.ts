import { expect, it } from 'vitest'
import { controllerRoleBindings, controllerRoles } from '../../src/apis/rbac/controller-policy.ts'
import { controllerNames } from '../../src/app/catalog.ts'

it.each(controllerNames)('%s has rights to work with', (name) => {
  const role = `system:controller:${name}`
  expect(controllerRoles.map((r) => r.metadata.name)).toContain(role)
  const subjects = controllerRoleBindings.filter((b) => b.roleRef.name === role).flatMap((b) => b.subjects ?? [])
  expect(subjects).toEqual([{ kind: 'ServiceAccount', namespace: 'kube-system', name }])
})
