/**
 * Provider kms: values are encrypted with keys that are derived from a seed, and a KMS plugin encrypts the seed. The
 * plugin is asked at the start, once a minute, and when a value turns up whose seed is not known yet; never for a
 * write or a read of what is known. While it can't be asked, reads go on; writes end three minutes after it last said
 * which key it uses, as upstream.
 *
 * It is not believed: what it can't decrypt to what it encrypted is never written with, at the first use and at each
 * start, since values would be lost.
 */
import { randomBytes } from 'node:crypto'
import type { Clock, Timer } from '../base/clock.ts'
import type { Ids } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import { beginsWith, encryptedMark } from '../storage/encrypted-mark.ts'
import type { KmsSettings } from './configuration.ts'
import { codeInternal, type KmsCiphertext, KmsClient, KmsError, onOneLine, seedBytes } from './kms-client.ts'
import { decodeEnvelope, encodeEnvelope, keyIdProblem, openEnvelope, problemOf, sealWithSeed } from './kms-envelope.ts'
import { EncryptionError, type Provider } from './provider.ts'
import type { SeedRecord, SeedRecords } from './seed-records.ts'

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
/** While it is not well, as upstream. */
const retryMs = 10_000
/** As upstream: how long a seed may encrypt after the plugin was last found to use its key. */
const maxUnprovenMs = 3 * 60_000

interface KnownSeed {
  readonly seed: Uint8Array
  /** It decrypted something. */
  isProven: boolean
}

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
  readonly #seeds = new Map<string, KnownSeed>()
  readonly #asked = new Map<string, Promise<Uint8Array>>()
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
    const id = idOf(envelope.source)
    const known = this.#seeds.get(id)
    if (known === undefined) throw new UnknownSeedError(this, copyOf(envelope.source))
    try {
      const value = openEnvelope(envelope, known.seed, key)
      known.isProven = true
      return value
    } catch (error) {
      // The plugin may have said something else than it should: asked again, another time.
      if (!known.isProven) this.#seeds.delete(id)
      throw error
    }
  }

  isStale(stored: Uint8Array): boolean {
    if (!beginsWith(stored, this.#head) || this.#current === undefined) return true
    const { source, isSeed } = decodeEnvelope(stored.subarray(this.#head.byteLength))
    return !isSeed || source.keyId !== this.#current.source.keyId
  }

  /** Has the plugin decrypt a seed; once for all who ask at a time. @throws EncryptionError */
  learn(source: SeedRecord): Promise<Uint8Array> {
    const id = idOf(source)
    const known = this.#seeds.get(id)
    if (known !== undefined && (known.isProven || source.check === undefined)) return Promise.resolve(known.seed)
    // A call with a check does not wait for one without.
    const question = source.check === undefined ? id : `checked ${id}`
    const asked = this.#asked.get(question) ?? this.#ask(id, source).finally(() => this.#asked.delete(question))
    this.#asked.set(question, asked)
    return asked
  }

  async #ask(id: string, source: SeedRecord): Promise<Uint8Array> {
    try {
      const seed = await this.#client.decrypt(source, this.#ids.uid())
      if (source.check !== undefined) checkSeed(seed, source.check)
      this.#seeds.set(id, { seed, isProven: source.check !== undefined })
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
    const inMs = this.#problem === undefined ? pollMs : retryMs
    this.#timer = this.#clock.after(inMs, () => void this.#renew().finally(() => this.#planNext()))
  }

  /** Finds out which key the plugin uses now; another one gets a seed of its own. */
  async #renew(): Promise<void> {
    try {
      const { version, healthz, keyId } = await this.#client.status()
      if (version !== 'v2')
        throw new EncryptionError(`KMS provider ${this.name} speaks version ${onOneLine(version)}, not v2`)
      if (healthz !== 'ok') throw new EncryptionError(`KMS provider ${this.name} is not healthy: ${onOneLine(healthz)}`)
      const problem = keyIdProblem(keyId)
      if (problem !== undefined) throw new EncryptionError(`KMS provider ${this.name}: ${problem}`)
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
    if (!seed.equals(await this.#client.decrypt(made, this.#ids.uid()))) {
      throw new EncryptionError(`KMS provider ${this.name} decrypts to something else than it encrypted`)
    }
    const check = sealWithSeed(seed, checkPlace, checkText)
    const source = await this.#records.keep(this.name, { ...made, check })
    if (idOf(source) !== idOf(made)) return { source, seed: await this.learn(source) }
    this.#seeds.set(idOf(source), { seed, isProven: true })
    return { source, seed }
  }

  #failure(cause: unknown): EncryptionError {
    if (cause instanceof EncryptionError) return cause
    const reason = cause instanceof Error ? cause.message : String(cause)
    return new EncryptionError(`KMS provider ${this.name}: ${reason}`, { cause })
  }
}

/** What a record of a seed has beside it. */
const checkPlace = 'a seed of a KMS provider'
const checkText: Uint8Array = Buffer.from('borough')

/** @throws KmsError */
function checkSeed(seed: Uint8Array, check: Uint8Array): void {
  try {
    openEnvelope({ data: check, isSeed: true }, seed, checkPlace)
  } catch (cause) {
    throw new KmsError(codeInternal, 'Decrypt: the plaintext is not what was encrypted', { cause })
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
