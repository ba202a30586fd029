/**
 * What changed since an earlier backup, as a file of JSON lines:
 *
 *   {"format":"borough-changes","version":1,"after":99327,"previous":"…","revision":104447,"time":"2026-11-21T07:00…"}
 *   {"revision":104447,"time":0,"key":"/borough/pki/ca.crt","value":"…","crc":…}       all keys of the authority, now
 *   {"revision":100352,"time":1795244400000,"key":"/registry/…","value":"…","crc":…}   or "base64", or "deleted"
 *   {"entries":12,"sha256":"…"}
 *
 * `previous`: the digest of the file that it follows. `crc`: CRC-32 of key and value. The last digest is over all lines
 * before it.
 */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { openPrivatePart, writingTo } from '../base/private-files.ts'
import { type BackupLine, linesOf } from './json-lines.ts'
import { CopyError } from './store-copy.ts'

export interface KeptChange {
  readonly key: string
  readonly revision: number
  /** Of the commit, in ms since 1970; 0: not known, or a key of the authority. */
  readonly timeMs: number
  /** undefined: deleted. */
  readonly value: Uint8Array | undefined
}

export interface ChangeFileHead {
  /** What it follows. */
  readonly after: number
  readonly previous: string
  readonly revision: number
  readonly time: string
}

const format = 'borough-changes'
const version = 1
const toldEach = 256

export function crcOf(key: string, value: Uint8Array | undefined): number {
  const sum = crc32(key)
  return value === undefined ? sum : crc32(value, sum)
}

/** Values as text where they are that, and bytes where not. */
export function encodedValue(value: Uint8Array): { readonly value: string } | { readonly base64: string } {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return isUtf8(bytes) ? { value: bytes.toString('utf8') } : { base64: bytes.toString('base64') }
}

/** Whole or not at all. `part`: until then. Answers its digest. */
export async function writeChangeFile(
  path: string,
  head: ChangeFileHead,
  changes: AsyncIterable<KeptChange>,
  part = `${path}.part`,
): Promise<{ readonly sha256: string; readonly entries: number }> {
  const file = await openPrivatePart(part)
  const hash = createHash('sha256')
  let finished = false
  try {
    const write = async (line: object): Promise<void> => {
      const text = `${JSON.stringify(line)}\n`
      hash.update(text)
      await writingTo(path, () => file.writeFile(text))
    }
    await write({ format, version, ...head })
    let entries = 0
    for await (const { key, revision, timeMs, value } of changes) {
      const content = value === undefined ? { deleted: true } : encodedValue(value)
      await write({ revision, time: timeMs, key, ...content, crc: crcOf(key, value) })
      entries++
    }
    const sha256 = hash.copy().digest('hex')
    await write({ entries, sha256 })
    await writingTo(path, async () => {
      await file.sync()
      await rename(part, path)
    })
    finished = true
    await using directory = await open(dirname(path), 'r')
    await directory.sync()
    return { sha256, entries }
  } finally {
    await file.close()
    if (!finished) await rm(part, { force: true })
  }
}

export interface ChangeFile {
  readonly head: ChangeFileHead
  readonly sha256: string
  readonly changes: readonly KeptChange[]
}

/** All of it, checked. `tell`: how many changes were read. @throws CopyError */
export async function readChangeFile(path: string, tell?: (read: number) => void): Promise<ChangeFile> {
  const lines = linesOf(path)
  const hash = createHash('sha256')
  const changes: KeptChange[] = []
  let head: ChangeFileHead | undefined
  for await (const { text, line } of lines) {
    if (head === undefined) {
      if (line.format !== format) throw new CopyError(`${path} is no file of changes`)
      if (line.version !== version) {
        throw new CopyError(`${path} has format version ${line.version}, this version reads ${version}`)
      }
      const { after = -1, previous = '', revision = -1, time = '' } = line
      head = { after, previous, revision, time: String(time) }
    } else if (line.key === undefined) {
      const sha256 = hash.digest('hex')
      if (line.sha256 === sha256 && line.entries === changes.length) return { head, sha256, changes }
      throw new CopyError(`${path} is damaged: what it holds is not what was written`)
    } else if (changes.push(changeOf(path, line)) % toldEach === 0) tell?.(changes.length)
    hash.update(`${text}\n`)
  }
  throw new CopyError(`${path} is cut off: its last line is missing`)
}

function changeOf(path: string, { key = '', revision = 0, time, value, base64, deleted, crc }: BackupLine): KeptChange {
  const bytes =
    deleted === true ? undefined : base64 === undefined ? Buffer.from(value ?? '') : Buffer.from(base64, 'base64')
  if (crc !== crcOf(key, bytes)) throw new CopyError(`${path} is damaged: ${key} is not what was written`)
  return { key, revision, timeMs: typeof time === 'number' ? time : 0, value: bytes }
}
