/**
 * Creators against the deletion of their namespace, on one replica or several: nothing may get in after the revision at
 * which the namespace began to terminate, nothing may be left, and the controller must need one pass only.
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Client } from '../../src/client/client.ts'
import { isForbidden, isNotFound } from '../../src/kube/status-error.ts'
import type { TestControlPlane } from '../../src/testing/index.ts'
import { Wire } from './wire.ts'

const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
const secrets = { group: '', version: 'v1', resource: 'secrets' }

/** Creates until it is told that the namespace is going, or gone. Answers the names it was told exist. */
async function createWhilePossible(
  client: Client,
  namespace: string,
  creator: number,
  onMade: () => void,
): Promise<string[]> {
  const resource = creator % 2 === 0 ? configMaps : secrets
  const made: string[] = []
  for (let i = 0; ; i++) {
    // The memory engine answers without ever coming back to the event loop.
    await setImmediate()
    try {
      await client.create(resource, { metadata: { name: `c-${creator}-${i}`, namespace } })
      made.push(`c-${creator}-${i}`)
      onMade()
    } catch (error) {
      if (!isForbidden(error) && !isNotFound(error)) throw error
      return made
    }
  }
}

/**
 * The creators are spread over the replicas. The first replica deletes, `delayMs` after something was made; the last
 * one is asked.
 */
export async function contestDeletion(
  planes: readonly TestControlPlane[],
  namespace: string,
  creators: number,
  delayMs: number,
): Promise<void> {
  const [first, last] = [planes[0], planes.at(-1)]
  if (!first || !last) throw new Error('no replicas')
  const { client } = first
  const wire = new Wire(last)
  const { metadata } = await client.create(namespaces, { metadata: { name: namespace } })
  const from = metadata.resourceVersion ?? ''
  const begun = Promise.withResolvers<void>()
  const working = Array.from({ length: creators }, (_, i) =>
    createWhilePossible((planes[i % planes.length] ?? first).client, namespace, i, begun.resolve),
  )
  const states = await wire.events(
    `/api/v1/namespaces?watch=1&fieldSelector=metadata.name=${namespace}&resourceVersion=${from}`,
    (seen) => seen.at(-1)?.type === 'DELETED',
    async () => {
      await Promise.race([begun.promise, Promise.all(working)])
      void setTimeout(delayMs).then(() => client.delete(namespaces, { name: namespace }))
    },
  )
  const created = (await Promise.all(working)).flat()
  const terminatingAt = Number(states[0]?.object.metadata.resourceVersion)
  expect(created.length).toBeGreaterThan(0)
  // Nothing was left to report after the first pass, so no conditions were ever written.
  expect(states.map((e) => e.type)).toEqual(['MODIFIED', 'DELETED'])
  for (const resource of ['configmaps', 'secrets']) {
    const path = `/api/v1/namespaces/${namespace}/${resource}`
    expect((await wire.must('GET', path)).items).toEqual([])
    const own = created.filter((n) => (Number(n.split('-')[1]) % 2 === 0) === (resource === 'configmaps'))
    const gone = new Set<string>()
    const history = await wire.events(`${path}?watch=1&resourceVersion=${from}`, (seen) => {
      for (const { type, object } of seen) if (type === 'DELETED') gone.add(object.metadata.name ?? '')
      return own.every((name) => gone.has(name))
    })
    const late = history.filter((e) => e.type === 'ADDED' && Number(e.object.metadata.resourceVersion) > terminatingAt)
    expect(late.map((e) => e.object.metadata.name)).toEqual([])
  }
}
