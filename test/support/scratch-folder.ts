/**
 * A folder for everything that tests write, gone when the run ends.
 *
 * It lies in memory where the machine has room for that: hundreds of stores are opened, each flushes every commit, and
 * how long a shared disk takes for a flush would decide how long tests take. What must hold of flushes is tested by
 * looking at the system calls (test/crash/durability.test.ts), which are the same.
 */
import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
/** Far above what the suite holds at a time. */
const wantedBytes = 4 * 1024 ** 3
const prefix = 'borough-tests-'

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= wantedBytes
  } catch {
    return false
  }
}

/** Named by the process that made it, so that the folder of a run that was killed is known for what it is. */
const parent: string = hasRoom() ? memory : tmpdir()
export const scratchFolder: string = join(parent, `${prefix}${process.pid}`)

export default function setup(): () => void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN
    if (Number.isInteger(pid) && !lives(pid)) removeLeftover(join(parent, name))
  }
  // Others may pass through, as through any folder for temporary files: some tests become somebody else.
  mkdirSync(scratchFolder, { mode: 0o711, recursive: true })
  return () => rmSync(scratchFolder, { recursive: true, force: true, maxRetries: 5 })
}

/** Of another run: where something of it still goes on, such as a mount, a later run removes it. */
function removeLeftover(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
