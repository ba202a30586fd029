/**
 * Encryption at rest: what is handed to a store is encrypted as the operator's EncryptionConfiguration says, and what
 * comes from it is decrypted. What other folders see of this one. `encrypted-storage.ts` stands between the server and
 * an engine; `rules.ts` finds the providers of a key; `provider.ts` and `kms-provider.ts` are the providers.
 */
import { createHash } from 'node:crypto'
import type { Clock, Timer } from '../base/clock.ts'
import { type Ids, randomIds } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import { OpenSecretError, readSecretFile } from '../base/secret-file.ts'
import type { Storage } from '../storage/storage.ts'
import { EncryptionConfigurationError, type EncryptionEntry, parseEncryptionConfiguration } from './configuration.ts'
import { KmsProvider, UnknownSeedError } from './kms-provider.ts'
import { aesCbcProvider, aesGcmProvider, identityProvider, type Provider } from './provider.ts'
import { EncryptionRules } from './rules.ts'
import { SeedRecords } from './seed-records.ts'
import { type TransformationCount, TransformationCounts } from './transformation-counts.ts'

export { isEncrypted } from '../storage/encrypted-mark.ts'
export { EncryptionConfigurationError } from './configuration.ts'
export { encryptedMarker, markEncrypted } from './encrypted-marker.ts'
export { EncryptionError } from './provider.ts'
export { type Reencryption, reencrypt } from './reencrypt.ts'
export { nothingStored } from './seed-records.ts'
export type { TransformationCount } from './transformation-counts.ts'
export { type EncryptedWith, encryptedWith, type Unopened, ValueOpener } from './value-opener.ts'

/** Of `--encryption-provider-config`. */
export interface EncryptionChoice {
  readonly path: string
  /** The file is looked at once a minute. */
  readonly automaticReload: boolean
}

export interface EncryptionOptions {
  readonly choice: EncryptionChoice
  /** Below encryption: where seeds of KMS providers are kept. */
  readonly storage: Pick<Storage, 'get' | 'range' | 'commit'>
  readonly clock: Clock
  readonly ids?: Ids
  readonly log: Log
  /** Before rules that encrypt are used. */
  readonly beforeUse?: () => Promise<void>
  /** To decrypt only: a plugin is asked when a value needs it and not before, so it may be away. */
  readonly isForReading?: boolean
}

export interface Reloads {
  readonly status: 'success' | 'failure'
  readonly times: number
  /** In ms since 1970; 0: never. */
  readonly lastMs: number
}

interface Loaded extends Disposable {
  readonly rules: EncryptionRules
  readonly kms: readonly KmsProvider[]
  /** Of the file. */
  readonly digest: string
}

/** How often the file is looked at, as upstream. */
const reloadMs = 60_000
/** How long what is replaced may still finish what it began. */
const graceMs = 10_000

export class Encryption implements Disposable {
  readonly #options: EncryptionOptions
  readonly #counts = new TransformationCounts()
  #loaded: Loaded
  #timer: Timer | undefined
  #isClosed = false
  #reloads = { success: 0, failure: 0 }
  #lastReloadMs = { success: 0, failure: 0 }

  /** @throws EncryptionConfigurationError for a file that can't be used; EncryptionError for a plugin that can't */
  static async open(options: EncryptionOptions): Promise<Encryption> {
    const loaded = await load(options)
    const encryption = new Encryption(options, loaded)
    if (options.choice.automaticReload) encryption.#planReload()
    return encryption
  }

  /** Encrypts nothing, and knows what is encrypted when it sees it. */
  static none(options: Omit<EncryptionOptions, 'choice'>): Encryption {
    const rules = new EncryptionRules([], () => [])
    const choice = { path: '', automaticReload: false }
    return new Encryption({ ...options, choice }, { rules, kms: [], digest: '', [Symbol.dispose]: () => undefined })
  }

  private constructor(options: EncryptionOptions, loaded: Loaded) {
    this.#options = options
    this.#loaded = loaded
  }

  /** @throws EncryptionError where nothing can be encrypted now */
  seal(key: string, value: Uint8Array): Uint8Array {
    const { rules } = this.#loaded
    try {
      const sealed = rules.seal(key, value)
      this.#counts.add(rules.resourceOf(key), 'to_storage', sealed, true)
      return sealed
    } catch (error) {
      this.#counts.add(rules.resourceOf(key), 'to_storage', undefined, false)
      throw error
    }
  }

  /**
   * `isStale`: it would be written in another way now.
   *
   * @throws EncryptionError; UnknownSeedError where a plugin must be asked
   */
  open(key: string, stored: Uint8Array): { readonly value: Uint8Array; readonly isStale: boolean } {
    const { rules } = this.#loaded
    try {
      const opened = rules.open(key, stored)
      this.#counts.add(rules.resourceOf(key), 'from_storage', stored, true)
      return opened
    } catch (error) {
      if (!(error instanceof UnknownSeedError)) this.#counts.add(rules.resourceOf(key), 'from_storage', stored, false)
      throw error
    }
  }

