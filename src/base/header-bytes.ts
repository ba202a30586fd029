/**
 * What stands in HTTP headers beyond ASCII. Node hands a header over with one character for each byte (Latin-1) and
 * takes one to send in the same form; clients of Kubernetes, like Go, write the bytes of UTF-8.
 */

const isAscii = (text: string): boolean => !/[^\x00-\x7f]/.test(text)

/** The text whose UTF-8 the value holds; undefined = its bytes are not UTF-8. A byte order mark is kept. */
export function textOfHeader(value: string): string | undefined {
  return isAscii(value) ? value : textOfBytes(Buffer.from(value, 'latin1'))
}

/** For a log: what is not UTF-8 is replaced, as Go's JSON does. */
export const printableHeader = (value: string): string =>
  isAscii(value) ? value : Buffer.from(value, 'latin1').toString('utf8')

/** undefined = not UTF-8. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // The only error it throws: not UTF-8.
    return undefined
  }
}

/** A value to send, whose bytes are the UTF-8 of the text. */
export function headerOfText(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}

/** A request's target as Go reads it: a byte beyond ASCII stands for itself, as its escape does. */
export function escapedTarget(target: string): string {
  if (isAscii(target)) return target
  return target.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
}
