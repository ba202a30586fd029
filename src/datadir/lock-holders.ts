/** Which processes hold a lock on a file, where the system tells: on Linux, in `/proc/locks`. */
import { readFileSync, statSync } from 'node:fs'

/**
 * Ascending. Empty: not known, as elsewhere than on Linux, of processes in another container, and on a file system
 * whose files have another device there than here.
 */
export function lockHolders(path: string): readonly number[] {
  const file = fileOf(path)
  if (file === undefined) return []
  const pids = lines('/proc/locks').flatMap((line) => {
    // `1: POSIX  ADVISORY  WRITE 812 fe:00:2195724 0 EOF`; of a process that waits, with an arrow before its kind
    const [, , , , pid, held] = line.split(/ +/)
    return held === file ? [Number(pid)] : []
  })
  return [...new Set(pids)].filter((pid) => pid > 0).sort((a, b) => a - b)
}

function fileOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  if (found === undefined) return undefined
  const { dev, ino } = found
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
  return `${inHex(major)}:${inHex(minor)}:${ino}`
}

const inHex = (number: bigint): string => number.toString(16).padStart(2, '0')

function lines(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}
