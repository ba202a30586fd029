/**
 * The positions of a commit's deletes, written beside them.
 *
 * A put carries its position in the value; a delete leaves nothing behind. If the commit is one transaction of ours, a
 * delete stands one behind the change in front of it. If several transactions share the commit (see `commit-queue.ts`),
 * some of them may have been refused and left gaps: then the commit also writes this note.
 */
import { ProtoReader, ProtoWriter } from '../../base/protobuf.ts'

export interface PlacedDelete {
  readonly rawKey: Uint8Array
  readonly position: number
}

export function encodeNote(deletes: readonly PlacedDelete[]): Buffer {
  const writer = new ProtoWriter()
  for (const { rawKey, position } of deletes) {
    writer.message(1, (w) => {
      w.bytes(1, rawKey)
      w.varint(2, position)
    })
  }
  return writer.finish()
}

/** Positions by raw key, read as latin1 so that it is exact and cheap. */
export function decodeNote(note: Buffer): ReadonlyMap<string, number> {
  const positions = new Map<string, number>()
  const reader = new ProtoReader(note)
  while (reader.next()) {
    if (reader.field !== 1) {
      reader.skip()
      continue
    }
    const item = reader.message()
    let key = ''
    let position = 0
    while (item.next()) {
      if (item.field === 1) key = noteKey(item.bytes())
      else if (item.field === 2) position = item.int()
      else item.skip()
    }
    positions.set(key, position)
  }
  return positions
}

export function noteKey(rawKey: Buffer): string {
  return rawKey.toString('latin1')
}
