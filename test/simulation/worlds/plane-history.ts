/**
 * What happened in a store that a plane holds, as a watch of the store shows it: live, and after a crash as what is
 * left. What was visible once must be there in the next life, at its place, as it was; what comes to light beyond it
 * was under way when the plane died, and lies behind all that had been visible.
 */
import type { KubeObject } from '../../../src/kube/types.ts'
import { type Change, prefixSpan, type Revision, type Storage } from '../../../src/storage/storage.ts'
import type { StoredChange } from '../history.ts'

const registry = '/registry/'
/** Records of the server, which are no objects. */
const records = '/registry/borough/'
const everything = prefixSpan('/')

interface Seen {
  readonly key: string
  readonly revision: Revision
  readonly at: number
  /** undefined: deleted. */
  readonly text: string | undefined
}

export interface Recovered {
  readonly head: Revision
  readonly problems: readonly string[]
  /** Revisions that had been visible, ascending. */
  readonly lost: readonly Revision[]
}

export class PlaneHistory {
  readonly #now: () => number
  #seen: Seen[] = []
  /** Where in `#seen` each revision is. */
  readonly #places = new Map<Revision, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  get newest(): Revision {
    return this.#seen.at(-1)?.revision ?? 0
  }

  /** What a store holds that has just been opened, against what was visible before. */
  async recover(storage: Storage): Promise<Recovered> {
    const compacted = await storage.compactedRevision()
    const head = await storage.currentRevision()
    const problems: string[] = []
    const { newest } = this
    const found = new Set<Revision>()
    const stop = new AbortController()
    for await (const batch of storage.watch(everything, compacted, stop.signal)) {
      if (batch.type === 'progress') {
        if (batch.revision >= head) break
        continue
      }
      for (const change of batch.changes) {
        found.add(change.revision)
        // Committed before the crash, some time after what was visible last.
        problems.push(...this.#take(change, newest, this.#seen.at(-1)?.at ?? 0))
      }
    }
    stop.abort()
    const state = await storage.range(everything)
    for (const { revision } of state.entries) found.add(revision)
    const lost = this.#seen.filter(({ revision, text }) => {
      // Of what was compacted only the newest version of each key is left, and of deletions nothing.
      if (revision <= compacted && (text === undefined || !this.#isNewest(revision))) return false
      return !found.has(revision)
    })
    if (lost.length === 0) {
      const got = state.entries.map(({ key, revision, value }) => `${key}@${revision} ${textOf(value)}`)
      problems.push(...differences(got, this.#state()))
    }
    if (lost.length === 0 && head < newest) problems.push(`the store begins at ${head}, and ${newest} was visible`)
    return { head, problems, lost: lost.map(({ revision }) => revision) }
  }

  /** Until the store is closed or its process is gone. Answers what is wrong with the watch itself. */
  async follow(storage: Storage, after: Revision, signal: AbortSignal, tell: (problem: string) => void): Promise<void> {
    try {
      for await (const batch of storage.watch(everything, after, signal)) {
        if (batch.type === 'progress') continue
        for (const change of batch.changes)
          for (const problem of this.#take(change, this.newest, this.#now())) tell(problem)
      }
    } catch (error) {
      if (!signal.aborted) tell(`the watch of the store ended: ${String(error)}`)
    }
  }

  /** Of objects; records are left out. In the order of the store. */
  changes(): StoredChange[] {
    const current = new Map<string, { readonly revision: number; readonly object: KubeObject }>()
    return this.#seen.flatMap(({ key, revision, at, text }) => {
      if (!key.startsWith(registry) || key.startsWith(records)) return []
      const previous = current.get(key)
      const object = text === undefined ? undefined : (JSON.parse(text) as KubeObject)
      if (object === undefined) current.delete(key)
      else current.set(key, { revision, object })
      return [{ key, commit: Math.floor(revision / 1024), revision, at, object, previous }]
    })
  }

  /** A disk that lied has lost them. */
  forgetFrom(first: Revision): void {
    for (const { revision } of this.#seen) if (revision >= first) this.#places.delete(revision)
    this.#seen = this.#seen.filter(({ revision }) => revision < first)
  }

  #take({ key, revision, value }: Change, newest: Revision, at: number): string[] {
    const text = value && textOf(value)
    const place = this.#places.get(revision)
    if (place !== undefined) {
      const known = this.#seen[place] as Seen
      return known.key === key && known.text === text ? [] : [`${revision} was ${known.key}, and is ${key}, or differs`]
    }
    if (revision <= newest) return [`${key} at ${revision} comes to light after ${newest} was visible`]
    this.#places.set(revision, this.#seen.length)
    this.#seen.push({ key, revision, at, text })
    return []
  }

  #isNewest(revision: Revision): boolean {
    const { key } = this.#seen[this.#places.get(revision) as number] as Seen
    return this.#seen.findLast((each) => each.key === key)?.revision === revision
  }

  #state(): string[] {
    const state = new Map<string, Seen>()
    for (const each of this.#seen) {
      if (each.text === undefined) state.delete(each.key)
      else state.set(each.key, each)
    }
    return [...state.values()].map(({ key, revision, text }) => `${key}@${revision} ${text}`)
  }
}

const textOf = (value: Uint8Array): string => Buffer.from(value).toString('utf8')

function differences(got: readonly string[], want: readonly string[]): string[] {
  const [has, should] = [new Set(got), new Set(want)]
  return [
    ...got.filter((each) => !should.has(each)).map((each) => `${each.slice(0, 80)} is there, and should not be`),
    ...want.filter((each) => !has.has(each)).map((each) => `${each.slice(0, 80)} should be there, and is not`),
  ]
}
