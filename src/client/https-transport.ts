/** A server elsewhere as a transport: HTTPS with a client certificate, one connection per request. */
import type { IncomingMessage } from 'node:http'
import { request as send } from 'node:https'
import type { Transport, TransportResponse } from './transport.ts'

export interface HttpsTransportOptions {
  /** `https://127.0.0.1:6443`; a path in it is put before that of each request. */
  readonly server: string
  /** PEM */
  readonly caCert: string
  /** PEM */
  readonly credential: { readonly cert: string; readonly key: string }
}

export function httpsTransport({ server, caCert, credential }: HttpsTransportOptions): Transport {
  const base = server.replace(/\/+$/, '')
  return {
    async send({ method, path, query, headers, body, signal, streaming }): Promise<TransportResponse> {
      const search = query.size === 0 ? '' : `?${query.toString()}`
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = send(`${base}${path}${search}`, {
          method,
          headers: { ...headers, ...(body === undefined ? {} : { 'content-length': body.length }) },
          ca: caCert,
          ...credential,
          agent: false,
          ...(signal === undefined ? {} : { signal }),
        })
        sent.once('response', resolve)
        sent.once('error', reject)
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
