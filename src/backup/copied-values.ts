/**
 * What is copied, looked at on its way: with which keys it is encrypted, and what none that is configured opens. A copy
 * takes that along as it is, so its digest says nothing of whether a server can read it.
 */
import type { Unopened } from '../encryption/encryption.ts'
import { sharedPkiPrefix } from '../pki/pki.ts'
import { type EncryptedCount, Examination } from './examination.ts'
import type { Contents, Pair, Source } from './store-copy.ts'
import type { PlaceOptions } from './store-places.ts'

/** Values that want for the same. */
export interface UnopenedGroup extends Unopened {
  readonly entries: number
  /** The first of their keys. */
  readonly first: string
}

export interface CopiedFigures {
  /** Of the entries: how many with which key. */
  readonly encrypted: readonly EncryptedCount[]
  /** What no key opens; undefined: no configuration was given. */
  readonly unopened?: readonly UnopenedGroup[]
}

export class CopiedValues {
  readonly #examination: Examination
  readonly #unopened = new Map<string, UnopenedGroup>()

  constructor(options: Pick<PlaceOptions, 'encryption'>) {
    this.#examination = new Examination(options)
  }

  /** `source`, whose pairs are looked at as they are read. */
  of(source: Source): Source {
    return { name: source.name, read: async () => this.#looking(await source.read()) }
  }

  figures(): CopiedFigures {
    const encrypted = this.#examination.encrypted()
    return this.#examination.opens ? { encrypted, unopened: [...this.#unopened.values()] } : { encrypted }
  }

  #looking(contents: Contents): Contents {
    return {
      ...contents,
      pairs: () => this.#pairs(contents),
      [Symbol.asyncDispose]: () => Promise.resolve(contents[Symbol.asyncDispose]()),
    }
  }

  async *#pairs(contents: Contents): AsyncGenerator<Pair> {
    for await (const pair of contents.pairs()) {
      // Keys of the authority are decrypted on their way, or the copy fails.
      if (!pair.key.startsWith(sharedPkiPrefix)) await this.#look(pair)
      yield pair
    }
  }

  async #look({ key, value }: Pair): Promise<void> {
    this.#examination.count({ value })
    const problem = await this.#examination.problemOf({ key, value, revision: 0 })
    if (problem?.kind !== 'unopened') return
    const { encryptedWith, reason, needs } = problem.unopened
    const id = JSON.stringify([encryptedWith, reason, needs])
    const { first = key, entries = 0 } = this.#unopened.get(id) ?? {}
    this.#unopened.set(id, { encryptedWith, reason, needs, entries: entries + 1, first })
  }
}
