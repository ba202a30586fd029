/**
 * The keys of an installation and the certificates made with them: what other folders see of this one. `open-pki.ts`
 * says which keys there are; they lie in the data directory, in memory, or, where replicas share a store, in that
 * store.
 */
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Storage } from '../storage/storage.ts'
import type { StorageChoice } from '../storage/storage-choice.ts'
import { type Credential, openPki, type Pki } from './open-pki.ts'
import { directoryPkiStore, memoryPkiStore, type PkiStore, withServingKept } from './pki-store.ts'
import { servingNames } from './serving-names.ts'
import { sharedPkiStore } from './shared-pki.ts'

export { type Credential, openCertificateAuthority, type Pki, rotateServiceAccountKey } from './open-pki.ts'
export { directoryPkiStore, memoryPkiStore, type PkiStore } from './pki-store.ts'
export { isOwn, sharedPkiPrefix, sharedPkiStore } from './shared-pki.ts'
export { SigningKeys } from './signing-keys.ts'

export interface KeysOptions {
  readonly clock: Clock
  readonly log: Log
  /** Absent = keys live as long as the process. */
  readonly dataDir?: string
  readonly storage: StorageChoice
  readonly listen?: { readonly host: string }
  /** Of the serving certificate, beside those that are found here. */
  readonly extraNames: readonly string[]
}

export interface OpenKeys {
  readonly pki: Pki
  /** Where they lie. */
  readonly store: PkiStore
  /** The serving certificate as it is kept now; made anew when it ends soon. @throws PrivateFileError */
  serving(): Promise<Credential>
}

/** `storing`: awaited only where the keys lie in the store. @throws PrivateFileError */
export async function openKeys(options: KeysOptions, storing: Promise<Storage>): Promise<OpenKeys> {
  const { clock, log, dataDir, storage, listen, extraNames } = options
  const local = dataDir === undefined ? memoryPkiStore() : withServingKept(directoryPkiStore(join(dataDir, 'pki')), log)
  const store = storage.engine === 'etcd' ? sharedPkiStore(await storing, local) : local
  const addresses = Object.values(networkInterfaces()).flatMap((i) => (i ?? []).map((a) => a.address))
  const listenHosts = listen === undefined ? [] : [listen.host]
  const names = servingNames({ listenHosts, hostName: hostname(), addresses, extra: extraNames })
  const open = (): Promise<Pki> => openPki(store, { clock, names })
  return { pki: await open(), store, serving: async () => (await open()).serving }
}
