/**
 * A backup as a file: lines of JSON, so that it can be looked into with any tool.
 *
 *   {"format":"borough-backup","version":1,"revision":99327,"time":"2026-11-21T06:00:00Z"}
 *   {"key":"/registry/namespaces/default","value":"{\"metadata\":…"}      or "base64" where a value is not UTF-8
 *   {"entries":81,"sha256":"…"}
 *
 * It holds everything, Secrets and the keys of the certificate authority too: readable by its owner alone. It is
 * written beside its place and moved there when it is whole; a file without its last line, or whose digest differs, is
 * refused.
 */
import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { ContentDigest, type Contents, CopyError, digestOf, type Pair, type Source, type Target } from './store-copy.ts'

const format = 'borough-backup'
const version = 1
/** Characters that are written at a time. */
const chunkLength = 256 * 1024

interface Line {
  readonly format?: string
  readonly version?: number
  readonly revision?: number
  readonly key?: string
  readonly value?: string
  readonly base64?: string
  readonly entries?: number
  readonly sha256?: string
}

export function backupSource(path: string): Source {
  return {
    name: path,
    async read() {
      // Twice: a damaged file must not be found out halfway.
      await check(path)
      return contentsOf(path)
    },
  }
}

/** @throws CopyError */
async function check(path: string): Promise<void> {
  await digestOf({ name: path, read: () => contentsOf(path) })
}

async function contentsOf(path: string): Promise<Contents> {
  const lines = linesOf(path)
  const first = await lines.next()
  const header = first.done ? undefined : first.value
  if (header?.format !== format) throw new CopyError(`${path} is not a backup of Borough`)
  if (header.version !== version || header.revision === undefined) {
    throw new CopyError(`${path} has format version ${header.version}, this version reads ${version}`)
  }
  return {
    revision: header.revision,
    pairs: () => pairsOf(path, lines),
    [Symbol.asyncDispose]: async () => void (await lines.return()),
  }
}

async function* pairsOf(path: string, lines: AsyncGenerator<Line, void>): AsyncGenerator<Pair> {
  const digest = new ContentDigest()
  for await (const { key, value, base64, entries, sha256 } of lines) {
    if (key === undefined) {
      if (sha256 === digest.finish() && entries === digest.entries) return
      throw new CopyError(`${path} is damaged: what it holds is not what was written`)
    }
    const pair = { key, value: base64 === undefined ? Buffer.from(value ?? '') : Buffer.from(base64, 'base64') }
    digest.add(pair)
    yield pair
  }
  throw new CopyError(`${path} is cut off: its last line is missing`)
}

async function* linesOf(path: string): AsyncGenerator<Line, void> {
  const input = createReadStream(path)
  const opened = new Promise<void>((resolve, reject) => input.once('open', () => resolve()).once('error', reject))
  try {
    await opened
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      try {
        yield JSON.parse(line) as Line
      } catch (cause) {
        if (!(cause instanceof SyntaxError)) throw cause
        throw new CopyError(`${path} is damaged: a line is not JSON`, { cause })
      }
    }
  } finally {
    input.destroy()
  }
}

/** `time`: RFC 3339, for the reader of the file. */
export async function backupTarget(path: string, time: string): Promise<Target> {
  const part = `${path}.part`
  const file = await open(part, 'w', 0o600)
  const digest = new ContentDigest()
  let waiting: string[] = []
  let waitingLength = 0
  let finished = false

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
    await file.writeFile(text)
  }
  return {
    name: path,
    isEmpty: async () => !(await exists(path)),
    begin: (revision) => add({ format, version, revision, time }),
    async write(pair) {
      digest.add(pair)
      const { key, value } = pair
      const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      await add(isUtf8(bytes) ? { key, value: bytes.toString('utf8') } : { key, base64: bytes.toString('base64') })
    },
    async finish() {
      await add({ entries: digest.entries, sha256: digest.finish() })
      await flush()
      await file.sync()
      await rename(part, path)
      finished = true
      await using directory = await open(dirname(path), 'r')
      await directory.sync()
    },
    read: () => contentsOf(path),
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
