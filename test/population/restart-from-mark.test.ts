/**
 * A start believes the mark of the process before: it reads no object that has not changed since, and finds what has
 * changed behind everybody's back.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { templateControllerName } from '../../src/apis/templates/types.ts'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import { tellingReads } from '../support/telling-reads.ts'
import { isThere, waitFor } from '../support/wait-for.ts'
import { configMap, configMapResource, namespaceResource, ofUsers, templateResource } from './population-world.ts'

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'borough-mark-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const directory = (): string => join(dataDir, 'store')

/** Only with the population controller. `read`: told of each value that is fetched from the file. */
async function start(read: (key: string) => void = () => {}): Promise<ControlPlane> {
  const storage = await SqliteStorage.open({ directory: directory() })
  const opened = tellingReads(storage, read)
  const controllers = (name: string): boolean => name.startsWith(templateControllerName)
  const config = { ...defaultConfig, dataDir, storage: { engine: 'sqlite' } as const, controllers }
  return createControlPlane(config, { opened: Promise.resolve(opened) })
}

const names = ['a', 'b', 'c']

/** A template of three objects, and namespaces that have them. */
async function populated(plane: ControlPlane): Promise<void> {
  const client = plane.client()
  await client.create(templateResource, {
    metadata: { name: 't' },
    spec: { namespaces: ofUsers, templates: ['one', 'two', 'three'].map((name) => configMap(name)) },
  })
  const isInForce = (t: KubeObject | undefined): boolean =>
    (t?.['status'] as { observedGeneration?: number } | undefined)?.observedGeneration === 1
  await waitFor(client, templateResource, { name: 't' }, isInForce)
  for (const name of names) await client.create(namespaceResource, { metadata: { name } })
  for (const namespace of names) await waitFor(client, configMapResource, { namespace, name: 'three' }, isThere)
}

/** Written to the file while no server runs. undefined = removed. */
async function tamper(key: string, change: (text: string) => string | undefined): Promise<void> {
  await using storage = await SqliteStorage.open({ directory: directory() })
  const { entry } = await storage.get(`/registry/configmaps/${key}`)
  if (entry === undefined) throw new Error(`${key} is not there`)
  const text = change(Buffer.from(entry.value).toString())
  const value = text === undefined ? undefined : Buffer.from(text)
  await storage.commit({ guards: [], writes: [{ key: entry.key, expect: entry.revision, value }] }).done
}

test('what changed while no server ran is put back, and what did not is not read', async () => {
  {
    await using plane = await start()
    await populated(plane)
  }
  await tamper('b/one', (text) => text.replace('"a":"1"', '"a":"2"'))
  await tamper('b/two', () => undefined)
  const read: string[] = []
  await using plane = await start((key) => read.push(key))
  const client = plane.client()
  const is = (object: KubeObject | undefined): boolean => JSON.stringify(object?.['data']) === '{"a":"1"}'
  await waitFor(client, configMapResource, { namespace: 'b', name: 'one' }, is)
  await waitFor(client, configMapResource, { namespace: 'b', name: 'two' }, is)
  // The passes over the others are done when that over one which was changed after them is.
  await client.delete(configMapResource, { namespace: 'c', name: 'three' })
  await waitFor(client, configMapResource, { namespace: 'c', name: 'three' }, is)
  const objects = read.filter((key) => key.startsWith('/registry/configmaps/a/'))
  expect(objects).toEqual([])
  expect(read).toContain('/registry/configmaps/b/one')
})

test('without the mark each object is read, and a mark of another store is none', async () => {
  {
    await using plane = await start()
    await populated(plane)
  }
  {
    await using storage = await SqliteStorage.open({ directory: directory() })
    const { entry } = await storage.get('/registry/borough/verified')
    if (entry === undefined) throw new Error('no mark was left')
    const mark = JSON.parse(Buffer.from(entry.value).toString()) as { revision: number; store: number[] }
    expect(mark.revision).toBeLessThan(entry.revision)
    const copied = Buffer.from(JSON.stringify({ ...mark, store: mark.store.map((revision) => revision + 1024) }))
    await storage.commit({ guards: [], writes: [{ key: entry.key, expect: entry.revision, value: copied }] }).done
  }
  const read: string[] = []
  await using plane = await start((key) => read.push(key))
  const client = plane.client()
  await client.delete(configMapResource, { namespace: 'c', name: 'three' })
  await waitFor(client, configMapResource, { namespace: 'c', name: 'three' }, isThere)
  const objects = read.filter((key) => key.startsWith('/registry/configmaps/a/'))
  expect(new Set(objects)).toEqual(new Set(['one', 'two', 'three'].map((name) => `/registry/configmaps/a/${name}`)))
})

test('a process that stops before it has read the records leaves the mark as it was', async () => {
  {
    await using plane = await start()
    await populated(plane)
  }
  await tamper('b/one', (text) => text.replace('"a":"1"', '"a":"2"'))
  {
    await using _ = await start()
  }
  await using plane = await start()
  const is = (object: KubeObject | undefined): boolean => JSON.stringify(object?.['data']) === '{"a":"1"}'
  await waitFor(plane.client(), configMapResource, { namespace: 'b', name: 'one' }, is)
})
