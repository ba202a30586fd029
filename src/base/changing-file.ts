/** A file that its operator may replace while the server runs. */
import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'

/** Another text whenever the file has been replaced or written to, or its mode has changed. */
export const fileVersion = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${ino} ${size} ${mtimeNs} ${ctimeNs}`

/** What the operating system says of a file that can't be read: `ENOENT`, `EACCES`, ... */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError'
  readonly code: string

  constructor(path: string, code: string, cause: unknown) {
    super(`can't read ${path} (${code})`, { cause })
    this.code = code
  }
}

/** One reader at a time. */
export class ChangingFile<T> {
  readonly #path: string
  readonly #read: (path: string) => Promise<T>
  #version = ''

  constructor(path: string, read: (path: string) => Promise<T>) {
    this.#path = path
    this.#read = read
  }

  /**
   * Undefined where nothing has changed since the last call, or the file is as unreadable as it was then: each fault is
   * told once. @throws UnreadableFileError, and what `read` refuses
   */
  async readChanged(): Promise<T | undefined> {
    let version = ''
    try {
      version = fileVersion(await stat(this.#path, { bigint: true }))
      if (version === this.#version) return undefined
      const content = await this.#read(this.#path)
      this.#version = version
      return content
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
      // What is refused is refused until the file changes.
      const known = code === undefined ? version : `unreadable ${code}`
      if (this.#version === known) return undefined
      this.#version = known
      throw code === undefined ? error : new UnreadableFileError(this.#path, code, error)
    }
  }
}
