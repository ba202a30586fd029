/** A store as a process sees it that asks another one for it: what that one holds, through a relay. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { RelayPort } from '../../src/base/relay-port.ts'
import { holdFor } from '../../src/storage/relay/relay-holder.ts'
import { RelayStorage } from '../../src/storage/relay/relay-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'

const portOf = (port: MessagePort): RelayPort => ({
  send: (message) => port.postMessage(message),
  onMessage: (listener) => port.on('message', listener),
  onClose: (listener) => port.on('close', listener),
})

/** Closes what is held with it. */
export function relayed(held: Storage): Storage {
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
