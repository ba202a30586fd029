/** Where an installation's keys lie, and the names of this server: what `openPki` needs to know, from the configuration. */
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Storage } from '../storage/storage.ts'
import type { Config } from './config.ts'
import { directoryPkiStore, memoryPkiStore, openPki, type Pki, type PkiStore } from './pki.ts'
import { servingNames } from './serving-names.ts'
import { sharedPkiStore } from './shared-pki.ts'

export interface OpenKeys {
  readonly pki: Pki
  /** Where they lie. */
  readonly store: PkiStore
}

/** `storing`: awaited only where the keys lie in the store. @throws PrivateFileError */
export async function openKeys(config: Config, storing: Promise<Storage>): Promise<OpenKeys> {
  const { clock, dataDir, storage, listen, extraNames } = config
  const local = dataDir === undefined ? memoryPkiStore() : directoryPkiStore(join(dataDir, 'pki'))
  const store = storage.engine === 'etcd' ? sharedPkiStore(await storing, local) : local
  const addresses = Object.values(networkInterfaces()).flatMap((i) => (i ?? []).map((a) => a.address))
  const listenHosts = listen === undefined ? [] : [listen.host]
  const names = servingNames({ listenHosts, hostName: hostname(), addresses, extra: extraNames })
  return { pki: await openPki(store, { clock, names }), store }
}
