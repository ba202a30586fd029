/**
 * A mark in a store that some of its values may be encrypted: a server without keys does not start on it, instead of
 * finding out object by object. It is copied with the store, and taken off when nothing is encrypted any more.
 */
import { type Storage, StorageError } from '../storage/storage.ts'

export const encryptedMarker = '/borough/encryption/encrypted'

type Store = Pick<Storage, 'get' | 'commit'>

export async function isMarkedEncrypted(storage: Store): Promise<boolean> {
  return (await storage.get(encryptedMarker)).entry !== undefined
}

/** Durable when it resolves. */
export async function markEncrypted(storage: Store): Promise<void> {
  if (await isMarkedEncrypted(storage)) return
  const writes = [{ key: encryptedMarker, value: Buffer.from('{}'), expect: 'absent' as const }]
  // Another server that marks it at the same time has the same end.
  await storage.commit({ guards: [], writes }).done
}

export async function unmarkEncrypted(storage: Store): Promise<void> {
  const { entry } = await storage.get(encryptedMarker)
  if (entry === undefined) return
  const writes = [{ key: encryptedMarker, value: undefined, expect: entry.revision }]
  await storage.commit({ guards: [], writes }).done
}

/** @throws StorageError code=invalid; the message is one line for the operator */
export async function requireNoneEncrypted(storage: Store, name: string): Promise<void> {
  if (!(await isMarkedEncrypted(storage))) return
  throw new StorageError(
    'invalid',
    `${name} holds encrypted values: --encryption-provider-config <file> with their keys`,
  )
}
