/**
 * A backup as a file: lines of JSON, so that it can be looked into with any tool.
 *
 *   {"format":"borough-backup","version":1,"revision":99327,"time":"2026-11-21T06:00:00Z","until":…,"crc":…}
 *   {"key":"/registry/namespaces/default","value":"{\"metadata\":…","crc":…}      or "base64" where it is not UTF-8
 *   {"entries":81,"sha256":"…"}
 *
 * It holds everything, Secrets and the keys of the certificate authority too: readable by its owner alone. It is
 * written beside its place and moved there when it is whole; a file without its last line, or whose digest differs, is
 * refused.
 */
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Clock } from '../base/clock.ts'
import { openPrivatePart, writingTo } from '../base/private-files.ts'
import type { ReportProgress } from '../base/progress.ts'
import { formatTime } from '../kube/time.ts'
import { positionsPerCommit } from '../storage/storage.ts'
import { crcOf, encodedValue } from './change-file.ts'
import { type BackupLine, linesOf } from './json-lines.ts'
import {
  ContentDigest,
  type Contents,
  CopyError,
  digestOf,
  type Pair,
  progressOf,
  type Source,
  type Target,
} from './store-copy.ts'

const format = 'borough-backup'
const version = 1
/** Characters that are written at a time. */
const chunkLength = 256 * 1024
/** At least as long as the last line of a file: a number and 64 digits. */
const lastLineLength = 256

/** More commits than a store can have made in a second. */
const commitsPerSecond = 10_000
const leastRaise = 1_000_000
/** So that there is room for a hundred restores of backups from long ago. */
const mostRaise = 50_000_000_000

/** The highest revision that a store can have given out that was at `revision` at that time. */
export function lastIssued(revision: number, timeMs: number, nowMs: number): number {
  const seconds = Number.isNaN(timeMs) ? 0 : Math.max(0, (nowMs - timeMs) / 1000)
  const commits = Math.min(mostRaise, Math.max(leastRaise, Math.ceil(seconds * commitsPerSecond)))
  return revision + commits * positionsPerCommit
}

/** What a backup says of itself, beside what it holds. */
export interface BackupContents extends Contents {
  /** All that was committed by then is in it. */
  readonly timeMs: number
  /** Nothing is in it that was committed later. Files of before tell no more than the second. */
  readonly untilMs: number
  readonly sha256: string
}

export interface BackupSource extends Source {
  read(): Promise<BackupContents>
}

export function backupSource(path: string, report?: ReportProgress): BackupSource {
  return {
    name: path,
    async read() {
      // Twice: a damaged file must not be found out halfway.
      const { sha256, size } = await check(path, report)
      return { ...(await contentsOf(path)), sha256, size }
    },
  }
}

/** @throws CopyError */
async function check(
  path: string,
  report?: ReportProgress,
): Promise<{ readonly sha256: string; readonly size: number }> {
  const place = { name: path, read: () => contentsOf(path) }
  const total = report === undefined ? undefined : (await endOf(path))?.entries
  const told = (digest: ContentDigest): void => report?.(progressOf('checking', digest, total))
  const { sha256, entries } = await digestOf(place, undefined, told)
  return { sha256, size: entries }
}

/** What the last line says, if it says it; to be believed of a file that was checked. */
export async function endOf(path: string): Promise<{ readonly entries: number; readonly sha256: string } | undefined> {
  await using file = await open(path)
  const { size } = await file.stat()
  const tail = Buffer.alloc(Math.min(size, lastLineLength))
  await file.read(tail, 0, tail.length, size - tail.length)
  const [, entries, sha256 = ''] = /\{"entries":(\d+),"sha256":"([0-9a-f]+)"\}\n$/.exec(tail.toString('latin1')) ?? []
  return entries === undefined ? undefined : { entries: Number(entries), sha256 }
}