  /** As `open`; a plugin is asked where that is needed. @throws EncryptionError */
  async openAsking(
    key: string,
    stored: Uint8Array,
  ): Promise<{ readonly value: Uint8Array; readonly isStale: boolean }> {
    try {
      return this.open(key, stored)
    } catch (error) {
      if (!(error instanceof UnknownSeedError)) throw error
      await error.provider.learn(error.source)
      return this.open(key, stored)
    }
  }

  /** Of KMS plugins, one line each; empty: all is well. */
  problems(): readonly string[] {
    return this.#loaded.kms.flatMap(({ problem }) => (problem === undefined ? [] : [problem]))
  }

  get hasKms(): boolean {
    return this.#loaded.kms.length > 0
  }

  get encrypts(): boolean {
    return this.#loaded.rules.encrypts
  }

  transformations(): readonly TransformationCount[] {
    return this.#counts.all()
  }

  /** How often another file was taken, or could not be; and when that last happened, in ms since 1970. */
  reloads(): readonly Reloads[] {
    const statuses = ['success', 'failure'] as const
    return statuses.map((status) => ({ status, times: this.#reloads[status], lastMs: this.#lastReloadMs[status] }))
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#loaded[Symbol.dispose]()
  }

  /** Looks at the file; another one takes the place of what was, if it can be used as a whole. */
  async reload(): Promise<void> {
    const { clock, log, choice } = this.#options
    try {
      const text = await readConfiguration(choice.path)
      const digest = digestOf(text)
      if (digest === this.#loaded.digest) return
      const next = await load(this.#options, text)
      const { [Symbol.dispose]: dispose } = this.#loaded
      this.#loaded = next
      clock.after(graceMs, dispose)
      this.#noteReload('success')
      log.info({ path: choice.path }, 'another encryption configuration is used from now on')
    } catch (error) {
      if (this.#isClosed) return
      this.#noteReload('failure')
      log.error({ error, path: choice.path }, 'the encryption configuration was not taken; what was goes on')
    }
  }

  #noteReload(status: 'success' | 'failure'): void {
    this.#reloads[status]++
    this.#lastReloadMs[status] = this.#options.clock.now()
  }

  #planReload(): void {
    if (this.#isClosed) return
    this.#timer = this.#options.clock.after(reloadMs, () => void this.reload().finally(() => this.#planReload()))
  }
}

/** @throws EncryptionConfigurationError */
async function readConfiguration(path: string): Promise<string> {
  try {
    return (await readSecretFile(path)).toString('utf8')
  } catch (cause) {
    if (cause instanceof OpenSecretError) throw new EncryptionConfigurationError(cause.message, { cause })
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    throw new EncryptionConfigurationError(`can't read the encryption configuration ${path} (${reason})`, { cause })
  }
}

async function load(options: EncryptionOptions, given?: string): Promise<Loaded> {
  const { choice, beforeUse } = options
  const text = given ?? (await readConfiguration(choice.path))
  const entries = parse(text, choice.path)
  using opening = new DisposableStack()
  const kms: KmsProvider[] = []
  const records = new SeedRecords(options.storage)
  const providersOf = ({ providers }: EncryptionEntry): readonly Provider[] =>
    providers.flatMap((settings): readonly Provider[] => {
      if (settings.type === 'identity') return [identityProvider]
      if (settings.type === 'aesgcm') return settings.keys.map(({ name, secret }) => aesGcmProvider(name, secret))
      if (settings.type === 'aescbc') return settings.keys.map(({ name, secret }) => aesCbcProvider(name, secret))
      const { kms: plugin } = settings
      const { clock, ids = randomIds, log } = options
      const provider = opening.use(new KmsProvider({ settings: plugin, records, clock, ids, log }))
      kms.push(provider)
      return [provider]
    })
  const rules = new EncryptionRules(entries, providersOf)
  if (rules.encrypts) await beforeUse?.()
  if (options.isForReading !== true) for (const provider of kms) await provider.start()
  const opened = opening.move()
  return { rules, kms, digest: digestOf(text), [Symbol.dispose]: () => opened.dispose() }
}

function parse(text: string, path: string): readonly EncryptionEntry[] {
  try {
    return parseEncryptionConfiguration(text)
  } catch (error) {
    if (!(error instanceof EncryptionConfigurationError)) throw error
    const message = `the encryption configuration ${path} can't be used: ${error.message}`
    throw new EncryptionConfigurationError(message, { cause: error })
  }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')
