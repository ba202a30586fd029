/** A server elsewhere as a transport: HTTPS (or HTTP, for a proxy on this machine), over connections that are kept. */
import { Agent as HttpAgent, type IncomingMessage, request as sendPlain } from 'node:http'
import { Agent as HttpsAgent, type RequestOptions, request as sendSecure } from 'node:https'
import type { Transport, TransportResponse } from './transport.ts'

/** Certificates, headers, an agent of its own: whatever says who sends a request, and whom it trusts. */
export type RequestCredentials = Pick<
  RequestOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername' | 'auth' | 'headers' | 'agent'
>

export interface HttpsTransportOptions {
  /** `https://127.0.0.1:6443`; a path in it is put before that of each request. */
  readonly server: string
  /** Asked before each request: credentials may be renewed at any time. */
  readonly credentials: () => RequestCredentials | Promise<RequestCredentials>
}

export function httpsTransport({ server, credentials }: HttpsTransportOptions): Transport {
  const base = server.replace(/\/+$/, '')
  const secure = base.startsWith('https:')
  const ours = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  return {
    async send({ method, path, query, headers, body, signal, streaming }): Promise<TransportResponse> {
      const search = query.size === 0 ? '' : `?${query.toString()}`
      const { headers: who, agent, ...trust } = await credentials()
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = (secure ? sendSecure : sendPlain)(`${base}${path}${search}`, {
          ...trust,
          method,
          headers: { ...who, ...headers, ...(body === undefined ? {} : { 'content-length': body.length }) },
          agent: agent ?? ours,
          ...(signal === undefined ? {} : { signal }),
        })
        sent.once('response', resolve)
        sent.once('error', (cause) => reject(signal?.aborted ? cause : unreachable(base, cause)))
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

/** Where a name has several addresses, the error of the connection says nothing itself. */
function unreachable(server: string, cause: Error): Error {
  const { code } = cause as NodeJS.ErrnoException
  return new Error(`${server} can't be reached: ${cause.message || code || 'no address answers'}`, { cause })
}
