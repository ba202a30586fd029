import { afterAll, beforeAll, describe } from 'vitest'
import { EtcdStorage } from '../../src/storage/etcd/etcd-storage.ts'
import { EtcdServer, etcdMissing, etcdVersion } from '../support/etcd-server.ts'
import { describeStorageModel } from './storage.ts'

describe.skipIf(etcdVersion === undefined)(`etcd${etcdVersion ? '' : ` (skipped: ${etcdMissing})`}`, () => {
  let server: EtcdServer
  let spaces = 0
  beforeAll(async () => {
    server = await EtcdServer.start()
  })
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]()
  })

  describeStorageModel(
    'etcd',
    async () => {
      const settings = { endpoints: [server.endpoint], prefix: `/model/${++spaces}` }
      let storage = await EtcdStorage.open(settings)
      const reopen = async (): Promise<EtcdStorage> => {
        await storage[Symbol.asyncDispose]()
        storage = await EtcdStorage.open(settings)
        return storage
      }
      return { storage, reopen }
    },
    { runs: 15 },
  )
})
