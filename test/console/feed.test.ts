/** What a user may list and not watch is shown for as long as it may be listed. */
import { expect, test } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { startFeed } from '../../src/console/page/feed.ts'
import { startControlPlane } from '../../src/testing/index.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })

test('what may be listed and not watched is shown, listed again, and refused once the right is gone', async () => {
  await using plane = await startControlPlane()
  const { client } = plane
  await client.create({ ...configMaps, resource: 'namespaces' }, { metadata: { name: 'a' } })
  const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }]
  const role = { namespace: 'a', name: 'lists' }
  await client.create(rbac('roles'), { metadata: role, rules })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'lists' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
  await client.create(rbac('rolebindings'), { metadata: role, roleRef, subjects })

  const clock = new FakeClock()
  const { state, stop } = startFeed(plane.clientAs('alice'), clock, { resource: configMaps, namespace: 'a' })
  const names = () => state.value.objects.map(({ metadata }) => metadata.name)
  // A timer is set once the watch was refused; the one of a burst may stand before it.
  const passUntil = (isSo: () => boolean) =>
    expect
      .poll(async () => {
        await clock.advance(1000)
        return isSo()
      })
      .toBe(true)
  await passUntil(() => names().includes('kube-root-ca.crt'))
  await client.create(configMaps, { metadata: { namespace: 'a', name: 'later' } })
  await passUntil(() => names().includes('later'))
  expect(state.value.refused).toBeUndefined()
  await client.delete(rbac('rolebindings'), role)
  await passUntil(() => state.value.refused !== undefined)
  expect(state.value.refused?.message).toBe(
    'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "a"',
  )
  expect(names()).toEqual([])
  stop()
})
