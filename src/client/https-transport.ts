/** A server elsewhere as a transport: HTTPS (or HTTP, for a proxy on this machine), over connections that are kept. */

import { Agent as HttpAgent, type IncomingMessage, request as sendPlain } from 'node:http'
import { Agent as HttpsAgent, type RequestOptions, request as sendSecure } from 'node:https'
import { trimEndingSlashes } from '../base/trim-slashes.ts'
import type { Transport, TransportResponse } from './transport.ts'

/** Certificates, headers, an agent of its own: whatever says who sends a request, and whom it trusts. */
export type RequestCredentials = Pick<
  RequestOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername' | 'auth' | 'headers' | 'agent'
>

/** A connection may die without a word: a server that is silent for so long is taken for dead. */
export interface Patience {
  /** For an answer, and between its parts. */
  readonly answerMs: number
  /** Between the events of a watch. Longer than `watchSeconds`, at whose end the server ends the watch. */
  readonly watchMs: number
  /** What the server is asked to end a watch after, at the earliest; a quarter more at the latest. */
  readonly watchSeconds: number
}

/** Servers hold no request for longer than a minute. */
const defaultPatience: Patience = { answerMs: 90_000, watchMs: 330_000, watchSeconds: 240 }
/** Less than servers wait before they close an idle connection, so that no request meets a closed one. */
const unusedMs = 30_000

export interface HttpsTransportOptions {
  /** `https://127.0.0.1:6443`; a path in it is put before that of each request. */
  readonly server: string
  /** Asked before each request: credentials may be renewed at any time. */
  readonly credentials: () => RequestCredentials | Promise<RequestCredentials>
  readonly patience?: Patience
}

export function httpsTransport({ server, credentials, patience = defaultPatience }: HttpsTransportOptions): Transport {
  const base = trimEndingSlashes(server)
  const secure = base.startsWith('https:')
  const kept = { keepAlive: true, timeout: unusedMs }
  const ours = secure ? new HttpsAgent(kept) : new HttpAgent(kept)
  return {
    async send({ method, path, query, headers, body, signal, streaming }): Promise<TransportResponse> {
      const isWatch = streaming && query.get('watch') === 'true'
      const asked = isWatch ? ending(query, patience) : query
      const search = asked.size === 0 ? '' : `?${asked.toString()}`
      const silenceMs = isWatch ? patience.watchMs : patience.answerMs
      const { headers: who, agent, ...trust } = await credentials()
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = (secure ? sendSecure : sendPlain)(`${base}${path}${search}`, {
          ...trust,
          // As Go: what an authority's file holds is trusted, be it an intermediate or the server's own certificate.
          allowPartialTrustChain: trust.ca !== undefined,
          method,
          headers: { ...who, ...headers, ...(body === undefined ? {} : { 'content-length': body.length }) },
          agent: agent ?? ours,
          ...(signal === undefined ? {} : { signal }),
        })
        sent.once('response', resolve)
        sent.once('error', (cause) => reject(signal?.aborted ? cause : unreachable(base, cause)))
        sent.setTimeout(silenceMs, () => sent.destroy(new Error(`no word from ${base} for ${silenceMs / 1000} s`)))
        sent.end(body)
      })
      return {
        status: answer.statusCode ?? 0,
        header(name) {
          const value = answer.headers[name]
          return Array.isArray(value) ? value[0] : value
        },
        body: streaming ? answer : Buffer.concat(await answer.toArray()),
      }
    },
  }
}

/** Many watches begin at once and shall not all end at once. */
function ending(query: URLSearchParams, { watchSeconds }: Patience): URLSearchParams {
  if (query.has('timeoutSeconds')) return query
  const asked = new URLSearchParams(query)
  asked.set('timeoutSeconds', String(Math.round(watchSeconds * (1 + Math.random() / 4))))
  return asked
}

/** Where a name has several addresses, the error of the connection says nothing itself. */
function unreachable(server: string, cause: Error): Error {
  const { code } = cause as NodeJS.ErrnoException
  return new Error(`${server} can't be reached: ${cause.message || code || 'no address answers'}`, { cause })
}
