/** Which RoleBindings of a template give nothing. */
import { expect, test } from 'vitest'
import type { JsonObject } from '../../kube/types.ts'
import { roleWarnings } from './role-warnings.ts'

const binding = (roleRef: unknown, apiVersion = 'rbac.authorization.k8s.io/v1'): JsonObject =>
  ({ apiVersion, kind: 'RoleBinding', metadata: { name: 'b' }, roleRef }) as JsonObject
const ref = (name: unknown, kind = 'ClusterRole') => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })
const has = (name: string): boolean => name === 'edit'

const missing = 'spec.templates[0].roleRef: there is no ClusterRole "edti": the binding gives nothing until there is'

test.each<{ name: string; of: JsonObject; told: string[] }>([
  { name: 'a role that is not there is told', of: binding(ref('edti')), told: [missing] },
  { name: 'one that is there is not', of: binding(ref('edit')), told: [] },
  { name: 'nor one that a token names', of: binding(ref('$(size)-edit')), told: [] },
  { name: 'nor a Role, which stands in the namespace', of: binding(ref('edti', 'Role')), told: [] },
  { name: 'nor a kind of that name of another group', of: binding(ref('edti'), 'example.com/v1'), told: [] },
  { name: 'nor what is no reference', of: binding(undefined), told: [] },
  { name: 'nor what is no name', of: binding(ref(7)), told: [] },
])('$name', ({ of, told }) => {
  expect(roleWarnings(has, { metadata: { name: 't' }, spec: { templates: [of] } })).toEqual(told)
})

test('a clone is what its source is', () => {
  const cloneFrom = { namespace: 'a', apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', name: 'b' }
  expect(roleWarnings(has, { metadata: { name: 't' }, spec: { objects: [{ cloneFrom }] } })).toEqual([])
})
