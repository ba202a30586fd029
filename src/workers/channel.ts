/** What the primary and its workers say to each other, over the channel that Node gives them. */
import type { Worker } from 'node:cluster'
import type { RelayPort } from '../base/relay-port.ts'

/** What travels between a worker and the primary, each on a way of its own. */
export type Way = 'relay' | 'audit' | 'metrics'
type OnWay = { readonly way: Way; readonly message: unknown }

export type FromWorker =
  | OnWay
  | { readonly ready: { readonly url: string; readonly adminUrl?: string; readonly adminKubeconfig: string } }
  /** Another one for the administrator. */
  | { readonly adminKubeconfig: string }
  /** `code` of a system error, for who words it. */
  | { readonly failed: { readonly message: string; readonly code: string | undefined } }
export type ToWorker = OnWay | { readonly stop: true }

/** Tells a worker which one it is. */
export const slotVariable = 'BOROUGH_WORKER_SLOT'

export function primaryPort(way: Way): RelayPort {
  return {
    send(message) {
      if (process.connected) process.send?.({ way, message } satisfies FromWorker)
    },
    onMessage(listener) {
      process.on('message', (told: ToWorker) => {
        if ('way' in told && told.way === way) listener(told.message)
      })
    },
    onClose: (listener) => void process.once('disconnect', listener),
  }
}

export function workerPort(worker: Worker, way: Way): RelayPort {
  return {
    send(message) {
      if (worker.isConnected()) worker.send({ way, message } satisfies ToWorker)
    },
    onMessage(listener) {
      worker.on('message', (told: FromWorker) => {
        if ('way' in told && told.way === way) listener(told.message)
      })
    },
    onClose: (listener) => void worker.once('disconnect', listener),
  }
}
