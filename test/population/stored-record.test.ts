/** The record of what templates made, as Borough keeps it: with what it is about, through stops, and from before. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import type { Client } from '../../src/client/client.ts'
import type { JsonObject } from '../../src/kube/types.ts'
import { prefixSpan } from '../../src/storage/storage.ts'
import { transactionOf } from '../support/transaction-of.ts'
import { isGone, waitFor } from '../support/wait-for.ts'
import {
  configMap,
  configMapResource,
  eventResource,
  namespaceResource,
  ofUsers,
  templateLabel,
  templateResource,
} from './population-world.ts'

const recordKey = '/registry/borough/applied/team'
const one = { namespace: 'team', name: 'one' }
const unlabelled = { metadata: { labels: { [templateLabel]: null } } }

let dataDir: string
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'borough-record-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const start = (controllers = true): Promise<ControlPlane> =>
  createControlPlane({ ...defaultConfig, dataDir, storage: { engine: 'sqlite' }, controllers: () => controllers })

/** In force: namespaces are created with what it holds. */
async function template(client: Client, objects: readonly JsonObject[], spec: JsonObject = {}): Promise<void> {
  await client.create(templateResource, {
    metadata: { name: 't' },
    spec: { namespaces: ofUsers, ...spec, templates: [...objects] },
  })
  const isInForce = (status: unknown): boolean => (status as JsonObject | undefined)?.['observedGeneration'] === 1
  await waitFor(client, templateResource, { name: 't' }, (t) => isInForce(t?.['status']))
}

interface Recorded {
  readonly transaction: number
  readonly objects: readonly JsonObject[]
}

async function recorded({ core }: ControlPlane): Promise<Recorded | undefined> {
  const { entry } = await core.storage.get(recordKey)
  if (entry === undefined) return undefined
  const { objects } = JSON.parse(Buffer.from(entry.value).toString()) as { objects: JsonObject[] }
  return { transaction: Math.floor(entry.revision / 1024), objects }
}

test('what is created with a namespace is recorded in its transaction, and the record goes with it', async () => {
  await using plane = await start()
  const client = plane.client()
  await template(client, [configMap('one'), configMap('two', { of: '$(CREATOR)' })])
  const namespace = await client.create(namespaceResource, { metadata: { name: 'team' } })
  const record = await recorded(plane)
  const { metadata } = await client.get(configMapResource, one)
  expect(record?.transaction).toBe(transactionOf(namespace))
  expect(record?.objects).toEqual(
    ['one', 'two'].map((name) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name,
      uid: name === 'one' ? metadata.uid : expect.any(String),
      template: 't',
      generation: 1,
      digest: expect.stringMatching(/^\S{16}$/),
      content: expect.stringMatching(/^\S{16}$/),
    })),
  )
  const changes = plane.core.storage.watch(
    prefixSpan('/registry/'),
    await plane.core.storage.currentRevision(),
    AbortSignal.timeout(20_000),
  )
  await client.delete(namespaceResource, { name: 'team' })
  const goneAt = new Map<string, number>()
  for await (const batch of changes) {
    if (batch.type !== 'changes') continue
    for (const { key, revision, value } of batch.changes)
      if (value === undefined) goneAt.set(key, Math.floor(revision / 1024))
    if (goneAt.has('/registry/namespaces/team')) break
  }
  expect(goneAt.get(recordKey)).toBe(goneAt.get('/registry/namespaces/team'))
})

test('what the controller applies is recorded in the same transaction', async () => {
  await using plane = await start()
  const client = plane.client()
  await client.create(namespaceResource, { metadata: { name: 'team' } })
  await template(client, [configMap('one')])
  const made = await waitFor(client, configMapResource, one, (o) => o !== undefined)
  expect((await recorded(plane))?.transaction).toBe(made && transactionOf(made))
  await client.patch(templateResource, { name: 't' }, { spec: { templates: [configMap('one', { a: '2' })] } })
  const next = await waitFor(client, configMapResource, one, (o) => JSON.stringify(o?.['data']) === '{"a":"2"}')
  const record = await recorded(plane)
  expect(record?.transaction).toBe(next && transactionOf(next))
  expect(record?.objects).toMatchObject([{ name: 'one', uid: made?.metadata.uid, generation: 2 }])
})

