/** Takes HTTP/1.1 answers off a socket: with a length or in chunks, one at a time, nothing pipelined. */

const lineEnd = '\r\n'
const headEnd = '\r\n\r\n'

export interface Reply {
  readonly status: number
  readonly chunks: readonly Buffer[]
  readonly sizeBytes: number
}

type State = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer'

export class Http1Answers {
  #state: State = 'head'
  /** What came and could not be used yet: the beginning of a head or of a chunk's size. */
  #rest: Buffer | undefined
  #left = 0
  #status = 0
  #chunks: Buffer[] = []
  #sizeBytes = 0
  #done: ((reply: Reply) => void) | undefined
  #begun: ((status: number) => void) | undefined
  #onData: ((data: Buffer) => void) | undefined

  expect(done: (reply: Reply) => void): void {
    this.#done = done
  }

  expectStream(begun: (status: number) => void, onData: (data: Buffer) => void): void {
    this.#begun = begun
    this.#onData = onData
  }

  push(data: Buffer): void {
    let at = 0
    const input = this.#rest === undefined ? data : Buffer.concat([this.#rest, data])
    this.#rest = undefined
    while (at < input.length) {
      const next = this.#step(input, at)
      if (next < 0) {
        this.#rest = input.subarray(at)
        return
      }
      at = next
    }
  }

  /** Where to go on; -1 = more must come first. */
  #step(input: Buffer, at: number): number {
    switch (this.#state) {
      case 'head': {
        const end = input.indexOf(headEnd, at)
        if (end < 0) return -1
        this.#head(input.toString('latin1', at, end).toLowerCase())
        return end + headEnd.length
      }
      case 'length':
      case 'chunk': {
        const end = Math.min(input.length, at + this.#left)
        this.#body(at === 0 && end === input.length ? input : input.subarray(at, end))
        this.#left -= end - at
        if (this.#left === 0) {
          if (this.#state === 'chunk') this.#state = 'chunk-end'
          else this.#finish()
        }
        return end
      }
      case 'chunk-end':
        if (input.length - at < lineEnd.length) return -1
        this.#state = 'chunk-size'
        return at + lineEnd.length
      case 'chunk-size': {
        const end = input.indexOf(lineEnd, at)
        if (end < 0) return -1
        this.#left = Number.parseInt(input.toString('latin1', at, end), 16)
        this.#state = this.#left === 0 ? 'trailer' : 'chunk'
        return end + lineEnd.length
      }
      case 'trailer':
        if (input.length - at < lineEnd.length) return -1
        this.#finish()
        return at + lineEnd.length
    }
  }

  #head(head: string): void {
    this.#status = Number(head.slice(9, 12))
    this.#begun?.(this.#status)
    this.#chunks = []
    this.#sizeBytes = 0
    const length = /\ncontent-length: *(\d+)/.exec(head)
    if (length) {
      this.#left = Number(length[1])
      this.#state = 'length'
      if (this.#left === 0) this.#finish()
    } else if (head.includes('\ntransfer-encoding: chunked')) this.#state = 'chunk-size'
    else throw new Error(`an answer without a length: ${head}`)
  }

  #body(data: Buffer): void {
    if (this.#onData) {
      this.#onData(data)
      return
    }
    this.#chunks.push(data)
    this.#sizeBytes += data.length
  }

  #finish(): void {
    this.#state = 'head'
    this.#done?.({ status: this.#status, chunks: this.#chunks, sizeBytes: this.#sizeBytes })
  }
}
