/** To whom a template gives rights, and who that is. */
import { expect, test } from 'vitest'
import { peopleIn, rightsIn } from './describe-rights.ts'
import type { NamespaceTemplate } from './types.ts'

const of = (spec: NonNullable<NamespaceTemplate['spec']>): NamespaceTemplate => ({ metadata: { name: 't' }, spec })
const binding = (subjects: unknown, roleRef: unknown = { kind: 'ClusterRole', name: 'admin' }) =>
  ({ apiVersion: 'v1', kind: 'RoleBinding', metadata: { name: 'b' }, roleRef, subjects }) as never

test('each binding: to whom, which role, by what, and when', () => {
  const account = { kind: 'ServiceAccount', namespace: 'ci', name: 'deployer' }
  const spec = {
    templates: [binding([{ kind: 'User', name: '$(OWNER)' }, account])],
    objects: [{ when: 'true', template: binding([{ kind: 'Group', name: 'auditors' }]) }],
  }
  const given = { role: 'ClusterRole/admin', by: 'RoleBinding/b' }
  expect(rightsIn(of(spec))).toEqual([
    { ...given, to: ['User $(OWNER)', 'ServiceAccount ci/deployer'] },
    { ...given, to: ['Group auditors'], when: 'true' },
  ])
})

test('one that no server would take is shown with what can be told of it', () => {
  const templates = [binding(null, null), binding([null, { kind: 'User', name: 'a' }], 'x')]
  expect(rightsIn(of({ templates }))).toEqual([
    { to: [], role: '', by: 'RoleBinding/b' },
    { to: ['User a'], role: '', by: 'RoleBinding/b' },
  ])
})

test('whom the tokens stand for, of those that are used in values of objects or of the namespace', () => {
  const map = (data: Record<string, string>) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data })
  const owner =
    'whom annotation borough.dev/owner of the namespace names, else its creator; ' +
    'to name somebody else takes the verb assign-owner on namespaces'
  const creator = 'who creates the namespace; where a portal or a GitOps controller does, that is its own account'
  expect(peopleIn(of({ templates: [map({ a: 'by $(OWNER)' })] }))).toEqual({ '$(OWNER)': owner })
  const annotations = { by: '$(CREATOR)' }
  expect(peopleIn(of({ namespaceMetadata: { annotations } }))).toEqual({ '$(CREATOR)': creator })
  expect(peopleIn(of({ templates: [map({ '$(OWNER)': '$$(OWNER) $(NAMESPACE) $(size)' })] }))).toEqual({})
  expect(peopleIn({ metadata: { name: 't' } })).toEqual({})
})
