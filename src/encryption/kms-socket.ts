/**
 * Whether the socket of a KMS plugin can be another's than the operator's. Who answers on it is told the seeds that
 * values are encrypted with.
 */
import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { shellWord } from '../base/shell-text.ts'

const othersMayWrite = 0o002
const sticky = 0o1000

/**
 * Symbolic links are followed, as in the path of any file that the operator names.
 *
 * @throws Error: one line; and as fs
 */
export async function checkKmsSocket(path: string): Promise<void> {
  // An abstract socket, or one of Windows, has no owner.
  if (path.startsWith('\0') || process.platform === 'win32') return
  const place = await realpath(path)
  const socket = await stat(place)
  if (!socket.isSocket()) throw new Error(`${path} is no socket`)
  const folder = dirname(place)
  const { mode } = await stat(folder)
  if ((mode & othersMayWrite) === 0) return
  // With the sticky bit no other user can have put a socket in the place of one of root or of this process.
  const isTrusted = socket.uid === 0 || socket.uid === process.getuid?.()
  if ((mode & sticky) !== 0 && isTrusted) return
  throw new Error(
    `every user may put a socket into ${folder}, so ${path} may be anyone's: run: chmod o-w ${shellWord(folder)}`,
  )
}
