/** The thread of the writer. */
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { WriterOptions } from './messages.ts'

type Options = Pick<WriterOptions, 'directory'> & Partial<WriterOptions>

export function startWriter({
  directory,
  madePath,
  maxFileBytes = 0,
  reserveBytes = 0,
  lockTimeoutMs = 5000,
  acceptLoss = false,
}: Options): Worker {
  const made = madePath === undefined ? {} : { madePath }
  const workerData: WriterOptions = { directory, ...made, maxFileBytes, reserveBytes, lockTimeoutMs, acceptLoss }
  // The same file runs as TypeScript from the sources and as JavaScript from the build.
  const file = new URL(`./writer${extname(fileURLToPath(import.meta.url))}`, import.meta.url)
  return new Worker(file, { workerData, name: 'storage-writer', execArgv: [] })
}
