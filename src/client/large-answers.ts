/**
 * Places for answers that are large. What a webhook sends is not the client's, and counts for no flow: so few large
 * answers are in memory at once, and of one address fewer. Others are not read until a place is free, within their
 * time.
 */

const most = 8
const mostOfAddress = 3

interface Waiting {
  readonly address: string
  readonly grant: () => void
}

export class LargeAnswers {
  readonly #taken = new Map<string, number>()
  #all = 0
  #waiting: Waiting[] = []

  /** What is answered gives the place back. Rejects when `signal` aborts. */
  async take(address: string, signal: AbortSignal): Promise<() => void> {
    if (!this.#isFree(address)) await this.#wait(address, signal)
    this.#add(address, 1)
    return () => this.#release(address)
  }

  #isFree(address: string): boolean {
    return this.#all < most && (this.#taken.get(address) ?? 0) < mostOfAddress
  }

  #add(address: string, places: number): void {
    this.#all += places
    const taken = (this.#taken.get(address) ?? 0) + places
    if (taken > 0) this.#taken.set(address, taken)
    else this.#taken.delete(address)
  }

  #wait(address: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
        signal.removeEventListener('abort', left)
      }
      const left = (): void => {
        leave()
        reject(new Error('aborted'))
      }
      const grant = (): void => {
        leave()
        resolve()
      }
      const waiting = { address, grant }
      if (signal.aborted) return left()
      this.#waiting.push(waiting)
      signal.addEventListener('abort', left, { once: true })
    })
  }

  #release(address: string): void {
    this.#add(address, -1)
    this.#waiting.find((waiting) => this.#isFree(waiting.address))?.grant()
  }
}
