/**
 * That a server has served an etcd, remembered in its data directory: an etcd that has lost everything looks like a new
 * one, and with the keys of the directory it would be served as if nothing had ever been there.
 */
import { join } from 'node:path'
import { isUnwritable, listPrivateDirectory, readPrivateFile, writePrivateFile } from '../base/private-files.ts'
import { prefixSpan, type Storage, StorageError } from './storage.ts'

const fileName = 'etcd-served'
/** What every server makes before it answers. */
const objects = prefixSpan('/registry/')

/** `name`: of the etcd, for the operator. @throws StorageError code=corrupt, PrivateFileError */
export async function requireServed(storage: Storage, dataDir: string, name: string): Promise<void> {
  if (!(await listPrivateDirectory(dataDir)).includes(fileName)) return
  const { entries } = await storage.range(objects, { limit: 1 })
  if (entries.length > 0) return
  const served = (await readPrivateFile(join(dataDir, fileName))).trim()
  throw new StorageError(
    'corrupt',
    `${name} holds nothing, but ${dataDir} has served ${served}. Has it lost its data, or is it another one? ` +
      'Restore a snapshot or a backup, or begin an empty store with --accept-loss',
  )
}

/** Before a client is answered. A directory that can't be written is left as it is. @throws PrivateFileError */
export async function rememberServed(dataDir: string, name: string): Promise<void> {
  const text = `${name}\n`
  const path = join(dataDir, fileName)
  const isThere = (await listPrivateDirectory(dataDir)).includes(fileName)
  if (isThere && (await readPrivateFile(path)) === text) return
  try {
    await writePrivateFile(path, text)
  } catch (error) {
    if (!isUnwritable(error)) throw error
  }
}
