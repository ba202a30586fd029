/**
 * Keys that replicas share: the certificate authority and the service-account keys lie in the store, under
 * `/borough/pki/`, so that a certificate or a token from one replica is good at all of them. Each replica keeps a
 * serving certificate of its own in its data directory, beside a copy of the authority for commands like
 * `borough kubeconfig`.
 *
 * A process that can read the store can read them, as all else in it, Secrets too; a process that can write it is
 * administrator already (ADR 0012).
 *
 * Invariant: what is missing is made by one transaction that expects it to be missing, so two first starts at once make
 * one authority.
 */

import { PrivateFileError } from '../base/private-files.ts'
import { damageOf } from '../storage/damaged-value.ts'
import type { Entry, Storage } from '../storage/storage.ts'
import { prefixSpan } from '../storage/storage.ts'
import type { PkiStore } from './pki-store.ts'

export const sharedPkiPrefix = '/borough/pki/'

/** A serving certificate is its directory's own; the rest is shared. */
export const isOwn = (name: string): boolean => name.startsWith('server.')
const isAuthority = (name: string): boolean => name.startsWith('ca.')

/** `local`: the directory of this replica alone. */
export function sharedPkiStore(storage: Storage, local: PkiStore): PkiStore {
  let seen: ReadonlyMap<string, Entry> = new Map()

  const readShared = async (): Promise<Map<string, string>> => {
    const { entries } = await storage.range(prefixSpan(sharedPkiPrefix))
    for (const { value } of entries) {
      const damage = damageOf(value)
      // It says nothing of whose authority it is, and must not be taken for another one.
      if (damage !== undefined) throw new PrivateFileError(damage)
    }
    seen = new Map(entries.map((entry) => [entry.key, entry]))
    return new Map(entries.map(({ key, value }) => [key.slice(sharedPkiPrefix.length), utf8(value)]))
  }

  /** False: another process was faster. */
  const writeShared = async (files: ReadonlyMap<string, string>): Promise<boolean> => {
    const writes = Array.from(files, ([name, text]) => {
      const key = sharedPkiPrefix + name
      return { key, value: Buffer.from(text), expect: seen.get(key)?.revision ?? ('absent' as const) }
    })
    return (await storage.commit({ guards: [], writes }).done).ok
  }

  /** An authority that this directory had before it had an etcd goes with its user. */
  const readOrBring = async (own: ReadonlyMap<string, string>): Promise<Map<string, string>> => {
    const shared = await readShared()
    const brought = new Map([...own].filter(([name]) => !isOwn(name)))
    if (shared.size > 0 || !brought.has('ca.crt')) return shared
    return (await writeShared(brought)) ? brought : await readShared()
  }

  return {
    place: `the store under ${sharedPkiPrefix}`,
    async read() {
      const own = await local.read()
      const shared = await readOrBring(own)
      const authority = shared.get('ca.crt')
      const copy = own.get('ca.crt')
      if (authority !== undefined && copy !== undefined && authority !== copy) {
        throw new PrivateFileError(
          `${local.place} holds another certificate authority than the store: choose another --data-dir, or ` +
            'remove ca.crt and ca.key there',
        )
      }
      if (authority !== undefined && copy === undefined) await local.write(only(shared, isAuthority))
      return new Map([...shared, ...only(own, isOwn)])
    },
    async *changes(signal) {
      const after = await storage.currentRevision()
      yield
      for await (const batch of storage.watch(prefixSpan(sharedPkiPrefix), after, signal)) {
        if (batch.type !== 'progress') yield
      }
    },
    async write(files) {
      const shared = new Map([...files].filter(([name]) => !isOwn(name)))
      if (shared.size > 0 && !(await writeShared(shared))) return false
      // The serving certificate last: if this fails, the next start makes another.
      return local.write(only(files, (name) => isOwn(name) || isAuthority(name)))
    },
  }
}

const only = (files: ReadonlyMap<string, string>, chosen: (name: string) => boolean): Map<string, string> =>
  new Map([...files].filter(([name]) => chosen(name)))

const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
