/**
 * A log that an earlier process left behind, written anew and flushed.
 *
 * Where a flush failed, Linux takes the bytes for written although the disk never got them, and goes on answering them
 * from memory. A later flush leaves them out: a log with transactions of now behind them would end before these after a
 * failure of power. The same bytes written to the same place are flushed like any others, and change nothing else.
 */
import { closeSync, existsSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'

const pieceBytes = 1024 * 1024

export function flushAnew(path: string): void {
  if (!existsSync(path)) return
  const file = openSync(path, 'r+')
  try {
    const piece = Buffer.alloc(pieceBytes)
    let at = 0
    for (;;) {
      const length = readSync(file, piece, 0, pieceBytes, at)
      if (length === 0) break
      for (let done = 0; done < length; ) done += writeSync(file, piece, done, length - done, at + done)
      at += length
    }
    if (at > 0) fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
