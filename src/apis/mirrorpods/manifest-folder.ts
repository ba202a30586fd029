/**
 * Manifests in the files of a folder (or in one file), looked at every second. Files whose names begin with a dot and
 * folders inside are none of its business, as with a kubelet.
 *
 * A file may be half written at any moment. So it is read only when it has not changed for a while and did not change
 * while it was read; and what it held before stands until it can be read again or is gone.
 */
import { open, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileVersion } from '../../base/changing-file.ts'
import { type Clock, sleep } from '../../base/clock.ts'
import type { Pod } from '../pods/types.ts'
import { ManifestError, maxManifestBytes, podsIn } from './manifest.ts'
import { type FoundPod, type ManifestSource, type Manifests, problemOf } from './manifest-source.ts'

/** Writers of small files are faster than that. */
const settleMs = 300
const maxFiles = 1000

interface KnownFile {
  /** Of the file as it was read last. */
  version: string
  pods: readonly Pod[]
  problem?: string
}

export interface ManifestFolderOptions {
  readonly path: string
  readonly clock: Clock
  readonly pollMs?: number
}

export class ManifestFolder implements ManifestSource {
  readonly kind = 'file'
  readonly #path: string
  readonly #clock: Clock
  readonly #pollMs: number
  #files = new Map<string, KnownFile>()
  #problem: string | undefined
  #unsettled = false

  constructor({ path, clock, pollMs = 1000 }: ManifestFolderOptions) {
    this.#path = path
    this.#clock = clock
    this.#pollMs = pollMs
  }

  async run(found: (manifests: Manifests) => void, signal: AbortSignal): Promise<void> {
    let told: string | undefined
    while (!signal.aborted) {
      await this.#look()
      const manifests = this.#manifests()
      const state = JSON.stringify(manifests)
      if (state !== told) found(manifests)
      told = state
      await sleep(this.#clock, this.#unsettled ? Math.min(settleMs, this.#pollMs) : this.#pollMs, signal)
    }
  }

  #manifests(): Manifests {
    const pods: FoundPod[] = []
    const faults: { from: string; problem: string }[] = []
    if (this.#problem !== undefined) faults.push({ from: this.#path, problem: this.#problem })
    for (const [from, file] of this.#files) {
      for (const pod of file.pods) pods.push({ pod, from })
      if (file.problem !== undefined) faults.push({ from, problem: file.problem })
    }
    return { pods, faults }
  }

  async #look(): Promise<void> {
    this.#unsettled = false
    let names: readonly string[]
    try {
      names = await this.#names()
      this.#problem = undefined
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      this.#problem = code === 'ENOENT' ? 'there is no such file or folder' : problemOf(error)
      // Gone with all that was in it; otherwise it is still there, and so is what was read of it.
      if (code === 'ENOENT') this.#files.clear()
      return
    }
    if (names.length > maxFiles) {
      this.#problem = `it holds ${names.length} files: the first ${maxFiles} by name are read`
    }
    const before = this.#files
    this.#files = new Map()
    for (const path of names.slice(0, maxFiles)) {
      const known = await this.#read(path, before.get(path))
      if (known) this.#files.set(path, known)
    }
  }

  async #names(): Promise<readonly string[]> {
    if (!(await stat(this.#path)).isDirectory()) return [this.#path]
    const names = (await readdir(this.#path)).filter((name) => !basename(name).startsWith('.'))
    return names.sort().map((name) => join(this.#path, name))
  }

  /** undefined = it is not there any more, or nothing that can be read. */
  async #read(path: string, known: KnownFile | undefined): Promise<KnownFile | undefined> {
    try {
      const now = await stateOf(path)
      if (now === undefined) return undefined
      if (now.version === known?.version) return known
      const ageMs = this.#clock.now() - now.changedMs
      if (ageMs >= 0 && ageMs < settleMs) {
        this.#unsettled = true
        return known
      }
      const pods = await podsOfFile(path)
      if ((await stateOf(path))?.version !== now.version) {
        this.#unsettled = true
        return known
      }
      if (pods instanceof ManifestError) return { version: now.version, pods: known?.pods ?? [], problem: pods.message }
      return { version: now.version, pods }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      return { version: '', pods: known?.pods ?? [], problem: problemOf(error) }
    }
  }
}

async function stateOf(path: string): Promise<{ readonly version: string; readonly changedMs: number } | undefined> {
  const state = await stat(path, { bigint: true })
  // A pipe would never end.
  if (!state.isFile()) return undefined
  const { mtimeNs, ctimeNs } = state
  return {
    version: fileVersion(state),
    changedMs: Number(mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1e6,
  }
}

/** What is wrong with it is an answer; that it can't be read is not. */
async function podsOfFile(path: string): Promise<readonly Pod[] | ManifestError> {
  const file = await open(path)
  try {
    const buffer = new Uint8Array(maxManifestBytes + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length)
      length += bytesRead
      if (bytesRead === 0 || length === buffer.length) break
    }
    if (length > maxManifestBytes) return tooLarge()
    return podsIn(buffer.subarray(0, length))
  } catch (error) {
    if (error instanceof ManifestError) return error
    throw error
  } finally {
    await file.close()
  }
}

export const tooLarge = (): ManifestError =>
  new ManifestError(`it is larger than ${maxManifestBytes / 1024 / 1024} MiB`)
