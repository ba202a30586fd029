/**
 * Provider kms: values are encrypted with keys that are derived from a seed, and a KMS plugin encrypts the seed. The
 * plugin is asked at the start, once a minute, and when a value turns up whose seed is not known yet; never for a
 * write or a read of what is known. While it can't be asked, reads go on; writes end three minutes after it last said
 * which key it uses, as upstream.
 */
import { randomBytes } from 'node:crypto'
import type { Clock, Timer } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import { beginsWith, encryptedMark } from '../storage/encrypted-mark.ts'
import type { KmsSettings } from './configuration.ts'
import { type KmsCiphertext, KmsClient, KmsError } from './kms-client.ts'
import { decodeEnvelope, encodeEnvelope, openEnvelope, problemOf, sealWithSeed, seedBytes } from './kms-envelope.ts'
import { EncryptionError, type Provider } from './provider.ts'
import type { SeedRecords } from './seed-records.ts'

/** What it was encrypted with must be asked of the plugin first. */
export class UnknownSeedError extends EncryptionError {
  readonly provider: KmsProvider
  readonly source: KmsCiphertext
  constructor(provider: KmsProvider, source: KmsCiphertext) {
    super(`KMS provider ${provider.name} was not asked for what it is encrypted with`)
    this.provider = provider
    this.source = source
  }
}

export interface KmsProviderOptions {
  readonly settings: KmsSettings
  readonly records: SeedRecords
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
}

const pollMs = 60_000
/** As upstream: how long a seed may encrypt after the plugin was last found to use its key. */
const maxUnprovenMs = 3 * 60_000

interface Current {
  readonly source: KmsCiphertext
  readonly seed: Uint8Array
  readonly provenMs: number
}

export class KmsProvider implements Provider, Disposable {
  readonly name: string
  readonly prefix: string
  readonly #head: Buffer
  readonly #client: KmsClient
  readonly #records: SeedRecords
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #log: Log
  /** By what `idOf` says of the source. */
  readonly #seeds = new Map<string, Uint8Array>()
  #current: Current | undefined
  #problem: string | undefined
  #timer: Timer | undefined
  #isClosed = false

  constructor({ settings, records, clock, ids, log }: KmsProviderOptions) {
    this.name = settings.name
    this.prefix = `${encryptedMark}kms:v2:${settings.name}:`
    this.#head = Buffer.from(this.prefix)
    this.#client = new KmsClient(settings.endpoint, settings.timeoutMs)
    this.#records = records
    this.#clock = clock
    this.#ids = ids
    this.#log = log
  }

  /** Undefined: the plugin answered when it was last asked. One line. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** @throws EncryptionError where the plugin can't be asked */
  async start(): Promise<void> {
    for (const source of await this.#records.of(this.name)) {
      try {
        await this.learn(source)
      } catch (error) {
        if (mayAnswerLater(error)) throw error
        // A key that the plugin has no more: what it encrypted is unreadable, and nothing else.
        this.#log.warn({ error, provider: this.name }, 'a KMS key can not be used any more')
      }
    }
    await this.#renew()
    if (this.#problem !== undefined) throw new EncryptionError(this.#problem)
    this.#planNext()
  }

  seal(key: string, value: Uint8Array): Uint8Array {
    const current = this.#current
    if (current === undefined || this.#clock.monotonic() - current.provenMs > maxUnprovenMs) {
      throw new EncryptionError(this.#problem ?? `KMS provider ${this.name} has no key`)
    }
    return encodeEnvelope(sealWithSeed(current.seed, key, value), current.source, this.#head)
  }

  open(key: string, stored: Uint8Array): Uint8Array {
    const envelope = decodeEnvelope(stored.subarray(this.#head.byteLength))
    const seed = this.#seeds.get(idOf(envelope.source))
    if (seed === undefined) throw new UnknownSeedError(this, copyOf(envelope.source))
    return openEnvelope(envelope, seed, key)
  }

  isStale(stored: Uint8Array): boolean {
    if (!beginsWith(stored, this.#head) || this.#current === undefined) return true
    const { source, isSeed } = decodeEnvelope(stored.subarray(this.#head.byteLength))
    return !isSeed || source.keyId !== this.#current.source.keyId
  }

  /** Has the plugin decrypt a seed. @throws EncryptionError */
  async learn(source: KmsCiphertext): Promise<Uint8Array> {
    const id = idOf(source)
    const known = this.#seeds.get(id)
    if (known !== undefined) return known
    try {
      const seed = await this.#client.decrypt(source, this.#ids.uid())
      this.#seeds.set(id, seed)
      return seed
    } catch (cause) {
      throw this.#failure(cause)
    }
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#client.close()
  }

  #planNext(): void {
    if (this.#isClosed) return
    this.#timer = this.#clock.after(pollMs, () => void this.#renew().finally(() => this.#planNext()))
  }

  /** Finds out which key the plugin uses now; another one gets a seed of its own. */
  async #renew(): Promise<void> {
    try {
      const { version, healthz, keyId } = await this.#client.status()
      if (version !== 'v2') throw new EncryptionError(`KMS provider ${this.name} speaks version ${version}, not v2`)
      if (healthz !== 'ok') throw new EncryptionError(`KMS provider ${this.name} is not healthy: ${healthz}`)
      const provenMs = this.#clock.monotonic()
      const { source, seed } = this.#current?.source.keyId === keyId ? this.#current : await this.#seedFor(keyId)
      this.#current = { source, seed, provenMs }
      this.#problem = undefined
    } catch (error) {
      const { message } = this.#failure(error)
      if (this.#problem === undefined) this.#log.warn({ error, provider: this.name }, message)
      this.#problem = message
    }
  }

  async #seedFor(keyId: string): Promise<Pick<Current, 'source' | 'seed'>> {
    const found = await this.#records.find(this.name, keyId)
    if (found !== undefined) return { source: found, seed: await this.learn(found) }
    const seed = randomBytes(seedBytes)
    const made = await this.#client.encrypt(seed, this.#ids.uid())
    const problem = problemOf(made)
    if (problem !== undefined) throw new EncryptionError(`KMS provider ${this.name}: ${problem}`)
    if (made.keyId !== keyId) {
      throw new EncryptionError(`KMS provider ${this.name} encrypts with another key than it says`)
    }
    const source = await this.#records.keep(this.name, made)
    if (idOf(source) !== idOf(made)) return { source, seed: await this.learn(source) }
    this.#seeds.set(idOf(source), seed)
    return { source, seed }
  }

  #failure(cause: unknown): EncryptionError {
    if (cause instanceof EncryptionError) return cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    return new EncryptionError(`KMS provider ${this.name}: ${reason}`, { cause })
  }
}

/** The plugin was not reached: what failed may succeed another time. */
export const mayAnswerLater = (error: unknown): error is EncryptionError =>
  error instanceof EncryptionError && error.cause instanceof KmsError && error.cause.isPassing

function idOf({ ciphertext, keyId, annotations }: KmsCiphertext): string {
  const parts = [keyId, Buffer.from(ciphertext.buffer, ciphertext.byteOffset, ciphertext.byteLength).toString('base64')]
  for (const [name, value] of [...annotations].sort(([a], [b]) => (a < b ? -1 : 1))) {
    parts.push(name, Buffer.from(value).toString('base64'))
  }
  return JSON.stringify(parts)
}

/** Apart from the value that it came with. */
const copyOf = ({ ciphertext, keyId, annotations }: KmsCiphertext): KmsCiphertext => ({
  keyId,
  ciphertext: Uint8Array.from(ciphertext),
  annotations,
})
