/**
 * Who a server is among those on one store: the same after a restart on the same data directory. The directory is
 * locked, so a replica that finds its own name on a lease knows that its holder is gone, and need not wait for the
 * lease to lapse.
 */
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Ids } from '../base/ids.ts'
import { isUnwritable, listPrivateDirectory, readPrivateFile, writePrivateFile } from '../base/private-files.ts'

const fileName = 'replica-id'

/**
 * Made when it is first asked for. Without a directory, or in one that can't be written: another one each time.
 * @throws PrivateFileError
 */
export async function replicaId(dataDir: string | undefined, ids: Ids): Promise<string> {
  return `${hostname()}_${dataDir === undefined ? ids.uid() : await keepId(dataDir, ids)}`
}

async function keepId(dataDir: string, ids: Ids): Promise<string> {
  const path = join(dataDir, fileName)
  if ((await listPrivateDirectory(dataDir)).includes(fileName)) return (await readPrivateFile(path)).trim()
  const made = ids.uid()
  try {
    await writePrivateFile(path, `${made}\n`)
  } catch (error) {
    // To wait for a lease to lapse after the next start is better than none.
    if (!isUnwritable(error)) throw error
  }
  return made
}
