/**
 * The pipeline of this process as a transport. The identity is a field no socket can set; everything else
 * (authorization, admission, audit) happens as for any client.
 */
import type { Eventual } from '../base/eventual.ts'
import { runInSlices } from '../base/resumable.ts'
import type { Stream } from '../base/stream.ts'
import { Turns } from '../base/turns.ts'
import { parsingInPieces } from '../kube/json-pieces.ts'
import type { JsonValue, KubeObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'
import type { Client } from './client.ts'
import { RestClient } from './rest-client.ts'
import type { Transport, TransportResponse } from './transport.ts'

/** The part of an `ApiRequest` and its answer that the loopback needs; `http/api.ts` satisfies it. */
export interface LocalServe {
  (request: {
    readonly method: string
    readonly path: string
    readonly query: string
    readonly headers: Readonly<Record<string, string | undefined>>
    headerValues(name: string): readonly string[]
    body(limitBytes: number): Eventual<Uint8Array>
    readonly localUser: UserInfo
    readonly sharing?: { readonly value?: JsonValue | undefined } | undefined
    readonly remoteAddress: string
    readonly signal: AbortSignal
  }): Eventual<{
    readonly status: number
    readonly headers: Readonly<Record<string, string | readonly string[]>>
    readonly body: Uint8Array | readonly Uint8Array[] | Stream<Uint8Array>
    readonly shared?: NonNullable<TransportResponse['shared']>
  }>
}

const never = new AbortController().signal
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const empty = new Uint8Array(0)

/** What is as large as that is written, and read, in a turn of the loop of its own: both sides share a thread. */
const largeBytes = 64 * 1024

const inItsTurn = (bytes: Uint8Array): Eventual<Uint8Array> =>
  bytes.length < largeBytes ? bytes : new Promise((resolve) => setImmediate(resolve, bytes))

/**
 * `sharesValues`: nothing is written as JSON and read again on the way. For callers that never change what they were
 * given: it is the server's own.
 */
export function loopbackTransport(serve: LocalServe, user: UserInfo, sharesValues = false): Transport {
  const turns = new Turns()
  return {
    knowsIfNoneMatch: true,
    sharesValues,
    async send({ method, path, query, headers, body, value, signal }): Promise<TransportResponse> {
      const answer = await serve({
        method,
        path,
        query: query.size === 0 ? '' : query.toString(),
        headers,
        headerValues(name) {
          const value = headers[name]
          return value === undefined ? [] : [value]
        },
        body: () => (value === undefined ? (body ?? empty) : inItsTurn(encoder.encode(JSON.stringify(value)))),
        localUser: user,
        sharing: sharesValues ? { value } : undefined,
        remoteAddress: '127.0.0.1',
        signal: signal ?? never,
      })
      const answered = isStream(answer.body) ? answer.body : await inItsTurn(joined(answer.body))
      const shared = answer.shared ?? (answer.status < 400 ? await readInSlices(answered, turns) : undefined)
      return {
        status: answer.status,
        header(name) {
          const value = answer.headers[name]
          return typeof value === 'string' ? value : value?.join(', ')
        },
        body: answered,
        ...(shared === undefined ? {} : { shared }),
      }
    },
  }
}

/** What a long answer says, and nothing of a short one. */
async function readInSlices(body: Uint8Array | Stream<Uint8Array>, turns: Turns): Promise<TransportResponse['shared']> {
  if (!(body instanceof Uint8Array) || body.length < largeBytes) return undefined
  const text = decoder.decode(body)
  return { object: (await runInSlices(parsingInPieces(text), turns.slice())) as unknown as KubeObject }
}

type Bytes = Uint8Array | readonly Uint8Array[]

const isStream = (body: Bytes | Stream<Uint8Array>): body is Stream<Uint8Array> =>
  !(body instanceof Uint8Array || Array.isArray(body))

const joined = (body: Bytes): Uint8Array => (body instanceof Uint8Array ? body : Buffer.concat(body))

/** A client of the pipeline of this process, as `user`. */
export const loopbackClient = (serve: LocalServe, user: UserInfo, userAgent: string, sharesValues = false): Client =>
  new RestClient({ transport: loopbackTransport(serve, user, sharesValues), userAgent })
