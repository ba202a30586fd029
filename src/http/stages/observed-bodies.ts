/** Requests and answers whose bodies the audit log sees go by. They behave as what they stand for. */
import { maxRecordedBytes } from '../../audit/recorded-body.ts'
import type { Stream } from '../../base/stream.ts'
import type { UserInfo } from '../../kube/user.ts'
import type { ApiRequest, RequestAccount } from '../api.ts'

/** The same request; a copy of its fields would lose what an adapter works out only when it is asked. */
export class ObservedRequest implements ApiRequest {
  readonly #inner: ApiRequest
  readonly #see: (bytes: Uint8Array) => void
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly clientCertificate?: NonNullable<ApiRequest['clientCertificate']>
  readonly localUser?: UserInfo
  readonly remoteAddress: string

  constructor(inner: ApiRequest, see: (bytes: Uint8Array) => void) {
    this.#inner = inner
    this.#see = see
    this.method = inner.method
    this.path = inner.path
    this.query = inner.query
    this.headers = inner.headers
    this.remoteAddress = inner.remoteAddress
    if (inner.clientCertificate !== undefined) this.clientCertificate = inner.clientCertificate
    if (inner.localUser !== undefined) this.localUser = inner.localUser
  }

  headerValues(name: string): readonly string[] {
    return this.#inner.headerValues(name)
  }

  async body(limitBytes: number): Promise<Uint8Array> {
    const bytes = await this.#inner.body(limitBytes)
    this.#see(bytes)
    return bytes
  }

  get signal(): AbortSignal {
    return this.#inner.signal
  }

  get account(): RequestAccount | undefined {
    return this.#inner.account
  }
}

/** As much of an answer as shows whether it is short enough to be recorded. */
export class KeptBytes {
  body: readonly Uint8Array[] = []
  #sizeBytes = 0

  add(chunk: Uint8Array): void {
    if (this.#sizeBytes > maxRecordedBytes) return
    this.#sizeBytes += chunk.length
    this.body = [...this.body, chunk]
  }
}

/** A stream that says when it has ended, however it ends. */
export class FollowedStream implements Stream<Uint8Array> {
  readonly #inner: Stream<Uint8Array>
  readonly #see: (chunk: Uint8Array) => void
  #ended: (() => void) | undefined

  constructor(inner: Stream<Uint8Array>, ended: () => void, see: (chunk: Uint8Array) => void = () => {}) {
    this.#inner = inner
    this.#ended = ended
    this.#see = see
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.#inner) {
        this.#see(chunk)
        yield chunk
      }
    } finally {
      this.#end()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]()
    this.#end()
  }

  #end(): void {
    this.#ended?.()
    this.#ended = undefined
  }
}
