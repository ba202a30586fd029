/** `disk-shim.c`, compiled by the system's compiler where there is one. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const source = join(import.meta.dirname, 'disk-shim.c')

export interface ShimOptions {
  /** Files below are the shim's. */
  readonly root: string
  /** What the disk holds of them. */
  readonly image?: string
  /** Before which call that changes a file, or with `reads`, reads one. */
  readonly killAt?: number
  readonly reads?: boolean
  readonly countFile?: string
  /** Holds by how many seconds the wall clock is set. */
  readonly clockFile?: string
  readonly fail?: {
    readonly call: 'fsync' | 'write' | 'read' | 'open'
    /** By default EIO. */
    readonly errno?: number
    /** A part of the path; before a `$`, the end of it. */
    readonly file?: string
    readonly from?: number
    readonly times?: number
    /** Only while this file exists. */
    readonly trigger?: string
  }
}

export class DiskShim implements Disposable {
  readonly #folder: string
  readonly #library: string

  private constructor(folder: string, library: string) {
    this.#folder = folder
    this.#library = library
  }

  /** The reason where there is none. */
  static make(): DiskShim | string {
    if (process.platform !== 'linux') return 'it needs Linux'
    const folder = mkdtempSync(join(tmpdir(), 'borough-shim-'))
    const library = join(folder, 'disk-shim.so')
    const compiled = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-lpthread'])
    if (compiled.status === 0) return new DiskShim(folder, library)
    rmSync(folder, { recursive: true })
    return compiled.error ? 'there is no C compiler (cc)' : `cc: ${compiled.stderr.toString().slice(0, 300)}`
  }

  /** Of a process that has this disk. */
  environment({ root, image, killAt, reads, countFile, clockFile, fail }: ShimOptions): Record<string, string> {
    if (image !== undefined) mkdirSync(image, { recursive: true })
    const named: Record<string, string | number | undefined> = {
      LD_PRELOAD: this.#library,
      SHIM_ROOT: root,
      SHIM_IMAGE: image,
      SHIM_KILL_AT: killAt,
      SHIM_READS: reads === true ? 1 : undefined,
      SHIM_COUNT: countFile,
      SHIM_CLOCK: clockFile,
      SHIM_FAIL: fail?.call,
      SHIM_ERRNO: fail?.errno,
      SHIM_FAIL_FILE: fail?.file,
      SHIM_FAIL_FROM: fail?.from,
      SHIM_FAIL_TIMES: fail?.times,
      SHIM_TRIGGER: fail?.trigger,
    }
    const told = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
    return Object.fromEntries(told) as Record<string, string>
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
