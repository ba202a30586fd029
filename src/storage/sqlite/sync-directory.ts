/** Names of new files are durable afterwards. */
import { closeSync, fsyncSync, openSync } from 'node:fs'

export function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
