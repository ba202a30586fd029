/** What a start reads of namespaces, and what it takes up again once it serves. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { isNotFound } from '../../src/kube/status-error.ts'
import { adminUser } from '../../src/kube/user.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { tellingReads } from '../support/telling-reads.ts'
import { isGone, isThere, waitFor } from '../support/wait-for.ts'

const namespaceResource = { group: '', version: 'v1', resource: 'namespaces' } as const
const configMapResource = { group: '', version: 'v1', resource: 'configmaps' } as const
const initializerResource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1alpha1',
  resource: 'namespaceinitializerconfigurations',
} as const

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'borough-start-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

async function start(read: (key: string) => void, hasControllers: boolean): Promise<ControlPlane> {
  const storage = await SqliteStorage.open({ directory: join(dataDir, 'store') })
  const config = {
    ...defaultConfig,
    dataDir,
    storage: { engine: 'sqlite' } as const,
    controllers: () => hasControllers,
  }
  return createControlPlane(config, { opened: Promise.resolve(tellingReads(storage, read)) })
}

const nothing = (): void => {}

test('a start reads no namespace before it serves', async () => {
  {
    await using plane = await start(nothing, false)
    for (const name of ['team-a', 'team-b']) await plane.client().create(namespaceResource, { metadata: { name } })
  }
  const read: string[] = []
  await using plane = await start((key) => read.push(key), false)
  expect(read.filter((key) => key.startsWith('/registry/namespaces/team-'))).toEqual([])
  const found = await plane.client().get(namespaceResource, { name: 'team-b' })
  expect(found.metadata.name).toBe('team-b')
  expect(read.filter((key) => key.startsWith('/registry/namespaces/team-'))).toEqual(['/registry/namespaces/team-b'])
})

test('a namespace that was being emptied when the server stopped goes once its last object is let go', async () => {
  const held = { namespace: 'team-a', name: 'held' }
  {
    await using plane = await start(nothing, true)
    const client = plane.client()
    await client.create(namespaceResource, { metadata: { name: 'team-a' } })
    await client.create(configMapResource, { metadata: { ...held, finalizers: ['example.com/hold'] } })
    await client.delete(namespaceResource, { name: 'team-a' })
    await waitFor(client, configMapResource, held, (object) => object?.metadata.deletionTimestamp !== undefined)
  }
  await using plane = await start(nothing, true)
  const client = plane.client()
  await waitFor(client, configMapResource, held, isThere)
  await client.patch(configMapResource, held, { metadata: { finalizers: null } })
  await waitFor(client, namespaceResource, { name: 'team-a' }, isGone)
  await expect(client.get(namespaceResource, { name: 'team-a' })).rejects.toSatisfy(isNotFound)
})

test('namespaces that wait for an initializer are counted again after a start', async () => {
  {
    await using plane = await start(nothing, true)
    const client = plane.client()
    await client.create(initializerResource, {
      metadata: { name: 'hold' },
      initializers: [{ name: 'hold.example.com', timeoutSeconds: 600 }],
    })
    await client.create(namespaceResource, { metadata: { name: 'team-a' } }, { includeUninitialized: true })
  }
  await using plane = await start(nothing, true)
  const waiting = 'borough_namespaces_awaiting_initializer{initializer="hold.example.com"} 1'
  const fetch = fetchAdapter(plane.serve, adminUser)
  const metrics = async (): Promise<string> => (await fetch(new Request('https://borough.test/metrics'))).text()
  await expect.poll(metrics, { timeout: 10_000 }).toContain(waiting)
})
