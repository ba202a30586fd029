/**
 * Where keys and certificates lie: a directory that only its owner may read, or memory. `shared-pki.ts` has a third.
 */
import { watch } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../base/log.ts'
import {
  ensurePrivateDirectory,
  isUnwritable,
  listPrivateDirectory,
  readPrivateFile,
  writePrivateFiles,
} from '../base/private-files.ts'

/** Named PEM texts. */
export interface PkiStore {
  /** For messages: the directory. */
  readonly place: string
  read(): Promise<ReadonlyMap<string, string>>
  /** Adds or replaces. False: another process was faster and nothing is written; what is there must be read again. */
  write(files: ReadonlyMap<string, string>): Promise<boolean>
  /**
   * At once, and whenever something may have changed, until the signal aborts; absent where no other process writes.
   */
  changes?(signal: AbortSignal): AsyncIterable<unknown>
}

export function directoryPkiStore(directory: string): PkiStore {
  return {
    place: directory,
    async read() {
      const names = (await listPrivateDirectory(directory)).filter((name) => /^[\w-]+\.(key|crt)$/.test(name))
      const texts = await Promise.all(names.map((name) => readPrivateFile(join(directory, name))))
      return new Map(names.map((name, i) => [name, texts[i] ?? '']))
    },
    async write(files) {
      await ensurePrivateDirectory(directory)
      // Keys first: a process killed in between leaves a key without a certificate, which the next start completes.
      const isKey = ([name]: [string, string]): boolean => name.endsWith('.key')
      await writePrivateFiles(directory, new Map([...files].filter(isKey)))
      await writePrivateFiles(directory, new Map([...files].filter((file) => !isKey(file))))
      return true
    },
    async *changes(signal) {
      let next = Promise.withResolvers<void>()
      const watcher = watch(directory, { persistent: false }, () => next.resolve())
      let failure: Error | undefined
      watcher.on('error', (error) => {
        failure = error
        next.resolve()
      })
      const stop = (): void => next.resolve()
      signal.addEventListener('abort', stop, { once: true })
      try {
        while (!signal.aborted) {
          yield
          await next.promise
          if (failure) throw failure
          next = Promise.withResolvers()
        }
      } finally {
        signal.removeEventListener('abort', stop)
        watcher.close()
      }
    },
  }
}

/**
 * Where a directory can't be written, a serving certificate made anew is kept in memory: clients trust the authority
 * that signed it. No other key may be: it would be another one after a restart.
 */
export function withServingKept(store: PkiStore, log: Log): PkiStore {
  const kept = new Map<string, string>()
  return {
    ...store,
    read: async () => new Map([...(await store.read()), ...kept]),
    async write(files) {
      try {
        return await store.write(files)
      } catch (error) {
        if (!isUnwritable(error) || ![...files.keys()].every((name) => name.startsWith('server.'))) throw error
        log.warn({ error }, 'the new serving certificate is used and not kept: the next start makes another')
        for (const [name, text] of files) kept.set(name, text)
        return true
      }
    },
  }
}

export function memoryPkiStore(): PkiStore {
  const kept = new Map<string, string>()
  return {
    place: 'memory',
    read: async () => new Map(kept),
    async write(files) {
      for (const [name, text] of files) kept.set(name, text)
      return true
    },
  }
}
