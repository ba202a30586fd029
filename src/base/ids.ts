/**
 * Randomness, injected: uids and generated name suffixes come from here, so that tests can predict them.
 */
import { randomInt, randomUUID } from 'node:crypto'

export interface Ids {
  /** A lower-case random v4 UUID. */
  uid(): string
  /** Five characters of the alphabet Kubernetes uses for `generateName` (no vowels, no look-alikes). */
  nameSuffix(): string
}

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789'

export const randomIds: Ids = {
  uid: () => randomUUID(),
  nameSuffix() {
    let suffix = ''
    for (let i = 0; i < 5; i++) suffix += suffixAlphabet[randomInt(suffixAlphabet.length)]
    return suffix
  },
}
