import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { RelayPort } from '../../base/relay-port.ts'
import { MemoryStorage } from '../memory/memory-storage.ts'
import { type ChangeBatch, type Entry, prefixSpan, type Storage, StorageError } from '../storage.ts'
import { holdFor } from './relay-holder.ts'
import { RelayStorage } from './relay-storage.ts'

const portOf = (port: MessagePort): RelayPort => ({
  send: (message) => port.postMessage(message),
  onMessage: (listener) => port.on('message', listener),
  onClose: (listener) => port.on('close', listener),
})

/** As the SQLite engine gives what was replaced: the value is read when it is asked for, and is gone by then. */
const swept: Entry = {
  key: '/a',
  revision: 1024,
  get value(): Uint8Array {
    throw new StorageError('compacted', 'what /a was at revision 1024 is compacted')
  },
}
const refusal = { code: 'compacted', message: 'what /a was at revision 1024 is compacted' }

/** A store that has forgotten what is asked of it by the time that it is read. */
class SweptStorage extends MemoryStorage {
  override get: Storage['get'] = async () => ({ revision: 2048, entry: swept })
  override range: Storage['range'] = async () => ({ revision: 2048, entries: [swept], more: false })
  override commit: Storage['commit'] = (transaction) => ({
    ticket: super.commit(transaction).ticket,
    done: Promise.resolve({ ok: false, current: new Map([['/a', swept]]) }),
  })
  override watch: Storage['watch'] = async function* (): AsyncGenerator<ChangeBatch> {
    const change = { key: '/a', revision: 2048, value: Buffer.from('{}'), previous: swept }
    yield { type: 'changes', changes: [change] }
  }
}

let storage: RelayStorage
let port: MessagePort
beforeEach(() => {
  const { port1, port2 } = new MessageChannel()
  holdFor(portOf(port1), new SweptStorage({}), () => ({ condition: undefined, scrub: undefined }))
  storage = new RelayStorage(portOf(port2))
  port = port2
})
afterEach(() => port.close())

it('a watch that tells of a replaced value which is compacted by now ends as compacted', async () => {
  const batches = storage.watch(prefixSpan('/'), 1023, new AbortController().signal)
  await expect(batches[Symbol.asyncIterator]().next()).rejects.toMatchObject(refusal)
})

it('a read of a value that is compacted by now is refused as compacted', async () => {
  await expect(storage.get('/a')).rejects.toMatchObject(refusal)
  await expect(storage.range(prefixSpan('/'))).rejects.toMatchObject(refusal)
})

it('a transaction that lost to a value which is compacted by now is refused as compacted', async () => {
  const write = { key: '/a', value: Buffer.from('{}'), expect: 'absent' as const }
  await expect(storage.commit({ guards: [], writes: [write] }).done).rejects.toMatchObject(refusal)
})

it('after such a failure the next question is answered', async () => {
  await expect(storage.get('/a')).rejects.toMatchObject(refusal)
  expect(await storage.currentRevision()).toBe(1023)
})
