/** Texts and bytes, gathered into chunks of a size that is worth a write to a socket. */

/** A chunk ends with the part that takes it past this. */
export const chunkBytes: number = 64 * 1024

export class Chunks {
  #parts: Uint8Array[] = []
  #texts = ''
  #sizeBytes = 0

  /** At least; a character outside ASCII takes more. */
  get isFull(): boolean {
    return this.#sizeBytes >= chunkBytes
  }

  get isEmpty(): boolean {
    return this.#sizeBytes === 0
  }

  text(text: string): void {
    this.#texts += text
    this.#sizeBytes += text.length
  }

  /** Not copied before `take`: `bytes` must not change until then. */
  bytes(bytes: Uint8Array): void {
    this.#settle()
    this.#parts.push(bytes)
    this.#sizeBytes += bytes.length
  }

  /** Everything since the last call, as bytes of their own. */
  take(): Uint8Array {
    this.#settle()
    const chunk = Buffer.concat(this.#parts)
    this.#parts = []
    this.#sizeBytes = 0
    return chunk
  }

  #settle(): void {
    if (this.#texts === '') return
    this.#parts.push(Buffer.from(this.#texts))
    this.#texts = ''
  }
}
