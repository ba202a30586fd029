/** Content can't get into a namespace that is being deleted, whoever tries how often. */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { findStatusError, isForbidden, isNotFound } from '../../src/kube/status-error.ts'
import { startControlPlane } from '../../src/testing/index.ts'
import { Wire } from '../support/wire.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const secrets = { group: '', version: 'v1', resource: 'secrets' }
const rounds = 8
const creators = 48

/** Creates until it is told that the namespace is going, or gone. Answers the names it was told exist. */
async function createWhilePossible(client: Client, namespace: string, creator: number): Promise<string[]> {
  const resource = creator % 2 === 0 ? configMaps : secrets
  const made: string[] = []
  for (let i = 0; ; i++) {
    // The memory engine answers without ever coming back to the event loop.
    await setImmediate()
    try {
      await client.create(resource, { metadata: { name: `c-${creator}-${i}`, namespace } })
      made.push(`c-${creator}-${i}`)
    } catch (error) {
      if (!isForbidden(error) && !isNotFound(error)) throw error
      return made
    }
  }
}

describe('many creators against a deletion', () => {
  it('leave no object, get none in after the Terminating revision, and one pass of the controller suffices', async () => {
    await using plane = await startControlPlane({ population: false })
    const { client } = plane
    const wire = new Wire(plane)
    for (let round = 0; round < rounds; round++) {
      const namespace = `contested-${round}`
      const made = await client.create(namespaces, { metadata: { name: namespace } })
      const from = made.metadata.resourceVersion ?? ''
      const working = Array.from({ length: creators }, (_, i) => createWhilePossible(client, namespace, i))
      const events = wire.events(
        `/api/v1/namespaces?watch=1&fieldSelector=metadata.name=${namespace}&resourceVersion=${from}`,
        (seen) => seen.at(-1)?.type === 'DELETED',
        () => void setTimeout(5 * round).then(() => client.delete(namespaces, { name: namespace })),
      )
      const states = await events
      const created = (await Promise.all(working)).flat()
      const terminatingAt = Number(states[0]?.object.metadata.resourceVersion)
      expect(created.length).toBeGreaterThan(0)
      // Nothing was left to report after the first pass, so no conditions were ever written.
      expect(states.map((e) => e.type)).toEqual(['MODIFIED', 'DELETED'])
      for (const resource of ['configmaps', 'secrets']) {
        const path = `/api/v1/namespaces/${namespace}/${resource}`
        expect((await wire.must('GET', path)).items).toEqual([])
        const last = new Set<string>()
        const history = await wire.events(`${path}?watch=1&resourceVersion=${from}`, (seen) => {
          for (const { type, object } of seen) {
            if (type === 'DELETED') last.add(object.metadata.name ?? '')
          }
          return created
            .filter((n) => (Number(n.split('-')[1]) % 2 === 0) === (resource === 'configmaps'))
            .every((n) => last.has(n))
        })
        const late = history.filter(
          (e) => e.type === 'ADDED' && Number(e.object.metadata.resourceVersion) > terminatingAt,
        )
        expect(late.map((e) => e.object.metadata.name)).toEqual([])
      }
    }
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
