/**
 * What an engine hands up in place of a value that it could not open: bytes that say what is wrong.
 * So a damaged entry stays in every listing and keeps its revision (absence would be taken for a deletion), it passes
 * through caches and the relay like any other, and only code that wants to read the value has to look for it.
 *
 * A note is never stored: what copies values looks for it.
 */

/** The first byte of every note, and of no stored object. */
export const noteMark = 0xff
const opening: Buffer = Buffer.from('\xffborough: damaged value: ', 'latin1')

/** `message`: one line that names the key and the revision. */
export function damageNote(message: string): Uint8Array {
  return new Uint8Array(Buffer.concat([opening, Buffer.from(message)]))
}

/** The message of a note; undefined: the value is sound. */
export function damageOf(value: Uint8Array): string | undefined {
  // One comparison for all sound values: this is asked for each that is read.
  if (value[0] !== noteMark || value.byteLength < opening.length) return undefined
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return bytes.subarray(0, opening.length).equals(opening) ? bytes.toString('utf8', opening.length) : undefined
}
