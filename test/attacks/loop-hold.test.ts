/**
 * No request holds the event loop: an answer that costs much is made in slices, and other requests are answered between
 * them. Time is made by hand here, every look at it costs some: what is counted is turns of the loop, not milliseconds.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { systemClock } from '../../src/base/clock.ts'
import { sliceMs } from '../../src/base/turns.ts'
import { ProtobufCodec } from '../../src/catalog/protobuf/protobuf-codec.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { statusOf } from '../support/refusal.ts'
import { TurnCounter } from '../support/turn-counter.ts'

const configMaps = { group: '', version: 'v1', resource: 'configmaps' }
/** Together more than is answered in one piece in any form. */
const count = 60
const objectBytes = 90_000
/** Half a slice: a look at the time after each object makes a slice of two objects. */
const lookMs = sliceMs / 2

let plane: TestControlPlane
let elapsedMs = 0

beforeAll(async () => {
  const clock = {
    ...systemClock,
    monotonic: () => {
      elapsedMs += lookMs
      return elapsedMs
    },
  }
  plane = await startControlPlane({ clock, population: false })
  for (const name of ['long', 'short']) {
    await plane.client.create({ group: '', version: 'v1', resource: 'namespaces' }, { metadata: { name } })
  }
  for (let i = 0; i < count; i++) await create(`o${String(i).padStart(2, '0')}`)
})

afterAll(() => plane[Symbol.asyncDispose]())

async function create(name: string): Promise<void> {
  const object = {
    metadata: { name, namespace: 'long', labels: { kept: 'yes' } },
    data: { text: 'x'.repeat(objectBytes) },
  }
  await plane.client.create(configMaps, object as KubeObject)
}

const path = '/api/v1/namespaces/long/configmaps'
const meta = (kind: string, format = 'json'): string => `application/${format};as=${kind};v=v1;g=meta.k8s.io`

interface Shown {
  readonly revision: string
  readonly names: readonly string[]
}

const shownJson = (body: Buffer): Shown => {
  const list = JSON.parse(body.toString())
  const objects = list.items ?? list.rows.map((row: { object: KubeObject }) => row.object)
  const all: string[] = objects.map((o: KubeObject) => o.metadata.name)
  // Every namespace has one more.
  return { revision: list.metadata.resourceVersion, names: all.filter((name) => name !== 'kube-root-ca.crt') }
}

const shownYaml = (body: Buffer): Shown => shownJson(Buffer.from(JSON.stringify(parse(body.toString()))))

const shownProtobuf = (body: Buffer): Shown => {
  const { object } = new ProtobufCodec().decode(body)
  return shownJson(Buffer.from(JSON.stringify(object)))
}

const forms: { name: string; accept: string; query?: string; shown: (body: Buffer) => Shown }[] = [
  { name: 'JSON', accept: 'application/json', shown: shownJson },
  { name: 'JSON by label', accept: 'application/json', query: '?labelSelector=kept=yes', shown: shownJson },
  {
    name: 'JSON by what is not a label',
    accept: 'application/json',
    query: '?labelSelector=kept!=no',
    shown: shownJson,
  },
  { name: 'pretty JSON', accept: 'application/json', query: '?pretty=true', shown: shownJson },
  { name: 'YAML', accept: 'application/yaml', shown: shownYaml },
  { name: 'protobuf', accept: 'application/vnd.kubernetes.protobuf', shown: shownProtobuf },
  { name: 'a Table', accept: meta('Table'), shown: shownJson },
  { name: 'a Table of objects', accept: meta('Table'), query: '?includeObject=Object', shown: shownJson },
  { name: 'metadata only', accept: meta('PartialObjectMetadataList'), shown: shownJson },
  { name: 'metadata only, in YAML', accept: meta('PartialObjectMetadataList', 'yaml'), shown: shownYaml },
  {
    name: 'metadata only, in protobuf',
    accept: meta('PartialObjectMetadataList', 'vnd.kubernetes.protobuf'),
    shown: shownProtobuf,
  },
]

const names = Array.from({ length: count }, (_, i) => `o${String(i).padStart(2, '0')}`)

/** What is sent, and how many turns the loop has made meanwhile. */
async function sent(accept: string, query = ''): Promise<{ readonly body: Buffer; readonly turns: number }> {
  const response = await plane.fetch(path + query, { headers: { accept } })
  expect(response.status).toBe(200)
  const counter = new TurnCounter()
  const body = Buffer.from(await response.arrayBuffer())
  counter.stop()
  return { body, turns: counter.turns }
}

