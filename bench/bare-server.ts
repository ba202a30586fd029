/**
 * The limit: Node's own HTTPS and HTTP/2 servers, which answer every request with the same headers and bytes. Same TLS
 * settings as Borough's listener, a process of its own like Borough's.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'

export interface BareTls {
  readonly key: string
  readonly cert: string
  readonly ca: string
}

export interface BareServer extends Disposable {
  readonly pid: number
  readonly http1Port: number
  readonly http2Port: number
  /** What it sends from now on. */
  serve(body: Buffer): Promise<void>
}

interface Ready {
  readonly http1Port: number
  readonly http2Port: number
}

export async function startBareServer(tls: BareTls): Promise<BareServer> {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url))
  child.send({ tls })
  const [ready] = (await once(child, 'message')) as [Ready]
  return {
    ...ready,
    pid: child.pid ?? 0,
    async serve(body) {
      child.send({ body: body.toString('base64') })
      await once(child, 'message')
    },
    [Symbol.dispose]: () => void child.kill(),
  }
}

/** The headers of Borough's answers. */
const headers = {
  'audit-id': '5f0c1a52-0d8c-4f0e-9a55-2f3c6d1b7e90',
  'cache-control': 'no-cache, private',
  'content-type': 'application/json',
}

async function main(): Promise<void> {
  let body = Buffer.alloc(0)
  const [{ tls }] = (await once(process, 'message')) as [{ tls: BareTls }]
  const options = { ...tls, requestCert: true, rejectUnauthorized: false, minVersion: 'TLSv1.2' } as const
  const http1 = https.createServer({ ...options, keepAliveTimeout: 120_000 }, (_request, response) => {
    response.writeHead(200, { ...headers, 'content-length': body.length })
    response.end(body)
  })
  const both = http2.createSecureServer({ ...options, settings: { initialWindowSize: 1024 * 1024 } })
  both.on('stream', (stream: http2.ServerHttp2Stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200, ...headers, 'content-length': body.length })
    stream.end(body)
  })
  http1.listen(0, '127.0.0.1')
  both.listen(0, '127.0.0.1')
  await Promise.all([once(http1, 'listening'), once(both, 'listening')])
  process.on('message', (message: { body: string }) => {
    body = Buffer.from(message.body, 'base64')
    process.send?.('ok')
  })
  const portOf = (server: { address(): AddressInfo | string | null }): number => (server.address() as AddressInfo).port
  process.send?.({ http1Port: portOf(http1), http2Port: portOf(both) } satisfies Ready)
}

if (import.meta.main) await main()
