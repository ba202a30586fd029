import { afterAll, beforeAll, describe } from 'vitest'
import type { EtcdStorageOptions } from '../../src/storage/etcd/etcd-storage.ts'
import { EtcdStorage } from '../../src/storage/etcd/etcd-storage.ts'
import { EtcdServer, etcdMissing, etcdPrograms } from '../support/etcd-server.ts'
import { describeStartContract } from './starts.ts'
import { describeStorageContract, type Opened, type OpenOptions } from './storage.ts'

for (const { program, version } of etcdPrograms) {
  describe.skipIf(version === undefined)(`etcd ${version ?? `(skipped: ${etcdMissing})`}`, () => {
    let server: EtcdServer
    let spaces = 0
    beforeAll(async () => {
      server = await EtcdServer.start({ program })
    })
    afterAll(async () => {
      await server?.[Symbol.asyncDispose]()
    })

    for (const checksums of [false, true]) {
      const name = checksums ? 'etcd with checksums' : 'etcd'
      const open = async (options: OpenOptions): Promise<Opened> => {
        // One server for all tests: each has a prefix, and so a key space, of its own.
        const settings: EtcdStorageOptions = {
          ...options,
          checksums,
          endpoints: [server.endpoint],
          prefix: `/borough-test/${++spaces}`,
        }
        const storage = await EtcdStorage.open(settings)
        return {
          storage,
          reopen: async () => {
            await storage[Symbol.asyncDispose]()
            return await EtcdStorage.open(settings)
          },
        }
      }
      describeStorageContract(name, open, { propertyRuns: 8 })
      describeStartContract(name, open)
    }
  })
}
