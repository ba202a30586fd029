/**
 * Files that an operator keeps secrets in, and that other users of the machine must not read: tokens, passwords,
 * private keys. A group may: that is how a mounted Secret reaches a process that is not root.
 */
import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { mostSettingsBytes, readBounded } from './bounded-file.ts'
import { shellWord } from './shell-text.ts'

/** The message is one line for the operator: which file, and what to do. */
export class OpenSecretError extends Error {
  override readonly name = 'OpenSecretError'
}

/**
 * What the file holds. Checks what was opened, not what the path names a moment later.
 * @throws OpenSecretError, OversizedFileError, and as fs
 */
export async function readSecretFile(path: string, mostBytes: number = mostSettingsBytes): Promise<Buffer> {
  const file = await open(path)
  try {
    refuseOpen(path, (await file.stat()).mode)
    return await readBounded(file.createReadStream({ end: mostBytes, autoClose: false }), mostBytes)
  } finally {
    await file.close()
  }
}

/** For a file that a library reads. @throws OpenSecretError, and as fs */
export const checkSecretFile = (path: string): void => refuseOpen(path, statSync(path).mode)

function refuseOpen(path: string, mode: number): void {
  // Windows has no such modes.
  if (process.platform === 'win32' || (mode & 0o007) === 0) return
  const shown = (mode & 0o777).toString(8)
  const remedy = `chmod o= ${shellWord(path)}`
  throw new OpenSecretError(`${path} holds a secret and is open to every user (mode ${shown}): run: ${remedy}`)
}
