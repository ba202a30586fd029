import { describe, expect, it } from 'vitest'
import { FakeClient } from '../../../test/support/fake-client.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { silentLog } from '../../base/log.ts'
import { runController } from '../../controller/run-controller.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import type { KubeObject } from '../../kube/types.ts'
import { apiServiceController } from './reconcile.ts'
import { apiServicesResource, managedLabel } from './types.ts'

const type = (group: string, version: string, custom = false): ResourceType =>
  ({ group, version, resource: 'things', kind: 'Thing', custom }) as ResourceType

function fakeTypes(...initial: ResourceType[]): { types: ResourceTypes; serve: (...now: ResourceType[]) => void } {
  let served = initial
  const listeners = new Set<() => void>()
  return {
    types: {
      all: () => served,
      onChange(listener: () => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    } as unknown as ResourceTypes,
    serve(...now) {
      served = now
      for (const listener of listeners) listener()
    },
  }
}

async function running(types: ResourceTypes, ...existing: KubeObject[]) {
  const client = new FakeClient()
  for (const object of existing) await client.create(apiServicesResource, object)
  client.writes.length = 0
  const clock = new FakeClock()
  const errors: unknown[] = []
  const abort = new AbortController()
  const controller = apiServiceController({
    client,
    clock,
    types,
    groupPriority: (group) => (group === '' ? 18000 : 1000),
    onError: (e) => errors.push(e),
  })
  const done = runController(controller, { clock, log: silentLog }, abort.signal)
  return {
    client,
    async settled(): Promise<Map<string, KubeObject>> {
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
      const { items } = await client.list(apiServicesResource)
      return new Map(items.map((item) => [item.metadata.name ?? '', item]))
    },
    async stop() {
      abort.abort()
      await done
      expect(errors).toEqual([])
    },
  }
}

const foreign: KubeObject = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.metrics.k8s.io' },
  spec: { group: 'metrics.k8s.io', version: 'v1', service: { namespace: 'kube-system', name: 'metrics' } },
}

describe('the APIService controller', () => {
  it('registers each group version served, with its place in discovery, as available', async () => {
    const { types } = fakeTypes(type('', 'v1'), type('autoscaling', 'v2'), type('autoscaling', 'v1'))
    const server = await running(types)
    const objects = await server.settled()
    expect([...objects.keys()].sort()).toEqual(['v1.', 'v1.autoscaling', 'v2.autoscaling'])
    expect(objects.get('v1.')).toMatchObject({
      metadata: { labels: { [managedLabel]: 'onstart' } },
      spec: { group: '', version: 'v1', groupPriorityMinimum: 18000, versionPriority: 15 },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    })
    expect(objects.get('v2.autoscaling')).toMatchObject({ spec: { versionPriority: 30 } })
    await server.stop()
  })

  it('follows what is served, and writes nothing when nothing changed', async () => {
    const { types, serve } = fakeTypes(type('', 'v1'))
    const server = await running(types)
    await server.settled()
    serve(type('', 'v1'), type('ex.io', 'v1', true))
    expect((await server.settled()).get('v1.ex.io')).toMatchObject({
      metadata: { labels: { [managedLabel]: 'true' } },
      spec: { versionPriority: 100 },
    })
    server.client.writes.length = 0
    serve(type('', 'v1'), type('ex.io', 'v1', true))
    await server.settled()
    expect(server.client.writes).toEqual([])
    serve(type('', 'v1'))
    expect([...(await server.settled()).keys()]).toEqual(['v1.'])
    await server.stop()
  })

  it('puts back what was removed or bent, and leaves what belongs to others', async () => {
    const { types } = fakeTypes(type('', 'v1'), type('metrics.k8s.io', 'v1'))
    const server = await running(types, foreign)
    await server.settled()
    await server.client.delete(apiServicesResource, { name: 'v1.' })
    expect((await server.settled()).has('v1.')).toBe(true)
    const bent = await server.client.get(apiServicesResource, { name: 'v1.' })
    await server.client.update(apiServicesResource, { ...bent, spec: { group: '', version: 'v1' } })
    const objects = await server.settled()
    expect(objects.get('v1.')).toMatchObject({ spec: { versionPriority: 15 } })
    expect(objects.get('v1.metrics.k8s.io')).toMatchObject({ spec: foreign['spec'] })
    await server.stop()
  })
})
