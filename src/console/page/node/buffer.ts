/** What code that is shared with the server uses of Node's Buffer. */

const encoder = new TextEncoder()

export const Buffer = {
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
