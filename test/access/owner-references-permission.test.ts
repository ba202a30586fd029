/** OwnerReferencesPermissionEnforcement, which is off by default, as upstream. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { OwnerReference } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { failure } from '../support/refusal.ts'
import { Wire } from '../support/wire.ts'

const rbac = '/apis/rbac.authorization.k8s.io/v1'
const configMaps = '/api/v1/namespaces/default/configmaps'

let plane: TestControlPlane
let admin: Wire
let writer: Wire
let ref: OwnerReference

beforeAll(async () => {
  plane = await startControlPlane({
    controllers: () => false,
    population: false,
    extraAdmission: ['OwnerReferencesPermissionEnforcement'],
  })
  admin = new Wire(plane)
  writer = admin.as('writer', [])
  await grant('writer', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get', 'update', 'patch'] }])
  const { metadata } = await admin.must('POST', configMaps, { metadata: { name: 'owner' } })
  ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid ?? '' }
  await admin.must('POST', configMaps, { metadata: { name: 'dependent' } })
})

afterAll(() => plane[Symbol.asyncDispose]())

async function grant(user: string, rules: readonly object[], name = user): Promise<void> {
  await admin.must('POST', `${rbac}/namespaces/default/roles`, { metadata: { name }, rules })
  await admin.must('POST', `${rbac}/namespaces/default/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  })
}

const owned = (name: string, owner: OwnerReference): object => ({ metadata: { name, ownerReferences: [owner] } })

const refused = (name: string, why: string): object => ({
  status: 403,
  body: failure({
    message: `configmaps "${name}" is forbidden: ${why}`,
    reason: 'Forbidden',
    details: { name, kind: 'configmaps' },
    code: 403,
  }),
})

const noFinalizers =
  "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: "

describe('a writer who may not delete the object, nor set finalizers of its owner', () => {
  test('gives a new object an owner', async () => {
    expect((await writer.call('POST', configMaps, owned('plain', ref))).status).toBe(201)
  })

  test('does not hold up the deletion of the owner', async () => {
    const blocking = { ...ref, blockOwnerDeletion: true }
    expect(await writer.call('POST', configMaps, owned('blocking', blocking))).toMatchObject(
      refused('blocking', `${noFinalizers}, <nil>`),
    )
  })

  test('does not refer to what nobody serves with blockOwnerDeletion', async () => {
    const unknown = { ...ref, apiVersion: 'none.example/v1', kind: 'Nothing', blockOwnerDeletion: true }
    expect(await writer.call('POST', configMaps, owned('unknown', unknown))).toMatchObject(
      refused(
        'unknown',
        'cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion none.example/v1 ' +
          'Kind Nothing: no matches for kind "Nothing" in version "none.example/v1"',
      ),
    )
  })

  test('does not have another object collected', async () => {
    expect(await writer.call('PUT', `${configMaps}/dependent`, owned('dependent', ref))).toMatchObject(
      refused('dependent', "cannot set an ownerRef on a resource you can't delete: , <nil>"),
    )
  })

  test('changes what has an owner already', async () => {
    await admin.must('POST', configMaps, owned('kept', { ...ref, blockOwnerDeletion: true }))
    const change = { ...owned('kept', { ...ref, blockOwnerDeletion: true }), data: { a: 'b' } }
    expect((await writer.call('PUT', `${configMaps}/kept`, change)).status).toBe(200)
  })
})

test('a writer with both rights sets what it likes', async () => {
  const owner = admin.as('owner', [])
  await grant('owner', [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get', 'update', 'delete'] },
    { apiGroups: [''], resources: ['configmaps/finalizers'], verbs: ['update'] },
  ])
  const blocking = { ...ref, blockOwnerDeletion: true }
  expect((await owner.call('POST', configMaps, owned('theirs', blocking))).status).toBe(201)
  expect((await owner.call('PUT', `${configMaps}/dependent`, owned('dependent', blocking))).status).toBe(200)
})

test('where it is off, as by default, any writer may', async () => {
  await using open = await startControlPlane({ controllers: () => false, population: false })
  const its = new Wire(open)
  const { metadata } = await its.must('POST', configMaps, { metadata: { name: 'owner' } })
  const blocking = { ...ref, uid: metadata.uid ?? '', blockOwnerDeletion: true }
  expect((await its.call('POST', configMaps, owned('blocking', blocking))).status).toBe(201)
})
