/**
 * Randomness, injected: uids and generated name suffixes come from here, so that tests can predict them.
 */
import { randomFillSync, randomInt } from 'node:crypto'

export interface Ids {
  /** A lower-case random v4 UUID. */
  uid(): string
  /** Five characters of the alphabet Kubernetes uses for `generateName` (no vowels, no look-alikes). */
  nameSuffix(): string
}

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

const uidBytes = 16
const hexDigits: Uint8Array = Buffer.from('0123456789abcdef', 'latin1')
const dash = 0x2d

class RandomIds implements Ids {
  /** Randomness for 256 uids: to ask for it one by one costs more than all the rest. */
  readonly #pool = Buffer.alloc(256 * uidBytes)
  #poolAt = this.#pool.length
  /** Written byte by byte and read as one text, which leaves nothing behind to collect. */
  readonly #text = Buffer.alloc(36)

  /** As `crypto.randomUUID`, at a third of its cost: every request and every object has one. */
  uid(): string {
    const pool = this.#pool
    const text = this.#text
    if (this.#poolAt === pool.length) {
      randomFillSync(pool)
      this.#poolAt = 0
    }
    const at = this.#poolAt
    this.#poolAt += uidBytes
    pool[at + 6] = ((pool[at + 6] ?? 0) & 0x0f) | 0x40
    pool[at + 8] = ((pool[at + 8] ?? 0) & 0x3f) | 0x80
    let to = 0
    for (let i = 0; i < uidBytes; i++) {
      const byte = pool[at + i] ?? 0
      if (i === 4 || i === 6 || i === 8 || i === 10) text[to++] = dash
      text[to++] = hexDigits[byte >> 4] ?? 0
      text[to++] = hexDigits[byte & 15] ?? 0
      // Used up: what was given out is not kept.
      pool[at + i] = 0
    }
    return text.toString('latin1', 0, to)
  }

  nameSuffix(): string {
    let suffix = ''
    for (let i = 0; i < 5; i++) suffix += suffixAlphabet[randomInt(suffixAlphabet.length)]
    return suffix
  }
}

export const randomIds: Ids = new RandomIds()