describe('attack: a long list holds nobody up', () => {
  test.each(forms)('as $name', async ({ accept, query, shown }) => {
    const { body, turns } = await sent(accept, query)
    expect(shown(body)).toMatchObject({ names })
    // A slice is two objects.
    expect(turns).toBeGreaterThanOrEqual(count / 2 - 1)
  })

  test('other requests are answered while it is made', async () => {
    const response = await plane.fetch(path, { headers: { accept: 'application/yaml' } })
    let done = false
    const reading = response.arrayBuffer().finally(() => {
      done = true
    })
    let answered = 0
    while (!done) {
      // As from a socket: in a turn of its own.
      await new Promise((resolve) => setImmediate(resolve))
      expect((await plane.fetch('/api/v1/namespaces/short')).status).toBe(200)
      answered++
    }
    await reading
    expect(answered).toBeGreaterThan(5)
  })

  test('nothing is looked into in one piece that no label selects', async () => {
    const counter = new TurnCounter()
    const response = await plane.fetch(`${path}?labelSelector=kept=no&limit=1`)
    counter.stop()
    expect(JSON.parse(await response.text()).items).toEqual([])
    expect(counter.turns).toBeGreaterThanOrEqual(count / 2 - 1)
  })

  test.each(forms)('and is of one revision, whatever changes meanwhile: as $name', async ({ accept, query, shown }) => {
    const response = await plane.fetch(path + (query ?? ''), { headers: { accept } })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const first = await reader.read()
    await plane.client.delete(configMaps, { name: 'o59', namespace: 'long' })
    await create('o595')
    const chunks = [first.value as Uint8Array]
    for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value)
    const { revision, names: found } = shown(Buffer.concat(chunks))
    expect(found).toEqual(names)
    const again = await plane.fetch(`${path}?resourceVersion=${revision}&resourceVersionMatch=Exact`)
    expect(shownJson(Buffer.from(await again.arrayBuffer())).names).toEqual(names)
    await plane.client.delete(configMaps, { name: 'o595', namespace: 'long' })
    await create('o59')
  })
})

describe('attack: a watch that begins with a large state holds nobody up', () => {
  test.each([
    { name: 'JSON', accept: 'application/json' },
    { name: 'protobuf', accept: 'application/vnd.kubernetes.protobuf;stream=watch' },
    { name: 'a Table', accept: meta('Table') },
  ])('as $name', async ({ accept }) => {
    const stop = new AbortController()
    const query = '?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const counter = new TurnCounter()
    const response = await plane.fetch(path + query, { headers: { accept }, signal: stop.signal })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (Buffer.from(next.value).includes('k8s.io/initial-events-end')) break
    }
    counter.stop()
    stop.abort()
    // A piece of the backlog has three objects, and each piece is a look at the time.
    expect(counter.turns).toBeGreaterThanOrEqual(count / 6 - 1)
  })
})

describe('attack: clients that leave while they are worked for', () => {
  const encodings = ['identity', 'gzip'].flatMap((encoding) => forms.map((form) => ({ ...form, encoding })))
  test.each(encodings)('a list as $name, in $encoding, ends with its client', async (form) => {
    const { accept, encoding, query = '' } = form
    const stop = new AbortController()
    const asked = (async () => {
      const headers = { accept, 'accept-encoding': encoding }
      const response = await plane.fetch(path + query, { headers, signal: stop.signal })
      await response.arrayBuffer()
    })().catch(() => {})
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < 3; i++) await turn()
    stop.abort()
    for (let i = 0; i < 3; i++) await turn()
    const before = elapsedMs
    for (let i = 0; i < count; i++) await turn()
    // What goes on looks at the time after each object.
    expect((elapsedMs - before) / lookMs).toBeLessThan(5)
    await asked
  })
})

describe('attack: the deletion of a large collection holds nobody up', () => {
  test('also where nothing is written', async () => {
    const counter = new TurnCounter()
    const response = await plane.fetch(`${path}?dryRun=All`, { method: 'DELETE' })
    await response.arrayBuffer()
    counter.stop()
    expect(response.status).toBe(200)
    expect(counter.turns).toBeGreaterThanOrEqual(count / 2 - 1)
  })
})

