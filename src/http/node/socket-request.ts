/** What a request brings along from its connection, whichever protocol it speaks. */
import type { ApiRequest, RequestAccount } from '../api.ts'
import type { Exchange } from './exchange.ts'

export abstract class SocketRequest implements ApiRequest {
  abstract readonly method: string
  abstract readonly path: string
  abstract readonly query: string
  abstract readonly headers: ApiRequest['headers']
  abstract readonly body: ApiRequest['body']
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  abstract headerValues(name: string): readonly string[]

  get clientCertificate(): ApiRequest['clientCertificate'] {
    return this.#exchange.connection.clientCertificate
  }

  get remoteAddress(): string {
    return this.#exchange.connection.remoteAddress
  }

  get reserved(): boolean {
    return this.#exchange.connection.reserved
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  get account(): RequestAccount {
    return this.#exchange.account
  }

  identify(username: string): void {
    this.#exchange.identify(username)
  }

  hangUp(): void {
    this.#exchange.connection.hangUp()
  }

  abandon(): void {
    this.#exchange.abort()
  }
}

export function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}
