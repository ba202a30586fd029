/**
 * What was asked of a store, what it acknowledged or showed, and what must therefore be there after a power failure:
 * acknowledged ⊆ recovered ⊆ attempted.
 */
import type { Change, Entry, Revision } from '../../../src/storage/storage.ts'

/** undefined: deleted. */
export interface Version {
  readonly key: string
  readonly text: string | undefined
}

export const textOf = ({ value }: Entry): string => Buffer.from(value).toString('utf8')

export const versionOf = ({ key, value }: Change): Version => ({
  key,
  text: value === undefined ? undefined : Buffer.from(value).toString('utf8'),
})

interface Attempt {
  readonly writes: readonly Version[]
}

export class Ledger {
  readonly #attempts = new Map<string, Attempt>()
  readonly #visible = new Map<Revision, Version>()
  #ids = 0

  /** Values that no other write has. */
  attempt(writes: readonly { readonly key: string; readonly sizeBytes: number | undefined }[]): Attempt {
    const id = `w${++this.#ids}`
    const attempt = {
      writes: writes.map(({ key, sizeBytes }, i) => ({
        key,
        text: sizeBytes === undefined ? undefined : `${id}.${i} ${'x'.repeat(sizeBytes)}`,
      })),
    }
    this.#attempts.set(id, attempt)
    return attempt
  }

  acknowledge({ writes }: Attempt, first: Revision): string[] {
    return writes.flatMap((write, i) => this.see(first + i, write))
  }

  /** A reader was shown it, or its writer was told: from now on it must be there. */
  see(revision: Revision, version: Version): string[] {
    const known = this.#visible.get(revision)
    if (known !== undefined && (known.key !== version.key || known.text !== version.text)) {
      return [`${revision} was ${tell(known)}, and is ${tell(version)}`]
    }
    this.#visible.set(revision, version)
    return []
  }

  get newest(): Revision {
    return Math.max(0, ...this.#visible.keys())
  }

  /** The revisions that were visible, ascending. */
  #revisions(): Revision[] {
    return [...this.#visible.keys()].sort((a, b) => a - b)
  }

  /** By key, as it must be. */
  state(): Map<string, { readonly revision: Revision; readonly text: string }> {
    const state = new Map<string, { readonly revision: Revision; readonly text: string }>()
    for (const revision of this.#revisions()) {
      const { key, text } = this.#visible.get(revision) as Version
      if (text === undefined) state.delete(key)
      else state.set(key, { revision, text })
    }
    return state
  }

  /** `found`: all that the store has of the time after `compacted`. */
  missing(found: ReadonlyMap<Revision, Version>, compacted: Revision): Revision[] {
    return this.#revisions().filter((revision) => revision > compacted && !found.has(revision))
  }

  /** What is there must have been asked for, whole, and be what it was. */
  problems(found: ReadonlyMap<Revision, Version>): string[] {
    return [...found].flatMap(([revision, version]) => {
      const known = this.#visible.get(revision)
      if (known !== undefined) return this.see(revision, version)
      return this.#attemptProblems(revision, version, found)
    })
  }

  #attemptProblems(revision: Revision, version: Version, found: ReadonlyMap<Revision, Version>): string[] {
    const [, id, place] = /^(w\d+)\.(\d+) /.exec(version.text ?? '') ?? []
    const attempts = [...this.#attempts.values()]
    if (version.text === undefined) {
      const asked = attempts.some(({ writes }) => writes.some((w) => w.key === version.key && w.text === undefined))
      return asked ? [] : [`${revision}: no writer deleted ${version.key}`]
    }
    const attempt = this.#attempts.get(id ?? '')
    const index = Number(place)
    const first = revision - index
    if (attempt?.writes[index]?.text !== version.text || attempt.writes[index]?.key !== version.key) {
      return [`${revision}: no writer wrote ${tell(version)}`]
    }
    const torn = attempt.writes.flatMap((write, i) => {
      const there = found.get(first + i)
      return there?.key === write.key && there.text === write.text ? [] : [tell(write)]
    })
    return torn.length === 0 ? [] : [`${revision}: of its transaction ${torn.join()} is missing`]
  }

  /** A disk that lied has lost them, or an operator has accepted that. */
  forget(revisions: readonly Revision[]): void {
    for (const revision of revisions) this.#visible.delete(revision)
  }
}

const tell = ({ key, text }: Version): string => `${key} = ${text?.slice(0, 20) ?? 'deleted'}`
