/** Content can't get into a namespace that is being deleted, whoever tries how often. */
import { describe, expect, it } from 'vitest'
import { findStatusError } from '../../src/kube/status-error.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { contestDeletion } from '../support/contested-deletion.ts'
import { Wire } from '../support/wire.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
describe('many creators against a deletion', () => {
  it('leave no object, add none after the Terminating revision, and one pass of the controller suffices', async () => {
    await using plane = await startControlPlane({ population: false })
    for (let round = 0; round < 8; round++) await contestDeletion([plane], `contested-${round}`, 48, 5 * round)
  })

  it('are told by the code what became of the namespace', async () => {
    await using plane = await startControlPlane({ population: false, controllers: () => false })
    const { client } = plane
    await client.create(namespaces, { metadata: { name: 'going' } })
    await client.delete(namespaces, { name: 'going' })
    const refusal = await client.create(configMaps, { metadata: { name: 'a', namespace: 'going' } }).catch((e) => e)
    expect(findStatusError(refusal)?.details?.causes?.[0]?.reason).toBe('NamespaceTerminating')
  })
})

describe('who deletes a namespace with rights that lie in it', () => {
  it('can follow it to the end: not found, nothing in the list, DELETED on the watch', async () => {
    await using plane = await startControlPlane({ population: false })
    const { client } = plane
    const wire = new Wire(plane)
    const dev = wire.as('dev1')
    for (let round = 0; round < 25; round++) {
      const namespace = `own-${round}`
      await client.create(namespaces, { metadata: { name: namespace } })
      await wire.must('POST', `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`, {
        metadata: { name: 'owner' },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'dev1' }],
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      })
      await dev.must('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: 'a' } })
      // What kubectl does: DELETE, then LIST and WATCH by name until it is gone.
      const byName = `/api/v1/namespaces?fieldSelector=metadata.name=${namespace}`
      const watching = dev.events(
        `${byName}&watch=1`,
        (seen) => seen.at(-1)?.type === 'DELETED',
        () => void dev.must('DELETE', `/api/v1/namespaces/${namespace}`),
      )
      expect((await watching).at(-1)?.type).toBe('DELETED')
      expect((await dev.call('GET', `/api/v1/namespaces/${namespace}`)).status).toBe(404)
      const list = await dev.call('GET', byName)
      expect([list.status, list.body.items]).toEqual([200, []])
    }
    // Others learn nothing, and these rights do not outlive the namespace for anything else.
    expect((await wire.as('dev2').call('GET', '/api/v1/namespaces/own-0')).status).toBe(403)
    expect((await dev.call('POST', '/api/v1/namespaces/own-0/configmaps', { metadata: { name: 'b' } })).status).toBe(
      403,
    )
  })
})