/** Of what a backup says of itself: the digest is over what it holds. */
const sumOf = ({ revision, time, until }: BackupLine): number => crc32(`${revision} ${time} ${until}`)

async function contentsOf(path: string): Promise<Omit<BackupContents, 'sha256' | 'size'>> {
  const lines = linesOf(path)
  const first = await lines.next()
  const header = first.done ? undefined : first.value.line
  if (header?.format !== format) throw new CopyError(`${path} is not a backup of Borough`)
  if (header.version !== version || header.revision === undefined) {
    throw new CopyError(`${path} has format version ${header.version}, this version reads ${version}`)
  }
  // Files of before have none.
  if (header.crc !== undefined && header.crc !== sumOf(header)) {
    throw new CopyError(`${path} is damaged: its first line is not what was written`)
  }
  const timeMs = Date.parse(String(header.time))
  return {
    revision: header.revision,
    timeMs,
    untilMs: header.until ?? timeMs + 999,
    pairs: () => pairsOf(path, lines),
    [Symbol.asyncDispose]: async () => void (await lines.return(undefined)),
  }
}

async function* pairsOf(path: string, lines: AsyncGenerator<{ readonly line: BackupLine }>): AsyncGenerator<Pair> {
  const digest = new ContentDigest()
  for await (const { line } of lines) {
    const { key, value, base64, entries, sha256, crc } = line
    if (key === undefined) {
      if (sha256 === digest.finish() && entries === digest.entries) return
      throw new CopyError(`${path} is damaged: what it holds is not what was written`)
    }
    const pair = { key, value: base64 === undefined ? Buffer.from(value ?? '') : Buffer.from(base64, 'base64') }
    // Files of before have none.
    if (crc !== undefined && crc !== crcOf(key, pair.value)) {
      throw new CopyError(`${path} is damaged: ${key} is not what was written`)
    }
    digest.add(pair)
    yield pair
  }
  throw new CopyError(`${path} is cut off: its last line is missing`)
}

/** `finalPath`: by the revision of what is kept and its digest, asked once it is whole; default: `path`. */
export async function backupTarget(
  path: string,
  clock: Pick<Clock, 'now'>,
  finalPath: (revision: number, sha256: string) => string | Promise<string> = () => path,
): Promise<Target> {
  const part = `${path}.part`
  // Before what is kept is read: what is committed later is not of this time.
  const time = formatTime(clock.now())
  const file = await openPrivatePart(part)
  const digest = new ContentDigest()
  let waiting: string[] = []
  let waitingLength = 0
  let finished = false
  let whole = path
  let kept = 0

  const add = async (line: object): Promise<void> => {
    const text = `${JSON.stringify(line)}\n`
    waiting.push(text)
    waitingLength += text.length
    if (waitingLength >= chunkLength) await flush()
  }
  const flush = async (): Promise<void> => {
    const text = waiting.join('')
    waiting = []
    waitingLength = 0
    await writingTo(path, () => file.writeFile(text))
  }
  return {
    name: path,
    isEmpty: async () => !(await exists(path)),
    begin: (revision) => {
      kept = revision
      const head = { revision, time, until: clock.now() }
      return add({ format, version, ...head, crc: sumOf(head) })
    },
    async write(pair) {
      digest.add(pair)
      const { key, value } = pair
      await add({ key, ...encodedValue(value), crc: crcOf(key, value) })
    },
    async finish() {
      const sha256 = digest.finish()
      await add({ entries: digest.entries, sha256 })
      await flush()
      whole = await finalPath(kept, sha256)
      await writingTo(path, async () => {
        await file.sync()
        await rename(part, whole)
      })
      finished = true
      await using directory = await open(dirname(path), 'r')
      await directory.sync()
    },
    read: () => contentsOf(whole),
    // It has its name since it is whole, and says itself whether it is.
    seal: () => Promise.resolve(),
    async [Symbol.asyncDispose]() {
      await file.close()
      if (!finished) await rm(part, { force: true })
    },
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
