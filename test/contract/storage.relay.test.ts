import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { afterAll } from 'vitest'
import type { RelayPort } from '../../src/base/relay-port.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { holdFor } from '../../src/storage/relay/relay-holder.ts'
import { RelayStorage } from '../../src/storage/relay/relay-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { SqliteStores } from './sqlite-stores.ts'
import { describeStartContract } from './starts.ts'
import { describeStorageContract } from './storage.ts'

const portOf = (port: MessagePort): RelayPort => ({
  send: (message) => port.postMessage(message),
  onMessage: (listener) => port.on('message', listener),
  onClose: (listener) => port.on('close', listener),
})

function relayed(held: Storage): Storage {
  const { port1, port2 } = new MessageChannel()
  holdFor(portOf(port1), held, () => ({ condition: undefined, scrub: undefined }))
  const storage = new RelayStorage(portOf(port2))
  const close = storage[Symbol.asyncDispose].bind(storage)
  storage[Symbol.asyncDispose] = async () => {
    await close()
    port2.close()
    await held[Symbol.asyncDispose]()
  }
  return storage
}

const stores = new SqliteStores()
afterAll(() => stores[Symbol.asyncDispose]())

describeStorageContract('relay', async (options) => ({ storage: relayed(new MemoryStorage(options)) }))
describeStartContract('relay to sqlite', (options) => stores.open(options, relayed))
