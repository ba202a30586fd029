import { describe, expect, it } from 'vitest'
import { readChanges } from './change-reader.ts'
import { encodeNote } from './delete-note.ts'
import { KeySpace } from './key-space.ts'
import type { KeyValue, WatchEvent, WatchResponse } from './messages.ts'
import { recordHeader } from './record.ts'

const keySpace = new KeySpace('/p')

function kv(
  key: string,
  modRevision: number,
  value: Uint8Array = new Uint8Array(0),
  createRevision = modRevision,
): KeyValue {
  return { key: Buffer.from(`/p${key}`), createRevision, modRevision, value: Buffer.from(value) }
}

function created(key: string, mod: number, position: number, value = 'v'): WatchEvent {
  return {
    type: 'put',
    kv: kv(key, mod, Buffer.concat([recordHeader(position), Buffer.from(value)])),
    previous: undefined,
  }
}

function deleted(key: string, mod: number): WatchEvent {
  return {
    type: 'delete',
    kv: kv(key, mod),
    previous: kv(key, 1, Buffer.concat([recordHeader(0), Buffer.from('old')])),
  }
}

function response(events: WatchEvent[], fragment = false): WatchResponse {
  return { revision: 100, created: false, canceled: false, compactRevision: 0, cancelReason: '', fragment, events }
}

async function read(...responses: WatchResponse[]): Promise<{ through: number; changes: string[] }[]> {
  const connection = {
    async *watch(): AsyncGenerator<WatchResponse> {
      yield* responses
    },
  }
  const got: { through: number; changes: string[] }[] = []
  for await (const { changes, through } of readChanges(connection, keySpace, 5, new AbortController().signal)) {
    got.push({ through, changes: changes.map((c) => `${c.key} ${c.revision % 1024}${c.value ? '' : ' deleted'}`) })
  }
  return got
}

describe('reading whole commits from etcd', () => {
  it('a commit that etcd sends in fragments is handed on when all of it is there', async () => {
    const got = await read(
      response([created('/a', 5, 0), created('/b', 6, 0)], true),
      response([deleted('/c', 6)], true),
      response([created('/d', 6, 2), created('/e', 7, 0)]),
      response([created('/f', 8, 0)]),
    )
    expect(got).toEqual([
      { through: 5, changes: ['/a 0'] },
      { through: 7, changes: ['/b 0', '/c 1 deleted', '/d 2', '/e 0'] },
      { through: 8, changes: ['/f 0'] },
    ])
  })

  it('a delete stands one behind the change in front of it', async () => {
    const got = await read(
      response([deleted('/a', 5), created('/b', 5, 1), deleted('/c', 5), deleted('/d', 5), deleted('/e', 6)]),
    )
    expect(got[0]?.changes).toEqual(['/a 0 deleted', '/b 1', '/c 2 deleted', '/d 3 deleted', '/e 0 deleted'])
  })

  it('a note in the commit says where its deletes stand', async () => {
    const note = encodeNote([
      { rawKey: Buffer.from('/p/a'), position: 4 },
      { rawKey: Buffer.from('/p/b'), position: 9 },
    ])
    const written: WatchEvent = { type: 'put', kv: { ...kv('', 5, note), key: keySpace.note }, previous: undefined }
    const got = await read(response([written, deleted('/a', 5), created('/x', 5, 6), deleted('/b', 5)]))
    expect(got).toEqual([{ through: 5, changes: ['/a 4 deleted', '/x 6', '/b 9 deleted'] }])
  })

  it('a bulk delete by other hands stays inside its commit', async () => {
    const events = Array.from({ length: 3000 }, (_, i) => deleted(`/k${i}`, 5))
    const [got] = await read(response(events))
    expect(got?.changes).toHaveLength(3000)
    expect(got?.changes.at(-1)).toBe('/k2999 1023 deleted')
  })

  it('a barrier brings no change, but proves that everything before it has been seen', async () => {
    const barrier: WatchEvent = { type: 'put', kv: { ...kv('', 9), key: keySpace.barrier }, previous: undefined }
    expect(await read(response([barrier]))).toEqual([{ through: 9, changes: [] }])
  })

  it.each([
    { name: 'an update', event: { type: 'put', kv: kv('/a', 5, recordHeader(0), 3), previous: undefined } as const },
    { name: 'a delete', event: { type: 'delete', kv: kv('/a', 5), previous: undefined } as const },
  ])('$name whose previous value etcd has compacted away is compacted', async ({ event }) => {
    await expect(read(response([event]))).rejects.toMatchObject({ code: 'compacted' })
  })

  it('a watch that etcd cancels for compaction is compacted, else unavailable with its reason', async () => {
    const canceled = { ...response([]), canceled: true }
    await expect(read({ ...canceled, compactRevision: 40 })).rejects.toMatchObject({ code: 'compacted', message: /40/ })
    await expect(read({ ...canceled, cancelReason: 'permission denied' })).rejects.toMatchObject({
      code: 'unavailable',
      message: /permission denied/,
    })
  })
})
