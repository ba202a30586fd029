/**
 * What is wrong with a stored value: it is not what was written, or it is and no key opens it. Values in clear are
 * sound by themselves; whether encrypted ones can be opened is known where there is a configuration.
 */
import { type EncryptedWith, encryptedWith, type Unopened, ValueOpener } from '../encryption/encryption.ts'
import { recordDamage } from '../storage/format-level.ts'
import { type Entry, isStorageError, positionsPerCommit, type Revision, type Storage } from '../storage/storage.ts'
import type { PlaceOptions } from './store-places.ts'

/** A value that is as it was written, and can't be read. */
export interface UnopenedEntry extends Unopened {
  readonly key: string
  readonly revision: Revision
}

export interface EncryptedCount extends EncryptedWith {
  readonly entries: number
}

export type Problem =
  | { readonly kind: 'damaged'; readonly damage: string }
  | { readonly kind: 'unopened'; readonly unopened: UnopenedEntry }

/** Versions of one key that are looked at, from the newest. */
const maxVersions = 1000

export class Examination {
  readonly #opener: ValueOpener | undefined
  /** By what `encryptedWith` says. */
  readonly #encrypted = new Map<string, EncryptedCount>()

  constructor({ encryption }: Pick<PlaceOptions, 'encryption'>) {
    this.#opener = encryption && new ValueOpener(encryption)
  }

  /** Whether it can tell if values can be opened. */
  get opens(): boolean {
    return this.#opener !== undefined
  }

  /** undefined: as far as is known, it can be read. */
  async problemOf(entry: Entry): Promise<Problem | undefined> {
    const damage = recordDamage(entry)
    if (damage !== undefined) return { kind: 'damaged', damage }
    const unopened = await this.#opener?.whyUnopened(entry)
    if (unopened === undefined) return undefined
    return { kind: 'unopened', unopened: { key: entry.key, revision: entry.revision, ...unopened } }
  }

  count({ value }: Pick<Entry, 'value'>): void {
    const made = encryptedWith(value)
    if (made === undefined) return
    const id = JSON.stringify(made)
    this.#encrypted.set(id, { ...made, entries: (this.#encrypted.get(id)?.entries ?? 0) + 1 })
  }

  /** Of what was counted: how many with which key. */
  encrypted(): readonly EncryptedCount[] {
    return [...this.#encrypted.values()]
  }

  /** The newest version before this one that can be read, back to where the key did not exist or history ends. */
  async versionBefore(storage: Storage, key: string, revision: Revision): Promise<Entry | undefined> {
    try {
      for (let at = revision - positionsPerCommit, looked = 0; at >= 0 && looked < maxVersions; looked++) {
        const { entry } = await storage.get(key, { at })
        if (entry === undefined || (await this.problemOf(entry)) === undefined) return entry
        at = entry.revision - positionsPerCommit
      }
    } catch (error) {
      if (!['compacted', 'corrupt', 'damaged'].some((code) => isStorageError(error, code as 'corrupt'))) throw error
    }
    return undefined
  }
}

/** One line. */
export function inOneLine({ key, revision, encryptedWith: made, reason }: UnopenedEntry): string {
  return `the stored value of ${key} at revision ${revision}${madeWith(made)} can't be decrypted: ${reason}`
}

function madeWith(made: EncryptedWith | undefined): string {
  if (made === undefined) return ''
  const { provider, name, keyId } = made
  if (provider !== 'kms') return `, of ${provider} key ${name},`
  return `, of KMS provider ${name}${keyId === undefined ? '' : ` with key ${keyId}`},`
}
