/**
 * The pipeline of this process as a transport. The identity is a field no socket can set; everything else (authorization,
 * admission, audit) happens as for anybody.
 */
import type { UserInfo } from '../kube/user.ts'
import type { Transport, TransportResponse } from './transport.ts'

/** The part of an `ApiRequest` and its answer that the loopback needs; `http/api.ts` satisfies it. */
export interface LocalServe {
  (request: {
    readonly method: string
    readonly path: string
    readonly query: string
    readonly headers: Readonly<Record<string, string | undefined>>
    headerValues(name: string): readonly string[]
    body(limitBytes: number): Promise<Uint8Array>
    readonly localUser: UserInfo
    readonly remoteAddress: string
    readonly signal: AbortSignal
  }): Promise<{
    readonly status: number
    readonly headers: Readonly<Record<string, string | readonly string[]>>
    readonly body: Uint8Array | readonly Uint8Array[] | import('../base/stream.ts').Stream<Uint8Array>
  }>
}

const never = new AbortController().signal
const empty = new Uint8Array(0)

export function loopbackTransport(serve: LocalServe, user: UserInfo): Transport {
  return {
    knowsIfNoneMatch: true,
    async send({ method, path, query, headers, body, signal }): Promise<TransportResponse> {
      const answer = await serve({
        method,
        path,
        query: query.toString(),
        headers,
        headerValues(name) {
          const value = headers[name]
          return value === undefined ? [] : [value]
        },
        body: () => Promise.resolve(body ?? empty),
        localUser: user,
        remoteAddress: '127.0.0.1',
        signal: signal ?? never,
      })
      return {
        status: answer.status,
        header(name) {
          const value = answer.headers[name]
          return typeof value === 'string' ? value : value?.[0]
        },
        body: Array.isArray(answer.body)
          ? Buffer.concat(answer.body)
          : (answer.body as Exclude<typeof answer.body, readonly Uint8Array[]>),
      }
    },
  }
}
