/**
 * Static tokens from a file: `token,user,uid[,"group1,group2"]`, one a line, CSV as upstream reads it. The file is read
 * again when it has changed; a file that has become unreadable, wrong or open to others changes nothing and is reported
 * once.
 *
 * Tokens are found by a keyed hash, so that the time a lookup takes says nothing about any token; the tokens themselves
 * are not kept, and appear in no error.
 *
 * @see k8s.io/apiserver/pkg/authentication/token/tokenfile/tokenfile.go v0.36 (which reads it at start only)
 */
import { createHmac, randomBytes } from 'node:crypto'
import { mostListBytes } from '../base/bounded-file.ts'
import { ChangingFile, UnreadableFileError } from '../base/changing-file.ts'
import type { Clock } from '../base/clock.ts'
import { textOfBytes } from '../base/header-bytes.ts'
import { OpenSecretError, readSecretFile } from '../base/secret-file.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Authenticator, Credentials } from './authn.ts'

/** The message is one line for the operator. */
export class TokenFileError extends Error {
  override readonly name = 'TokenFileError'
}

export interface TokenFileOptions {
  readonly clock: Clock
  /** A changed file could not be read; what was read before still holds. */
  readonly onReloadError: (error: TokenFileError) => void
}

/** How long a change of the file may go unnoticed. */
const checkEveryMs = 1000

export class TokenFileAuthenticator implements Authenticator {
  readonly #path: string
  readonly #options: TokenFileOptions
  readonly #hashKey = randomBytes(32)
  #users: ReadonlyMap<string, UserInfo> = new Map()
  readonly #file: ChangingFile<Buffer>
  #checkedAtMs = 0
  #checking: Promise<void> | undefined

  private constructor(path: string, options: TokenFileOptions) {
    this.#path = path
    this.#file = new ChangingFile(path, (file) => readSecretFile(file, mostListBytes))
    this.#options = options
  }

  /** @throws TokenFileError if the file can't be read or is malformed. */
  static async open(path: string, options: TokenFileOptions): Promise<TokenFileAuthenticator> {
    const file = new TokenFileAuthenticator(path, options)
    await file.#reload()
    return file
  }

  async authenticate(credentials: Credentials): Promise<UserInfo | undefined> {
    if (credentials.bearerToken === undefined) return undefined
    if (this.#options.clock.monotonic() - this.#checkedAtMs >= checkEveryMs) {
      this.#checking ??= this.#check().finally(() => {
        this.#checking = undefined
      })
      await this.#checking
    }
    return this.#users.get(this.#hash(credentials.bearerToken))
  }

  async #check(): Promise<void> {
    try {
      await this.#reload()
    } catch (error) {
      if (!(error instanceof TokenFileError)) throw error
      this.#options.onReloadError(error)
    }
  }

  async #reload(): Promise<void> {
    this.#checkedAtMs = this.#options.clock.monotonic()
    const bytes = await this.#readChanged()
    if (bytes === undefined) return
    const text = textOfBytes(bytes)
    if (text === undefined) throw new TokenFileError(`the token file ${this.#path} is not UTF-8`)
    this.#users = this.#parse(text)
  }

  async #readChanged(): Promise<Buffer | undefined> {
    try {
      return await this.#file.readChanged()
    } catch (error) {
      const isUnreadable = error instanceof UnreadableFileError
      if (!isUnreadable && !(error instanceof OpenSecretError)) throw error
      const message = isUnreadable ? `can't read the token file ${this.#path} (${error.code})` : error.message
      throw new TokenFileError(message, { cause: error })
    }
  }

  #parse(text: string): ReadonlyMap<string, UserInfo> {
    const users = new Map<string, UserInfo>()
    for (const { line, fields } of readCsv(text, this.#path)) {
      const [token, username, uid, groups] = fields
      if (!token || !username || uid === undefined) {
        throw new TokenFileError(`${this.#path}, line ${line}: expected token,user,uid[,"group1,group2"]`)
      }
      const digest = this.#hash(token)
      if (users.has(digest)) throw new TokenFileError(`${this.#path}, line ${line}: this token stands above already`)
      users.set(digest, {
        username,
        ...(uid === '' ? {} : { uid }),
        groups: groups === undefined || groups === '' ? [] : groups.split(','),
      })
    }
    return users
  }

  #hash(token: string): string {
    return createHmac('sha256', this.#hashKey).update(token).digest('base64')
  }
}

/** RFC 4180 records; blank lines are skipped. */
function* readCsv(text: string, path: string): Iterable<{ readonly line: number; readonly fields: readonly string[] }> {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
  let at = 0
  let line = 1
  while (at < text.length) {
    const fields: string[] = []
    const start = line
    for (let end = ','; end === ','; ) {
      field.lastIndex = at
      const match = field.exec(text)
      if (!match) throw new TokenFileError(`${path}, line ${line}: not CSV`)
      fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
      line += match[0].split('\n').length - 1
      at = field.lastIndex
      end = match[3] ?? ''
    }
    if (fields.length > 1 || fields[0] !== '') yield { line: start, fields }
  }
}