test('attack: a namespace of objects with thousands of owned fields goes, and nothing parses all of them', async () => {
  const namespaces = { group: '', version: 'v1', resource: 'namespaces' }
  const data = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key${i}`, 'v']))
  await plane.client.create(namespaces, { metadata: { name: 'wide' } })
  for (let i = 0; i < 8; i++) {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `w${i}`, namespace: 'wide' }, data }
    await plane.client.create(configMaps, object as KubeObject, { fieldManager: 'wide' })
  }
  const lengths: number[] = []
  const { parse } = JSON
  JSON.parse = (text: string, reviver) => {
    lengths.push(text.length)
    return parse(text, reviver)
  }
  try {
    await plane.client.delete(namespaces, { name: 'wide' })
    await expect
      .poll(() => plane.client.get(namespaces, { name: 'wide' }).catch(statusOf), { timeout: 30_000 })
      .toMatchObject({ code: 404 })
  } finally {
    JSON.parse = parse
  }
  // Of one object it is 150 KB, of all 1.2 MB.
  expect(Math.max(...lengths)).toBeLessThan(400_000)
})

test('who deletes a collection may ask for metadata alone, as the namespace controller does', async () => {
  const metadata = { name: 'goes', namespace: 'short', labels: { goes: 'yes' } }
  await plane.client.create(configMaps, { metadata, data: { a: 'b' } } as KubeObject)
  const query = { namespace: 'short', labelSelector: 'goes=yes', metadataOnly: true }
  const { items } = await plane.client.deleteCollection(configMaps, query)
  expect(items.map((item) => [item.metadata.name, 'data' in item])).toEqual([['goes', false]])
})

describe('attack: a body of many values holds nobody up', () => {
  const values = 12_000
  const data = (value: string): Record<string, string> =>
    Object.fromEntries(Array.from({ length: values }, (_, i) => [`k${i}`, value]))
  const object = (value: string): object => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'large', namespace: 'short' },
    data: data(value),
  })
  const lines = Array.from({ length: values }, (_, i) => `  k${i}: v\n`).join('')
  const yaml = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: drafted\ndata:\n${lines}`
  const collection = '/api/v1/namespaces/short/configmaps'
  const large = `${collection}/large`

  /** The turns that the loop makes while the server works on one request. */
  async function turnsOf(method: string, path: string, body: unknown, type: string): Promise<number> {
    const counter = new TurnCounter()
    const init = {
      method,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': type },
    }
    const response = await plane.fetch(path, init)
    counter.stop()
    const answer = (await response.json()) as KubeObject & { data?: object }
    expect([response.status < 300, Object.keys(answer.data ?? {})]).toEqual([
      true,
      expect.objectContaining({ length: values }),
    ])
    return counter.turns
  }

  test.each([
    { name: 'a create', method: 'POST', path: collection, body: object('a'), type: 'application/json', atLeast: 15 },
    { name: 'an update', method: 'PUT', path: large, body: object('b'), type: 'application/json', atLeast: 55 },
    {
      name: 'a merge patch',
      method: 'PATCH',
      path: large,
      body: { data: data('c') },
      type: 'application/merge-patch+json',
      // Parsed, merged, compared and owned in parts.
      atLeast: 60,
    },
    {
      name: 'a strategic merge patch',
      method: 'PATCH',
      path: large,
      body: { data: data('d') },
      type: 'application/strategic-merge-patch+json',
      atLeast: 60,
    },
    {
      name: 'a small patch of what is large',
      method: 'PATCH',
      path: large,
      body: [{ op: 'replace', path: '/data/k1', value: 'e' }],
      type: 'application/json-patch+json',
      atLeast: 40,
    },
    {
      name: 'a patch that copies all, again and again',
      method: 'PATCH',
      path: `${large}?dryRun=All`,
      body: Array.from({ length: 20 }, (_, i) => ({ op: 'copy', from: '/data', path: `/x${i % 2}` })),
      type: 'application/json-patch+json',
      atLeast: 35,
    },
    {
      name: 'an apply',
      method: 'PATCH',
      path: `${large}?fieldManager=m&force=true`,
      body: object('f'),
      type: 'application/apply-patch+yaml',
      atLeast: 48,
    },
    {
      name: 'an apply again',
      method: 'PATCH',
      path: `${large}?fieldManager=m`,
      body: object('g'),
      type: 'application/apply-patch+yaml',
      atLeast: 60,
    },
    {
      name: 'a create in YAML',
      method: 'POST',
      path: `${collection}?dryRun=All`,
      body: yaml,
      type: 'application/yaml',
      atLeast: 100,
    },
    {
      name: 'an apply in YAML',
      method: 'PATCH',
      path: `${large}?fieldManager=m&dryRun=All`,
      body: yaml.replace('drafted', 'large'),
      type: 'application/apply-patch+yaml',
      // Reading it alone takes some hundred looks at the time.
      atLeast: 100,
    },
  ])('$name is worked on in several turns', async ({ method, path, body, type, atLeast }) => {
    // Each pass over the object is a look at the time, and every other one the end of a slice.
    expect(await turnsOf(method, path, body, type)).toBeGreaterThanOrEqual(atLeast)
  })
})

test('attack: an apply of many finalizers is worked on in several turns, one after the other', async () => {
  const finalizers = Array.from({ length: 20_000 }, (_, i) => `loop.example/f${i}`)
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'held', finalizers } }
  const counter = new TurnCounter()
  const response = await plane.fetch('/api/v1/namespaces/short/configmaps/held?fieldManager=m&dryRun=All', {
    method: 'PATCH',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/apply-patch+yaml' },
  })
  counter.stop()
  expect(response.status).toBe(201)
  // Fields are found and put in order in parts.
  expect(counter.turns).toBeGreaterThanOrEqual(70)
})

test('attack: a YAML body of 20 KiB and as many tokens is read in several turns', async () => {
  const counter = new TurnCounter()
  const body = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: short}\nx: [${'a,'.repeat(10_000)}]\n`
  const headers = { 'content-type': 'application/yaml' }
  const url = '/api/v1/namespaces/short/configmaps?dryRun=All'
  const response = await plane.fetch(url, { method: 'POST', body, headers })
  counter.stop()
  expect(response.status).toBe(201)
  // Every other look at the time ends a slice, and each 200 tokens are a look.
  expect(counter.turns).toBeGreaterThanOrEqual(50)
})

test('what holds the loop is told to Prometheus', async () => {
  const text = await (await plane.fetch('/metrics')).text()
  expect(text).toContain('# TYPE borough_loop_block_seconds histogram')
})
