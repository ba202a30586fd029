/** A kubeconfig, as the official client reads it, as a client of ours. */

import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request as send } from 'node:https'
import { RestClient, type Transport } from '@borough/borough/client'
import type { KubeConfig } from '@kubernetes/client-node'

export function clientOf(config: KubeConfig): RestClient {
  const server = config.getCurrentCluster()?.server.replace(/\/+$/, '') ?? ''
  const transport: Transport = {
    async send({ method, path, query, headers, body, signal, streaming }) {
      const options: RequestOptions = { method, headers: { ...headers }, ...(signal ? { signal } : {}) }
      await config.applyToHTTPSOptions(options)
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        send(`${server}${path}?${query}`, options).once('response', resolve).once('error', reject).end(body)
      })
      return {
        status: answer.statusCode ?? 0,
        header: (name) => answer.headers[name]?.toString(),
        body: streaming ? answer : Buffer.concat(await answer.toArray()),
      }
    },
  }
  return new RestClient({ transport, userAgent: 'log-index-initializer' })
}
