/** What code that is shared with the server uses of Node's Buffer. */

const encoder = new TextEncoder()

class Bytes extends Uint8Array {
  override toString(encoding: 'hex' | 'utf8' = 'utf8'): string {
    if (encoding === 'utf8') return new TextDecoder().decode(this)
    return Array.from(this, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}

export const Buffer = {
  from: (content: string | Uint8Array): Bytes =>
    new Bytes(typeof content === 'string' ? encoder.encode(content) : content),
  /** By the first byte that differs; what ends first is less. */
  compare(a: Uint8Array, b: Uint8Array): -1 | 0 | 1 {
    const at = a.findIndex((byte, i) => byte !== b[i])
    if (at < 0) return a.length === b.length ? 0 : -1
    const other = b[at]
    return other === undefined || (a[at] ?? 0) > other ? 1 : -1
  },
  byteLength: (text: string): number => encoder.encode(text).length,
  concat(chunks: readonly Uint8Array[]): Uint8Array {
    const whole = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const chunk of chunks) {
      whole.set(chunk, at)
      at += chunk.length
    }
    return whole
  },
}
