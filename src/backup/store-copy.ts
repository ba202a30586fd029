/**
 * Copies everything that a store holds to another place, and makes sure of it: while the source is read at one
 * revision, a digest is taken over its keys and values; then the target is read back, and its digest must be the same.
 *
 * It knows pairs of keys and bytes, and nothing of engines or files; `store-places.ts` does.
 */
import { createHash } from 'node:crypto'
import type { Progress, ReportProgress } from '../base/progress.ts'
import { damageOf } from '../storage/damaged-value.ts'
import { isFormatRecord } from '../storage/format-level.ts'

export interface Pair {
  readonly key: string
  readonly value: Uint8Array
}

/** What a place held at one revision. */
export interface Contents extends AsyncDisposable {
  /** As resourceVersion. */
  readonly revision: number
  /** The highest revision that can have been given out by the store that it is of; absent: `revision`. */
  readonly lastIssued?: number
  /** About how many pairs, for progress; absent: not known before they are read. */
  readonly size?: number
  /** Ascending by key, in bytes; may be asked for once. */
  pairs(): AsyncIterable<Pair>
}

export interface Source {
  /** For messages. */
  readonly name: string
  read(): Promise<Contents>
}

export interface Target extends AsyncDisposable {
  readonly name: string
  isEmpty(): Promise<boolean>
  /** Of the keys of the authority, before `begin`. @throws CopyError: it could not be kept */
  accept?(pair: Pair): void
  /**
   * Before the first pair. `revision`: none up to it may be given out. From here on no process may use the place, until
   * `seal`.
   */
  begin(revision: number, from: string): Promise<void>
  /** Takes the pairs in order; may keep some back until `finish`. */
  write(pair: Pair): Promise<void>
  /** Everything is durable when this resolves. */
  finish(): Promise<void>
  /** As it is now, from where it lies. */
  read(): Promise<Contents>
  /** It has been verified and may be used. */
  seal(): Promise<void>
}

export interface CopyResult {
  readonly revision: number
  readonly entries: number
  readonly bytes: number
  readonly sha256: string
}

/** The message is one line for the operator. */
export class CopyError extends Error {
  override readonly name = 'CopyError'
}

/** Over keys and values with their lengths, in order; counts them too. */
export class ContentDigest {
  readonly #hash = createHash('sha256')
  readonly #lengths = Buffer.alloc(8)
  #last: Buffer | undefined
  entries = 0
  bytes = 0

  /** @throws CopyError for a value that is damaged where it lies: no copy pretends that it is sound */
  add({ key, value }: Pair): void {
    const damage = damageOf(value)
    if (damage !== undefined) throw new CopyError(`${damage}. Repair it first: borough storage repair`)
    const keyBytes = Buffer.from(key)
    if (this.#last && Buffer.compare(this.#last, keyBytes) >= 0) throw new CopyError(`${key} is out of order`)
    this.#last = keyBytes
    this.#lengths.writeUInt32BE(keyBytes.length, 0)
    this.#lengths.writeUInt32BE(value.byteLength, 4)
    this.#hash.update(this.#lengths).update(keyBytes).update(value)
    this.entries++
    this.bytes += keyBytes.length + value.byteLength
  }

  /** Hexadecimal; at the end, once. */
  finish(): string {
    return this.#hash.digest('hex')
  }
}

/** Of what is no object: the authority's keys among it, and few in all. */
const ownPrefix = '/borough/'
/** Between two calls of `rest`, for a process that has other things to do. */
const pairsAtOnce = 64

/** @throws CopyError when the target holds anything, or does not hold at the end what the source held */
export async function copyStore(
  source: Source,
  target: Target,
  report: ReportProgress,
  rest?: () => Promise<void>,
): Promise<CopyResult> {
  if (!(await target.isEmpty())) {
    throw new CopyError(
      `${target.name} is not empty, and nothing in it is overwritten: choose another target, or empty it`,
    )
  }
  await using contents = await source.read()
  const digest = new ContentDigest()
  const pairs = copiedPairs(contents)
  const ahead = await readAhead(pairs, target)
  await target.begin(contents.lastIssued ?? contents.revision, source.name)
  for await (const pair of joined(ahead, pairs)) {
    digest.add(pair)
    await target.write(pair)
    if (digest.entries % pairsAtOnce !== 0) continue
    report(progressOf('copying', digest, contents.size))
    await rest?.()
  }
  await target.finish()
  const { revision } = contents
  const result = { revision, entries: digest.entries, bytes: digest.bytes, sha256: digest.finish() }
  const { sha256: found } = await digestOf(target, rest, (read) =>
    report(progressOf('verifying', read, result.entries)),
  )
  if (found !== result.sha256) {
    throw new CopyError(
      `${target.name} does not hold what ${source.name} held (sha256 ${found} instead of ${result.sha256}): ` +
        'somebody else wrote to it, or it lost something. Do not use it',
    )
  }
  await target.seal()
  return result
}

/** What comes before objects: what lacks the key that it is encrypted with is refused before anything is written. */
async function readAhead(pairs: AsyncIterator<Pair>, target: Target): Promise<readonly Pair[]> {
  const ahead: Pair[] = []
  for (let next = await pairs.next(); next.done !== true; next = await pairs.next()) {
    ahead.push(next.value)
    if (!next.value.key.startsWith(ownPrefix)) break
    target.accept?.(next.value)
  }
  return ahead
}

async function* joined(ahead: readonly Pair[], pairs: AsyncGenerator<Pair>): AsyncGenerator<Pair> {
  yield* ahead
  yield* pairs
}

/** All but how the place writes its values: another place, and another version, may write them otherwise. */
async function* copiedPairs(contents: Contents): AsyncGenerator<Pair> {
  for await (const pair of contents.pairs()) if (!isFormatRecord(pair.key)) yield pair
}

/** Of everything that is copied. */
export async function digestOf(
  place: Source | Target,
  rest?: () => Promise<void>,
  tell?: (digest: ContentDigest) => void,
): Promise<Pick<CopyResult, 'sha256' | 'entries'>> {
  await using contents = await place.read()
  const digest = new ContentDigest()
  for await (const pair of copiedPairs(contents)) {
    digest.add(pair)
    if (digest.entries % pairsAtOnce !== 0) continue
    tell?.(digest)
    await rest?.()
  }
  return { sha256: digest.finish(), entries: digest.entries }
}

export function progressOf(doing: string, { entries, bytes }: ContentDigest, total?: number): Progress {
  const note = `${(bytes / 1024 / 1024).toFixed(1)} MiB`
  return { doing, done: entries, unit: 'entries', note, ...(total === undefined ? {} : { total }) }
}
