/** Services of a build that kept no claims: they are claimed at the start, and nobody else is given what they have. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Config, defaultConfig } from '../../src/app/config.ts'
import { createControlPlane } from '../../src/app/control-plane.ts'
import { objectKey } from '../../src/kube/object-key.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { openStorage } from '../../src/storage/open-storage.ts'

const services = { group: '', version: 'v1', resource: 'services' }
const events = { group: '', version: 'v1', resource: 'events' }
const addresses = { group: 'networking.k8s.io', version: 'v1', resource: 'ipaddresses' }

interface Spec {
  readonly clusterIP: string
  readonly ports: readonly { readonly port: number; readonly nodePort?: number }[]
}
const specOf = (service: KubeObject): Spec => service['spec'] as Spec

const service = (name: string, spec: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec,
})

test('a service without claims is given them at the start, and is told so', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'borough-claims-'))
  const config: Config = { ...defaultConfig, dataDir, storage: { engine: 'sqlite' }, population: false }
  const stop = new AbortController()
  try {
    let old: KubeObject
    {
      await using first = await createControlPlane({ ...config, controllers: () => false })
      old = await first.client().create(services, service('old', { type: 'NodePort', ports: [{ port: 80 }] }))
      await first.client().create(services, service('new', { ports: [{ port: 80 }] }))
    }
    const { clusterIP, ports } = specOf(old)
    const nodePort = ports[0]?.nodePort ?? 0
    {
      await using storage = await openStorage(config)
      for (const [store, name] of [
        ['ipaddresses', clusterIP],
        ['borough', `nodeport-${nodePort}`],
      ] as const) {
        const key = objectKey(store, '', name)
        const { entry } = await storage.get(key)
        if (entry === undefined) throw new Error(`no claim ${key}`)
        const done = await storage.commit({ guards: [], writes: [{ key, value: undefined, expect: entry.revision }] })
          .done
        expect(done.ok).toBe(true)
      }
    }

    await using second = await createControlPlane({
      ...config,
      controllers: (name) => name === 'service-claim-controller',
    })
    const client = second.client()
    const told: string[] = []
    const watch = client.watch(events, { namespace: 'default', sendInitialEvents: true, signal: stop.signal })
    for await (const { type, object } of watch) {
      if (type !== 'ADDED') continue
      const { reason, message, involvedObject } = object as KubeObject & Record<string, unknown>
      told.push(`${(involvedObject as { name: string }).name}: ${String(reason)}: ${String(message)}`)
      if (told.length === 2) break
    }
    expect(told.sort()).toEqual([
      `old: ClusterIPNotAllocated: Cluster IP [IPv4]: ${clusterIP} is not allocated; repairing`,
      `old: PortNotAllocated: Port ${nodePort} is not allocated; repairing`,
    ])
    expect((await client.get(addresses, { name: clusterIP }))['spec']).toEqual({
      parentRef: { resource: 'services', namespace: 'default', name: 'old' },
    })
    const { resourceVersion: _, ...metadata } = old.metadata
    expect(await client.get(services, { namespace: 'default', name: 'old' })).toMatchObject({
      metadata,
      spec: specOf(old),
    })
    const thief = service('thief', { type: 'NodePort', ports: [{ port: 80, nodePort }] })
    await expect(client.create(services, thief)).rejects.toThrow('provided port is already allocated')
    await expect(client.create(services, service('thief', { clusterIP, ports: [{ port: 80 }] }))).rejects.toThrow(
      'provided IP is already allocated',
    )
  } finally {
    stop.abort()
    await rm(dataDir, { recursive: true, force: true })
  }
})
