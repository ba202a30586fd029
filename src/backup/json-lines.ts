/** Files of JSON lines, as backups are. */

import { createReadStream } from 'node:fs'
import { parseJsonText } from '../base/parse-json-text.ts'
import { CopyError } from './store-copy.ts'

/** Not as Node's `readline` splits: it ends lines at U+2028 and U+2029 too, which JSON leaves as they are in texts. */
const lineEnd = '\n'

/** What the lines of a backup, or of a file of changes, may say. */
export interface BackupLine {
  readonly format?: string
  readonly version?: number
  readonly revision?: number
  readonly after?: number
  readonly previous?: string
  /** RFC 3339 of the whole, ms since 1970 of a change. */
  readonly time?: string | number
  /** Of the whole, ms since 1970. */
  readonly until?: number
  readonly key?: string
  readonly value?: string
  readonly base64?: string
  readonly deleted?: boolean
  readonly crc?: number
  readonly entries?: number
  readonly sha256?: string
}

/** @throws CopyError for a line that is not JSON; what reading the file throws */
export async function* linesOf(path: string): AsyncGenerator<{ readonly text: string; readonly line: BackupLine }> {
  let begun = ''
  for await (const chunk of createReadStream(path, { encoding: 'utf8' }) as AsyncIterable<string>) {
    const lines = chunk.split(lineEnd)
    lines[0] = begun + lines[0]
    begun = lines.pop() ?? ''
    for (const text of lines) yield { text, line: parse(path, text) }
  }
  if (begun !== '') yield { text: begun, line: parse(path, begun) }
}

function parse(path: string, text: string): BackupLine {
  try {
    return parseJsonText(text) as BackupLine
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new CopyError(`${path} is damaged: a line is not JSON`, { cause })
  }
}
