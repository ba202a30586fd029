/**
 * Quota over several namespaces on three replicas of one SQLite store, each of which reaches it as a worker does: exact
 * at every revision, also while one after the other is cut off in the middle of what it writes.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, it } from 'vitest'
import type { RelayPort } from '../../src/base/relay-port.ts'
import { holdFor } from '../../src/storage/relay/relay-holder.ts'
import { RelayStorage } from '../../src/storage/relay/relay-storage.ts'
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts'
import type { Storage } from '../../src/storage/storage.ts'
import type { StorageChoice } from '../../src/storage/storage-choice.ts'
import { clusterQuotaSteps, contestClusterQuotas, contestMoves } from '../support/contested-cluster-quota.ts'
import { MortalReplicas } from './mortal-replicas.ts'

/** The nightly run takes longer. */
const long = process.env['BOROUGH_LONG'] !== undefined

const portOf = (port: MessagePort): RelayPort => ({
  send: (message) => port.postMessage(message),
  onMessage: (listener) => port.on('message', listener),
  onClose: (listener) => port.on('close', listener),
})

/** Only says that another process holds the store; what is opened is handed in. */
const choice: StorageChoice = {
  engine: 'relay',
  port: { send: () => undefined, onMessage: () => undefined, onClose: () => undefined },
}

describe('three replicas', () => {
  let directory: string
  let store: SqliteStorage

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'borough-relayed-quotas-'))
    store = await SqliteStorage.open({ directory })
  })
  afterEach(async () => {
    await store[Symbol.asyncDispose]()
    await rm(directory, { recursive: true, force: true })
  })

  /** A connection of its own; its end is that of a process. */
  const open = async (): Promise<Storage> => {
    const { port1, port2 } = new MessageChannel()
    holdFor(portOf(port1), store, () => ({ condition: undefined, scrub: undefined }))
    const storage = new RelayStorage(portOf(port2))
    const close = storage[Symbol.asyncDispose].bind(storage)
    storage[Symbol.asyncDispose] = async () => {
      await close()
      port2.close()
    }
    return storage
  }

  it('let nothing by while namespaces move and quotas come and go', { timeout: 300_000 }, async () => {
    await using own = await MortalReplicas.start(choice, open, 3)
    const clients = Array.from({ length: 6 }, (_, i) => own.client(i, 'kubernetes-admin'))
    await contestMoves(clients, store, long ? 60 : 6)
  })

  it('keep every account equal to a recount while one after the other is killed', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(clusterQuotaSteps, async (steps) => {
        await using own = await MortalReplicas.start(choice, open, 3)
        const clients = Array.from({ length: 8 }, (_, i) => own.client(i, `user-${i % 4}`))
        const killing = async (): Promise<void> => {
          for (let i = 0; i < 6; i++) await own.kill(i, i)
        }
        await Promise.all([contestClusterQuotas(clients, store, steps, true), killing()])
      }),
      { numRuns: long ? 30 : 2, endOnFailure: true },
    )
  })
})
