/** In which form each value was written to an etcd: a watch of etcd's own, which sees them as they lie. */
import { etcdCall } from './cluster.ts'

interface Written {
  readonly key: string
  readonly modRevision: number
  /** Of its header: 0 = without a checksum. */
  readonly form: number
}

interface WatchLine {
  readonly result?: {
    readonly events?: readonly {
      readonly type?: string
      readonly kv: { readonly key: string; readonly value?: string; readonly mod_revision: string }
    }[]
  }
}

const headerMark = 0xff
/** Servers write these with a checksum whatever else they write. */
const isRecord = (key: string): boolean => key.startsWith('/borough/format-')

export class StoredForms implements AsyncDisposable {
  /** In the order of their commits. */
  readonly written: Written[] = []
  readonly #endpoint: string
  readonly #stop = new AbortController()
  readonly #following: Promise<void>
  #failure: unknown

  /** Follows from now on. */
  static async open(endpoint: string): Promise<StoredForms> {
    const body = { create_request: { key: base64('/'), range_end: base64('0') } }
    const stop = new AbortController()
    const answer = await fetch(`${endpoint}/v3/watch`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: stop.signal,
    })
    if (answer.body === null) throw new Error('etcd answers no watch')
    return new StoredForms(endpoint, answer.body, stop)
  }

  private constructor(endpoint: string, body: ReadableStream<Uint8Array>, stop: AbortController) {
    this.#endpoint = endpoint
    this.#stop = stop
    this.#following = this.#follow(body)
  }

  /** What etcd has come to. */
  async revision(): Promise<number> {
    const { header } = (await etcdCall(this.#endpoint, 'kv/range', { key: 'AA==' })) as { header: { revision: string } }
    return Number(header.revision)
  }

  /** Resolves when all values up to now were seen; servers write all the time. */
  async catchUp(): Promise<void> {
    const revision = await this.revision()
    await this.until(({ modRevision }) => modRevision >= revision)
  }

  /** Resolves when the newest value is such a one. */
  async until(isOne: (written: Written) => boolean): Promise<void> {
    for (;;) {
      const newest = this.written.at(-1)
      if (newest !== undefined && isOne(newest)) return
      if (this.#failure !== undefined) throw new Error('the forms are not seen any more', { cause: this.#failure })
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#following
  }

  async #follow(body: ReadableStream<Uint8Array>): Promise<void> {
    try {
      const decoder = new TextDecoder()
      let rest = ''
      for await (const piece of body) {
        const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) this.#take(JSON.parse(line) as WatchLine)
      }
      throw new Error("etcd's watch ended")
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failure = error
    }
  }

  #take({ result }: WatchLine): void {
    for (const { type, kv } of result?.events ?? []) {
      if (type === 'DELETE') continue
      const key = Buffer.from(kv.key, 'base64').toString('utf8')
      const value = Buffer.from(kv.value ?? '', 'base64')
      // Without a header there is no form: a note of what was deleted.
      if (value[0] !== headerMark || isRecord(key)) continue
      this.written.push({ key, modRevision: Number(kv.mod_revision), form: value[3] ?? 0 })
    }
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
