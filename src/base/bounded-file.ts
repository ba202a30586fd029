/** Files that an operator names, read no further than they make sense: the path may be of a device, or of a mistake. */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs'

const mebibyte = 1024 * 1024

/** Of what is written by hand: settings, policies, kubeconfigs, certificates, keys. */
export const mostSettingsBytes: number = mebibyte
/** Of what programs write, such as many objects or users. */
export const mostListBytes: number = 16 * mebibyte

/** Like an error of the operating system: where the code of one is shown, this one is too. */
export class OversizedFileError extends Error {
  override readonly name = 'OversizedFileError'
  readonly code: string

  constructor(mostBytes: number) {
    super(`it has more than ${mostBytes / mebibyte} MiB`)
    this.code = `EFBIG: more than ${mostBytes / mebibyte} MiB`
  }
}

/** @throws OversizedFileError, and as fs */
export const readBoundedFile = (path: string, mostBytes: number = mostSettingsBytes): Promise<Buffer> =>
  readBounded(createReadStream(path, { end: mostBytes }), mostBytes)

/** Of a stream that is open, to its end. @throws OversizedFileError, and as the stream */
export async function readBounded(stream: AsyncIterable<Buffer>, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > mostBytes) throw new OversizedFileError(mostBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Where nothing can be waited for. @throws OversizedFileError, and as fs */
export function readBoundedFileSync(path: string, mostBytes: number = mostSettingsBytes): string {
  const file = openSync(path, 'r')
  try {
    const chunks: Buffer[] = []
    let length = 0
    for (;;) {
      const chunk = Buffer.alloc(64 * 1024)
      const read = readSync(file, chunk)
      if (read === 0) return Buffer.concat(chunks).toString('utf8')
      length += read
      if (length > mostBytes) throw new OversizedFileError(mostBytes)
      chunks.push(chunk.subarray(0, read))
    }
  } finally {
    closeSync(file)
  }
}
