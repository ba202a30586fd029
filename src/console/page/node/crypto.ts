/** What code that is shared with the server uses of node:crypto. */

/**
 * Stands for a text among the texts of one page: nothing here is kept, sent, or compared with a digest that a server
 * made. Two 53-bit halves of a multiplicative hash (cyrb53).
 */
export function hash(_algorithm: string, text: string, _encoding: string): string {
  return half(text, 0).toString(36).padStart(11, '0') + half(text, 1).toString(36).padStart(11, '0')
}

function half(text: string, seed: number): number {
  let a = 0xdeadbeef ^ seed
  let b = 0x41c6ce57 ^ seed
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return 4294967296 * (2097151 & b) + (a >>> 0)
}
