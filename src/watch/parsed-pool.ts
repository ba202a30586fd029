/**
 * Keeps the most recently parsed objects, first in, first out, within a budget of stored bytes. Parsed objects take
 * several times the room of their bytes; keeping them all would multiply the memory of a large installation, keeping
 * none would parse the hot ones again and again.
 */

interface Parsed {
  readonly bytes: Uint8Array
  forget(): void
}

export class ParsedPool {
  readonly #budgetBytes: number
  #items: Parsed[] = []
  #head = 0
  #sizeBytes = 0

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes
  }

  keep(parsed: Parsed): void {
    this.#items.push(parsed)
    this.#sizeBytes += parsed.bytes.byteLength
    while (this.#sizeBytes > this.#budgetBytes && this.#items.length - this.#head > 1) {
      const oldest = this.#items[this.#head++] as Parsed
      this.#sizeBytes -= oldest.bytes.byteLength
      oldest.forget()
    }
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
  }
}
