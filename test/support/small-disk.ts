/** A small ext4 on a loop device, that can be filled to the last byte, and frozen: then no write or flush returns. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const run = (command: string, ...args: readonly string[]): void => {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
}

export class SmallDisk implements Disposable {
  readonly place: string
  readonly #image: string
  readonly #ballast: string
  #isFrozen = false

  private constructor(place: string, image: string) {
    this.place = place
    this.#image = image
    this.#ballast = join(place, 'ballast')
  }

  /** Why there can be none here; undefined: there can. */
  static missing(scratch: string): string | undefined {
    try {
      SmallDisk.mount(join(scratch, 'may-mount'), 8)[Symbol.dispose]()
      return undefined
    } catch (error) {
      const [why] = (error instanceof Error ? error.message : String(error)).split('\n')
      return `no ext4 can be mounted here (${why})`
    }
  }

  /** At a folder that it makes. Becomes read-only on errors. `inodes`: default as many as it takes. */
  static mount(place: string, mebibytes: number, inodes?: number): SmallDisk {
    const image = `${place}.image`
    run('truncate', '-s', `${mebibytes}M`, image)
    try {
      run('mkfs.ext4', '-q', '-m', '0', ...(inodes === undefined ? [] : ['-N', String(inodes)]), image)
      mkdirSync(place)
      run('mount', '-o', 'loop,errors=remount-ro', image, place)
    } catch (error) {
      rmSync(image, { force: true })
      rmSync(place, { recursive: true, force: true })
      throw error
    }
    return new SmallDisk(place, image)
  }

  /** Takes what is left, but for `left` bytes. */
  fill(left: number = 0): void {
    const piece = Buffer.alloc(64 * 1024)
    for (;;) {
      const { bavail, bsize } = statfsSync(this.place)
      const bytes = Math.min(piece.length, bavail * bsize - left)
      if (bytes <= 0) return
      try {
        writeFileSync(this.#ballast, piece.subarray(0, bytes), { flag: 'a' })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
        throw error
      }
    }
  }

  empty(): void {
    rmSync(this.#ballast, { force: true })
  }

  /** To the last inode. */
  useUpFiles(): void {
    for (let i = 0; ; i++) {
      try {
        writeFileSync(`${this.#ballast}-${i}`, '', { flag: 'wx' })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return
        throw error
      }
    }
  }

  remount(options: 'ro' | 'rw'): void {
    run('mount', '-o', `remount,${options}`, this.place)
  }

  /** As the kernel does it where it finds damage: read-only, under open files too. */
  breakDown(): void {
    const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
    const [device = ''] = mounts.find((line) => line.split(' ')[1] === this.place)?.split(' ') ?? []
    writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, '1')
  }

  freeze(): void {
    run('fsfreeze', '--freeze', this.place)
    this.#isFrozen = true
  }

  thaw(): void {
    if (!this.#isFrozen) return
    run('fsfreeze', '--unfreeze', this.place)
    this.#isFrozen = false
  }

  /** What uses it has ended. */
  [Symbol.dispose](): void {
    this.thaw()
    run('umount', this.place)
    rmSync(this.#image)
    rmSync(this.place, { recursive: true, force: true })
  }
}
