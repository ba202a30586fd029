/**
 * Whether stored values can be decrypted, for commands that look at a store: with what each was encrypted, as it says
 * itself, and why it can't be opened. A KMS plugin that is away is asked once, however many values wait for it.
 */
import { encryptedMark, isEncrypted } from '../storage/encrypted-mark.ts'
import type { Entry } from '../storage/storage.ts'
import { onOneLine } from './kms-client.ts'
import { decodeEnvelope } from './kms-envelope.ts'
import { type KmsProvider, mayAnswerLater, UnknownSeedError } from './kms-provider.ts'
import { EncryptionError } from './provider.ts'

/** What the first bytes of a value say. */
export interface EncryptedWith {
  /** `aesgcm`, `aescbc`, `kms`. */
  readonly provider: string
  /** Of the key; of kms that of the provider. */
  readonly name: string
  /** Of kms: of the plugin's key, where the envelope can be read. */
  readonly keyId?: string
}

export interface Unopened {
  /** undefined: it is in clear, where the configuration has no identity. */
  readonly encryptedWith: EncryptedWith | undefined
  /** One line. */
  readonly reason: string
  /**
   * What would open it: `key`, none that is configured does; `plugin`, its KMS plugin is away or not well; `identity`,
   * that provider, since the value is in clear.
   */
  readonly needs: 'key' | 'plugin' | 'identity'
}

const headPattern = new RegExp(`^${encryptedMark}([a-z]+):v\\d+:([^:]*):`)
/** More than the longest head. */
const headBytes = 512

/** undefined: it is in clear. */
export function encryptedWith(stored: Uint8Array): EncryptedWith | undefined {
  if (!isEncrypted(stored)) return undefined
  const head = Buffer.from(stored.buffer, stored.byteOffset, Math.min(stored.byteLength, headBytes)).toString('latin1')
  const [whole = '', provider = 'unknown', name = ''] = headPattern.exec(head) ?? []
  const named = { provider, name: onOneLine(name) }
  if (provider !== 'kms') return named
  try {
    return { ...named, keyId: onOneLine(decodeEnvelope(stored.subarray(whole.length)).source.keyId) }
  } catch (error) {
    if (!(error instanceof EncryptionError)) throw error
    return named
  }
}

/** Of `Encryption`: throws UnknownSeedError where a plugin must be asked. */
interface Opening {
  open(key: string, stored: Uint8Array): unknown
}

export class ValueOpener {
  readonly #encryption: Opening
  /** Why each could not be asked. */
  readonly #away = new Map<KmsProvider, string>()

  constructor(encryption: Opening) {
    this.#encryption = encryption
  }

  /** Of a value that is as it was written. undefined: it can be opened. */
  async whyUnopened({ key, value }: Pick<Entry, 'key' | 'value'>): Promise<Unopened | undefined> {
    try {
      this.#encryption.open(key, value)
      return undefined
    } catch (error) {
      return error instanceof UnknownSeedError ? this.#ask(error, key, value) : unopened(value, error)
    }
  }

  async #ask({ provider, source }: UnknownSeedError, key: string, value: Uint8Array): Promise<Unopened | undefined> {
    const known = this.#away.get(provider)
    if (known !== undefined) return { encryptedWith: encryptedWith(value), reason: known, needs: 'plugin' }
    try {
      await provider.learn(source)
      this.#encryption.open(key, value)
      return undefined
    } catch (error) {
      const found = unopened(value, error)
      if (found.needs === 'plugin') this.#away.set(provider, found.reason)
      return found
    }
  }
}

function unopened(value: Uint8Array, error: unknown): Unopened {
  if (!(error instanceof EncryptionError)) throw error
  const made = encryptedWith(value)
  const needs = mayAnswerLater(error) ? 'plugin' : made === undefined ? 'identity' : 'key'
  return { encryptedWith: made, reason: error.message, needs }
}
