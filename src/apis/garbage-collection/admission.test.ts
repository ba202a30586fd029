/** Who may name an owner, and one whose deletion waits for the dependent. */
import { expect, test } from 'vitest'
import { attributesOf, Rights } from '../../../test/support/admission-attributes.ts'
import { forbidden, thrown } from '../../../test/support/refusal.ts'
import { configMaps, namespaces, pods, types } from '../../../test/support/registry-fixture.ts'
import type { Attributes } from '../../admission/admission.ts'
import type { OwnerReference } from '../../kube/types.ts'
import { ownerReferencesPermission } from './admission.ts'

const owner = (more: Partial<OwnerReference> = {}): OwnerReference => ({
  ...{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' },
  ...more,
})
const blocking = owner({ blockOwnerDeletion: true })
const owned = (ownerReferences?: OwnerReference[]) => ({
  metadata: { name: 'c', ...(ownerReferences && { ownerReferences }) },
})
const plugin = (authorizer: Rights) => ownerReferencesPermission({ authorizer, types })
function check(rights: Rights, about: Partial<Attributes>): void {
  expect(plugin(rights).validate?.(attributesOf({ type: configMaps, ...about }))).toBeUndefined()
}
const denied = (why: string) => forbidden({ kind: 'configmaps', name: 'c' }, why)
const finalizers = 'update /v1/pods/finalizers team/p'
const deletion = 'delete /v1/configmaps/ team/c'

test.each<[Attributes['operation'], object, string, unknown]>([
  ['CREATE', configMaps, '', ['validate']],
  ['UPDATE', pods, '', ['validate']],
  ['UPDATE', { ...pods, group: 'ex.io' }, 'status', ['validate']],
  ['UPDATE', configMaps, 'status', ['validate']],
  ['UPDATE', pods, 'status', false],
  ['DELETE', configMaps, '', false],
  ['CONNECT', pods, 'exec', false],
])('%s is asked about where it may set owners', (operation, type, subresource, asked) => {
  expect(plugin(new Rights()).handles(operation, type as never, subresource)).toEqual(asked)
})

test.each<{ name: string; about: Partial<Attributes>; asked: string[] }>([
  { name: 'a new object with an owner', about: { object: owned([owner()]) }, asked: [] },
  { name: 'one with an owner that waits for it', about: { object: owned([blocking]) }, asked: [finalizers] },
  {
    name: 'an owner that is given to what is there',
    about: { operation: 'UPDATE', object: owned([owner()]), oldObject: owned([]) },
    asked: [deletion],
  },
  {
    name: 'one that is taken away',
    about: { operation: 'UPDATE', object: owned(), oldObject: owned([blocking]) },
    asked: [deletion],
  },
  {
    name: 'one that waits from now on',
    about: { operation: 'UPDATE', object: owned([blocking]), oldObject: owned([owner()]) },
    asked: [deletion, finalizers],
  },
  {
    name: 'one that waited before, beside another',
    about: { operation: 'UPDATE', object: owned([blocking, owner({ uid: 'v' })]), oldObject: owned([blocking]) },
    asked: [deletion],
  },
  {
    name: 'a write that leaves owners as they are',
    about: { operation: 'UPDATE', object: owned([blocking]), oldObject: owned([blocking]) },
    asked: [],
  },
  { name: 'one without any', about: { operation: 'UPDATE', object: owned(), oldObject: owned([]) }, asked: [] },
])('$name needs the rights: $asked', ({ about, asked }) => {
  const rights = new Rights(deletion, finalizers)
  check(rights, about)
  expect(rights.asked).toEqual(asked.map((right) => `alice: ${right}`))
})

test('the refusal names what is missing', () => {
  const given = { operation: 'UPDATE', object: owned([blocking]), oldObject: owned() } as const
  expect(thrown(() => check(new Rights(finalizers), given))).toEqual(
    denied("cannot set an ownerRef on a resource you can't delete: no rule says so, <nil>"),
  )
  const why = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: "
  expect(thrown(() => check(new Rights(deletion), given))).toEqual(denied(`${why}no rule says so, <nil>`))
})

test.each([
  ['v1', 'Gone'],
  ['a/b/c', 'Pod'],
])('an owner of %s %s, which is not served, can not be waited for', (apiVersion, kind) => {
  const object = owned([{ ...blocking, apiVersion, kind }])
  expect(thrown(() => check(new Rights(finalizers), { object }))).toEqual(
    denied(
      'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ' +
        `${apiVersion} Kind ${kind}: no matches for kind "${kind}" in version "${apiVersion}"`,
    ),
  )
})

test('what lives in no namespace is asked about in none', () => {
  const clusterWide = new Rights('update /v1/namespaces/finalizers /n')
  check(clusterWide, { object: owned([{ ...blocking, kind: 'Namespace', name: 'n' }]) })
  expect(clusterWide.asked).toEqual(['alice: update /v1/namespaces/finalizers /n'])
  const change = { operation: 'UPDATE', object: owned([owner()]), oldObject: owned() } as const
  const rights = new Rights('delete /v1/namespaces/status /c')
  check(rights, { ...change, type: namespaces, subresource: 'status' })
  expect(rights.asked).toEqual(['alice: delete /v1/namespaces/status /c'])
})
