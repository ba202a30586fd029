/** Opens the engine that was chosen. Engines are loaded when chosen: nobody pays for gRPC who does not use etcd. */
import { join } from 'node:path'
import { MemoryStorage } from '../storage/memory/memory-storage.ts'
import type { Storage } from '../storage/storage.ts'
import type { Config } from './config.ts'

export async function openStorage(config: Config): Promise<Storage> {
  const { storage, dataDir, clock } = config
  switch (storage.engine) {
    case 'memory':
      return new MemoryStorage({ clock })
    case 'sqlite': {
      if (dataDir === undefined) throw new Error('storage sqlite needs a data directory')
      const { SqliteStorage } = await import('../storage/sqlite/sqlite-storage.ts')
      return SqliteStorage.open({ directory: join(dataDir, 'store'), clock })
    }
    case 'etcd': {
      const { EtcdStorage } = await import('../storage/etcd/etcd-storage.ts')
      return EtcdStorage.open({ endpoints: storage.endpoints.map((e) => `http://${e}`), clock })
    }
  }
}
