/**
 * The seeds that values of provider kms were encrypted with, each encrypted by the plugin, as entries of the store:
 * one for each key of the plugin. So a start finds them all without looking at a value, and servers that share a store
 * share them. A record is durable before the first value is encrypted with its seed.
 */

import { createHash } from 'node:crypto'
import { parseJsonText } from '../base/parse-json-text.ts'
import { damageOf } from '../storage/damaged-value.ts'
import { type Entry, prefixSpan, type Storage, StorageError } from '../storage/storage.ts'
import type { KmsCiphertext } from './kms-client.ts'

const prefix = '/borough/encryption/kms/'

/** A seed as it lies in the store. */
export interface SeedRecord extends KmsCiphertext {
  /** A known text, encrypted with the seed: tells whether the plugin decrypts it. Absent: of a version before. */
  readonly check?: Uint8Array
}

interface StoredSeed {
  readonly keyId: string
  readonly seed: string
  readonly check?: string
  readonly annotations: Readonly<Record<string, string>>
}

export class SeedRecords {
  readonly #storage: Pick<Storage, 'get' | 'range' | 'commit'>

  /** `storage`: below encryption. */
  constructor(storage: Pick<Storage, 'get' | 'range' | 'commit'>) {
    this.#storage = storage
  }

  async of(provider: string): Promise<readonly SeedRecord[]> {
    const { entries } = await this.#storage.range(prefixSpan(`${prefix}${provider}/`))
    return entries.map(decode)
  }

  async find(provider: string, keyId: string): Promise<SeedRecord | undefined> {
    const { entry } = await this.#storage.get(keyOf(provider, keyId))
    return entry && decode(entry)
  }

  /** The one that is kept: another server may have been first. */
  async keep(provider: string, source: SeedRecord): Promise<SeedRecord> {
    const key = keyOf(provider, source.keyId)
    const writes = [{ key, value: encode(source), expect: 'absent' as const }]
    const commit = await this.#storage.commit({ guards: [], writes }).done
    const kept = commit.ok ? undefined : commit.current.get(key)
    return kept === undefined ? source : decode(kept)
  }
}

/** Keeps no seeds: a value carries its own, and what is encrypted once needs no other. */
export const nothingStored: Pick<Storage, 'get' | 'range' | 'commit'> = {
  get: async () => ({ revision: 0, entry: undefined }),
  range: async () => ({ revision: 0, entries: [], more: false }),
  commit: () => ({ ticket: { id: 0 }, done: Promise.resolve({ ok: true, revision: 0 }) }),
}

const keyOf = (provider: string, keyId: string): string =>
  `${prefix}${provider}/${createHash('sha256').update(keyId).digest('hex')}`

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

function encode({ ciphertext, keyId, annotations, check }: SeedRecord): Uint8Array {
  const named = Object.fromEntries([...annotations].map(([name, value]) => [name, base64(value)]))
  const stored = { keyId, seed: base64(ciphertext), annotations: named } satisfies StoredSeed
  return Buffer.from(JSON.stringify(check === undefined ? stored : { ...stored, check: base64(check) }))
}

/** @throws StorageError code=damaged; the message names key and revision */
function decode({ key, revision, value }: Entry): SeedRecord {
  const damage = damageOf(value)
  if (damage !== undefined) throw new StorageError('damaged', `${damage}; see 'borough storage repair'`)
  try {
    const { keyId, seed, annotations, check } = parseJsonText(Buffer.from(value).toString('utf8')) as StoredSeed
    const named = Object.entries(annotations).map(([name, text]) => [name, Buffer.from(text, 'base64')] as const)
    const source = { keyId, ciphertext: Buffer.from(seed, 'base64'), annotations: new Map(named) }
    return check === undefined ? source : { ...source, check: Buffer.from(check, 'base64') }
  } catch (cause) {
    const message = `the stored value of ${key} at revision ${revision} is damaged: it is no seed of a KMS provider`
    throw new StorageError('damaged', message, { cause })
  }
}
