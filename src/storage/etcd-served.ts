/**
 * That a server has served an etcd, remembered in its data directory: an etcd that has lost everything looks like a new
 * one, and with the keys of the directory it would be served as if nothing had ever been there. So it is with one that
 * was restored to an earlier time: what was acknowledged since is missing, and nothing else tells.
 *
 *   <the etcd>
 *   <the revision that it had come to, a minute ago or less>
 */
import { join } from 'node:path'
import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { isUnwritable, listPrivateDirectory, readPrivateFile, writePrivateFile } from '../base/private-files.ts'
import { prefixSpan, type Revision, type Storage, StorageError } from './storage.ts'

const fileName = 'etcd-served'
/** Between two notes of how far it has come. */
const noteMs = 60_000
/** What every server makes before it answers. */
const objects = prefixSpan('/registry/')

/** `name`: of the etcd, for the operator. @throws StorageError code=corrupt, PrivateFileError */
export async function requireServed(storage: Storage, dataDir: string, name: string): Promise<void> {
  if (!(await listPrivateDirectory(dataDir)).includes(fileName)) return
  const [served = '', noted = ''] = (await readPrivateFile(join(dataDir, fileName))).split('\n')
  const { entries, revision } = await storage.range(objects, { limit: 1 })
  // Revisions of another one tell nothing.
  if (entries.length > 0) return served === name ? requireNotBehind(revision, Number(noted), dataDir, name) : undefined
  throw new StorageError(
    'corrupt',
    `${name} holds nothing, but ${dataDir} has served ${served}. Has it lost its data, or is it another one? ` +
      'Restore a snapshot or a backup, or begin an empty store with --accept-loss',
  )
}

/** One that can't be read tells nothing. */
function requireNotBehind(revision: Revision, noted: Revision, dataDir: string, name: string): void {
  if (!(noted > revision)) return
  throw new StorageError(
    'corrupt',
    `${name} ends at revision ${revision}, and ${dataDir} has served it up to ${noted}: what was written between is ` +
      'missing, as after a restore from a snapshot, or where it was filled anew. ' +
      'Serve what is left with --accept-loss, once',
  )
}

/** Before a client is answered. A directory that can't be written is left as it is. @throws PrivateFileError */
export async function rememberServed(dataDir: string, name: string, revision: Revision): Promise<void> {
  const text = `${name}\n${revision}\n`
  const path = join(dataDir, fileName)
  const isThere = (await listPrivateDirectory(dataDir)).includes(fileName)
  if (isThere && (await readPrivateFile(path)) === text) return
  try {
    await writePrivateFile(path, text)
  } catch (error) {
    if (!isUnwritable(error)) throw error
  }
}

export interface ServedPlace {
  readonly dataDir: string
  readonly name: string
  /** How far it has come. */
  readonly revision: () => Revision
  readonly clock: Clock
  readonly log: Log
}

/** Goes on noting how far the etcd has come, until the end. */
export class ServedNotes implements AsyncDisposable {
  readonly #place: ServedPlace
  readonly #stop = new AbortController()
  readonly #running: Promise<void>

  constructor(place: ServedPlace) {
    this.#place = place
    this.#running = this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock } = this.#place
    while (!this.#stop.signal.aborted) {
      await sleep(clock, noteMs, this.#stop.signal)
      await this.#note()
    }
  }

  async #note(): Promise<void> {
    const { dataDir, name, revision, log } = this.#place
    try {
      await rememberServed(dataDir, name, revision())
    } catch (error) {
      log.warn({ error }, 'how far etcd has come could not be noted; it is tried again')
    }
  }
}
