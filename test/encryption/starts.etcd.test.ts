/** What an encrypted store answers right after a start where others share it: over an etcd. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe } from 'vitest'
import { EtcdStorage, type EtcdStorageOptions } from '../../src/storage/etcd/etcd-storage.ts'
import { describeStartContract } from '../contract/starts.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { aesgcm } from './configurations.ts'
import { encryptedIn } from './encrypted-in.ts'

describe.skipIf(etcdVersion === undefined)(`etcd${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let folder: string
  let server: EtcdServer
  let spaces = 0
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'borough-encrypted-etcd-'))
    server = await EtcdServer.start({})
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  for (const checksums of [false, true]) {
    describeStartContract(`etcd, encrypted, ${checksums ? 'with' : 'without'} checksums`, async (options) => {
      const settings: EtcdStorageOptions = {
        ...options,
        checksums,
        endpoints: [server.endpoint],
        prefix: `/borough-encrypted/${++spaces}`,
      }
      const open = async () => encryptedIn(folder, await EtcdStorage.open(settings), aesgcm(1))
      const storage = await open()
      return {
        storage,
        reopen: async () => {
          await storage[Symbol.asyncDispose]()
          return await open()
        },
      }
    })
  }
})