describe.each([
  {
    name: 'more objects than one transaction takes',
    objects: Array.from({ length: 120 }, (_, i) => configMap(`c${i}`)),
  },
  {
    name: 'an object that fills a transaction',
    objects: [configMap('big', { text: 'x'.repeat(1_000_000) }), configMap('c1')],
  },
])('$name', ({ objects }) => {
  test('are recorded, and stay under their template', async () => {
    await using plane = await start()
    const client = plane.client()
    await template(client, objects)
    await client.create(namespaceResource, { metadata: { name: 'team' } })
    const record = await recorded(plane)
    expect(record?.objects.map((o) => o['uid'])).toEqual(objects.map(() => expect.stringMatching(/./)))
    const last = { namespace: 'team', name: String((objects.at(-1)?.['metadata'] as JsonObject)['name']) }
    await client.patch(configMapResource, last, { ...unlabelled, data: { a: 'x' } })
    await waitFor(client, configMapResource, last, (o) => JSON.stringify(o?.['data']) === '{"a":"1"}')
    await client.patch(templateResource, { name: 't' }, { spec: { templates: [] } })
    await waitFor(client, configMapResource, last, isGone)
    await expect.poll(() => recorded(plane)).toBeUndefined()
  })
})

test('who takes the label off while no controller runs gains nothing by it', async () => {
  {
    await using plane = await start()
    await template(plane.client(), [configMap('one'), configMap('two')])
    await plane.client().create(namespaceResource, { metadata: { name: 'team' } })
  }
  {
    await using plane = await start(false)
    const client = plane.client()
    await client.patch(configMapResource, one, { ...unlabelled, data: { a: 'x' } })
    await client.patch(configMapResource, { ...one, name: 'two' }, unlabelled)
    await client.patch(templateResource, { name: 't' }, { spec: { templates: [configMap('one')] } })
  }
  await using plane = await start()
  const client = plane.client()
  await waitFor(client, configMapResource, one, (o) => JSON.stringify(o?.['data']) === '{"a":"1"}')
  await waitFor(client, configMapResource, { ...one, name: 'two' }, isGone)
})

test('events about a template say what it is, after a restart too', async () => {
  {
    await using plane = await start()
    await template(plane.client(), [configMap('one')], { driftPolicy: 'Report' })
  }
  await using plane = await start()
  const client = plane.client()
  await client.create(namespaceResource, { metadata: { name: 'team' } })
  await client.apply(
    configMapResource,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: one, data: { a: 'theirs' } },
    { fieldManager: 'gitops', force: true },
  )
  await waitFor(client, templateResource, { name: 't' }, (t) => JSON.stringify(t?.['status']).includes('Drift'))
  await expect
    .poll(async () => {
      const { items } = await client.list(eventResource, { namespace: 'default' })
      return items.map((e) => e['involvedObject'])
    })
    .toEqual([
      expect.objectContaining({ apiVersion: 'policy.borough.dev/v1alpha1', kind: 'NamespaceTemplate', name: 't' }),
    ])
})

describe('a store from before there were records', () => {
  const forget = async ({ core }: ControlPlane): Promise<void> => {
    const { entries } = await core.storage.range(prefixSpan('/registry/borough/applied'))
    const writes = entries.map(({ key, revision }) => ({ key, expect: revision, value: undefined }))
    await core.storage.commit({ guards: [], writes }).done
  }
  const forged = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'team', name, labels: { [templateLabel]: 't' } },
    data: { a: 'mine' },
  })

  test('its marks are believed once, and recorded', async () => {
    {
      await using plane = await start()
      await template(plane.client(), [configMap('one'), configMap('two')])
      await plane.client().create(namespaceResource, { metadata: { name: 'team' } })
    }
    {
      await using plane = await start(false)
      const client = plane.client()
      await forget(plane)
      await client.create(configMapResource, forged('labelled'))
    }
    await using plane = await start()
    const client = plane.client()
    await expect.poll(async () => (await recorded(plane))?.objects.map((o) => o['name'])).toEqual(['one', 'two'])
    await client.patch(configMapResource, one, { ...unlabelled, data: { a: 'x' } })
    await waitFor(client, configMapResource, one, (o) => JSON.stringify(o?.['data']) === '{"a":"1"}')
    // From now on marks are nothing.
    const before = await client.apply(configMapResource, forged('late'), { fieldManager: 'namespace-template' })
    await client.patch(templateResource, { name: 't' }, { spec: { templates: [configMap('two')] } })
    await waitFor(client, configMapResource, one, isGone)
    expect(await client.get(configMapResource, { ...one, name: 'late' })).toEqual(before)
    expect((await client.get(configMapResource, { ...one, name: 'labelled' }))['data']).toEqual({ a: 'mine' })
  })

  test('and after a restart no more', async () => {
    {
      await using plane = await start()
      await template(plane.client(), [configMap('one')])
      await plane.client().create(namespaceResource, { metadata: { name: 'team' } })
    }
    {
      await using plane = await start(false)
      await plane.client().apply(configMapResource, forged('late'), { fieldManager: 'namespace-template' })
      await plane.client().patch(templateResource, { name: 't' }, { spec: { templates: [] } })
    }
    await using plane = await start()
    await waitFor(plane.client(), configMapResource, one, isGone)
    expect((await plane.client().get(configMapResource, { ...one, name: 'late' }))['data']).toEqual({ a: 'mine' })
  })
})
