/**
 * Who vouches for clients by certificate: the server's own authority, and those of a file (`--client-ca-file`) that may
 * be replaced while the server runs.
 */
import type { X509Certificate } from 'node:crypto'
import { readBoundedFile } from '../base/bounded-file.ts'
import { authoritiesIn } from './certificates.ts'

export class ClientAuthorities {
  readonly #own: string
  readonly #path: string | undefined
  #pem: string
  #certificates: readonly X509Certificate[]

  private constructor(own: string, path: string | undefined) {
    this.#own = own
    this.#path = path
    this.#pem = own
    this.#certificates = authoritiesIn(own)
  }

  /** `own`: PEM. @throws Error, one line for the operator, for a file that can't be read or holds no certificate */
  static async open(own: string, path?: string): Promise<ClientAuthorities> {
    const authorities = new ClientAuthorities(own, path)
    await authorities.read()
    return authorities
  }

  get pem(): string {
    return this.#pem
  }

  /** Another array when they changed. */
  get certificates(): readonly X509Certificate[] {
    return this.#certificates
  }

  /** Answers whether they changed. @throws as `open`; what was read before still holds */
  async read(): Promise<boolean> {
    if (this.#path === undefined) return false
    let pem: string
    let certificates: readonly X509Certificate[]
    try {
      pem = `${this.#own}\n${(await readBoundedFile(this.#path)).toString().trim()}\n`
      certificates = [...authoritiesIn(this.#own), ...authoritiesIn(pem.slice(this.#own.length))]
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`--client-ca-file ${this.#path}: ${reason}`, { cause })
    }
    if (pem === this.#pem) return false
    this.#pem = pem
    this.#certificates = certificates
    return true
  }
}
