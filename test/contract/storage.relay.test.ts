import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { RelayPort } from '../../src/base/relay-port.ts'
import { MemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { holdFor } from '../../src/storage/relay/relay-holder.ts'
import { RelayStorage } from '../../src/storage/relay/relay-storage.ts'
import { describeStorageContract } from './storage.ts'

const portOf = (port: MessagePort): RelayPort => ({
  send: (message) => port.postMessage(message),
  onMessage: (listener) => port.on('message', listener),
  onClose: (listener) => port.on('close', listener),
})

describeStorageContract('relay', async (options) => {
  const memory = new MemoryStorage(options)
  const { port1, port2 } = new MessageChannel()
  holdFor(portOf(port1), memory, () => ({ condition: undefined, scrub: undefined }))
  const storage = new RelayStorage(portOf(port2))
  const close = storage[Symbol.asyncDispose].bind(storage)
  storage[Symbol.asyncDispose] = async () => {
    await close()
    port2.close()
    await memory[Symbol.asyncDispose]()
  }
  return { storage }
})
