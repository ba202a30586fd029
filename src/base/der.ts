/**
 * Reads DER as far as certificates and certificate requests need it: elements with definite lengths. Knows nothing of
 * what they mean. Node parses certificates, but tells no types of strings, and it does not parse requests at all.
 * @see X.690
 */

export interface DerElement {
  readonly tag: number
  readonly content: Buffer
  /** With tag and length. */
  readonly whole: Buffer
}

/** Bytes that are not the DER they should be. The message is in the words of Go's encoding/asn1. */
export class DerError extends Error {
  override readonly name = 'DerError'
}

export const derTags = { bitString: 0x03, objectIdentifier: 0x06, sequence: 0x30 } as const

/** The elements that follow one another in `bytes`. @throws DerError */
export function elementsOf(bytes: Buffer): DerElement[] {
  const found: DerElement[] = []
  let at = 0
  while (at < bytes.length) {
    let length = bytes[at + 1] ?? 0
    let start = at + 2
    if (length >= 0x80) {
      const octets = length & 0x7f
      if (octets === 0 || octets > 4 || start + octets > bytes.length) {
        throw new DerError('asn1: syntax error: bad length')
      }
      length = bytes.readUIntBE(start, octets)
      start += octets
    }
    const end = start + length
    if (end > bytes.length) throw new DerError('asn1: syntax error: data truncated')
    found.push({ tag: bytes[at] ?? 0, content: bytes.subarray(start, end), whole: bytes.subarray(at, end) })
    at = end
  }
  return found
}

/** The element, which must be there and of this type. @throws DerError */
export function expectElement(element: DerElement | undefined, tag: number): DerElement {
  if (element === undefined) throw new DerError('asn1: syntax error: sequence truncated')
  if (element.tag !== tag) throw new DerError('asn1: structure error: tags do not match')
  return element
}

/** What stands inside a sequence. @throws DerError */
export const elementsIn = (element: DerElement | undefined): DerElement[] =>
  elementsOf(expectElement(element, derTags.sequence).content)

/** `2.5.4.3` */
export function oidText(bytes: Buffer): string {
  const [first = 0, ...rest] = bytes
  const arcs = [Math.floor(first / 40), first % 40]
  let arc = 0
  for (const octet of rest) {
    arc = arc * 128 + (octet & 0x7f)
    if (octet < 0x80) {
      arcs.push(arc)
      arc = 0
    }
  }
  return arcs.join('.')
}
