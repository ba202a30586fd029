/**
 * Programs under strace: what they ask of the system, and what happens when the system says no.
 */
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Why strace can not be used here; undefined if it can. */
export function strace(): string | undefined {
  const trial = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'], { encoding: 'utf8' })
  if (trial.error) return 'strace is not installed'
  if (trial.status !== 0) return `strace may not trace here: ${trial.stderr.trim()}`
  return undefined
}

export interface Traced {
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program of this folder with Node under strace. */
export async function runTraced(options: readonly string[], program: string, args: readonly string[]): Promise<Traced> {
  const command = [process.execPath, join(import.meta.dirname, program), ...args]
  return promisify(execFile)('strace', ['-f', '-y', '-s', '32', ...options, ...command], {
    maxBuffer: 64 * 1024 * 1024,
  })
}
