/** Whether a name is still that of the file that it was. */
import { statSync } from 'node:fs'

/** Of the file, not of its name; undefined: there is nothing of that name. */
export function inodeOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found && `${found.dev}:${found.ino}`
}
