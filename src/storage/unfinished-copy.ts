/**
 * A mark that a place is being filled by `borough restore` or `borough storage copy`: set before the first entry,
 * durable, and taken off when what was written has been verified. If the command is killed in between the mark stays,
 * and nothing serves the place, copies from it or backs it up: it holds a part, which nothing else would show.
 *
 * In a data directory it is a file, in an etcd a key.
 */

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJsonText } from '../base/parse-json-text.ts'
import { flushDirectory, listPrivateDirectory, readPrivateFile, writePrivateFile } from '../base/private-files.ts'
import type { Storage } from './storage.ts'

/** What is being copied, and since when (RFC 3339). */
export interface UnfinishedCopy {
  readonly from: string
  readonly since: string
}

/** The message is one line for the operator. */
export class UnfinishedCopyError extends Error {
  override readonly name = 'UnfinishedCopyError'

  constructor(place: string, { from, since }: UnfinishedCopy) {
    super(
      `${place} holds only a part: a copy of ${from} that began at ${since} was not finished. Empty it and copy again`,
    )
  }
}

export const unfinishedKey = '/borough/unfinished-copy'
const fileName = 'unfinished-copy'

/** @throws UnfinishedCopyError */
export async function checkDirectory(dataDir: string): Promise<void> {
  if (!(await listPrivateDirectory(dataDir)).includes(fileName)) return
  throw new UnfinishedCopyError(dataDir, parse(await readPrivateFile(join(dataDir, fileName))))
}

/** For what only looks: also where the modes are not those that a server wants. @throws UnfinishedCopyError */
export async function requireWhole(dataDir: string): Promise<void> {
  const text = await readFile(join(dataDir, fileName), 'utf8').catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? undefined : '',
  )
  if (text !== undefined) throw new UnfinishedCopyError(dataDir, parse(text))
}

export const markDirectory = (dataDir: string, copy: UnfinishedCopy): Promise<void> =>
  writePrivateFile(join(dataDir, fileName), `${JSON.stringify(copy)}\n`)

export async function unmarkDirectory(dataDir: string): Promise<void> {
  await rm(join(dataDir, fileName), { force: true })
  await flushDirectory(dataDir)
}

/** @throws UnfinishedCopyError */
export async function checkStore(storage: Storage, name: string): Promise<void> {
  const { entry } = await storage.get(unfinishedKey)
  if (entry) throw new UnfinishedCopyError(name, parse(Buffer.from(entry.value).toString('utf8')))
}

/** False: another process fills it. */
export async function markStore(storage: Storage, copy: UnfinishedCopy): Promise<boolean> {
  const value = Buffer.from(JSON.stringify(copy))
  return (await storage.commit({ guards: [], writes: [{ key: unfinishedKey, value, expect: 'absent' }] }).done).ok
}

export async function unmarkStore(storage: Storage): Promise<void> {
  const { entry } = await storage.get(unfinishedKey)
  if (!entry) return
  const writes = [{ key: unfinishedKey, value: undefined, expect: entry.revision }]
  await storage.commit({ guards: [], writes }).done
}

/** A mark that can't be read is one too. */
function parse(text: string): UnfinishedCopy {
  try {
    const { from, since } = parseJsonText(text) as Partial<UnfinishedCopy>
    return { from: from ?? 'something', since: since ?? 'some time' }
  } catch {
    return { from: 'something', since: 'some time' }
  }
}
