/** Clients that go away in the middle of something: their business, and no line in the server's log. */
import { once } from 'node:events'
import { connect } from 'node:http2'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import { defaultConfig } from '../../src/app/config.ts'
import { type Server, serve } from '../../src/app/serve.ts'
import type { Log } from '../../src/base/log.ts'

const configMaps = '/api/v1/namespaces/default/configmaps'

interface Departure {
  readonly name: string
  readonly method: string
  readonly path: string
  /** Of a body that never ends. */
  readonly begun?: string
}
const departures: readonly Departure[] = [
  { name: 'half way through a body', method: 'POST', path: configMaps, begun: '{"metadata":' },
  { name: 'half way through a patch', method: 'PATCH', path: `${configMaps}/kube-root-ca.crt`, begun: '{' },
  { name: 'half way through the options of a deletion', method: 'DELETE', path: `${configMaps}/none`, begun: '{' },
  { name: 'before a list is answered', method: 'GET', path: configMaps },
  { name: 'in a watch', method: 'GET', path: `${configMaps}?watch=1` },
]

const typeOf = (method: string): string => `application/${method === 'PATCH' ? 'merge-patch+' : ''}json`

function recordingLog(): { readonly log: Log; readonly lines: unknown[] } {
  const lines: unknown[] = []
  const line = (fields: object, message: string): void => void lines.push({ message, ...fields })
  return { log: { debug: () => undefined, info: () => undefined, warn: line, error: line }, lines }
}

const credentials = (server: Server) => ({
  ca: server.plane.pki.caCert,
  ...server.plane.pki.mintClientCertificate({ user: 'root', groups: ['system:masters'], durationMs: 3_600_000 }),
})

async function overHttp1(server: Server, { method, path, begun }: Departure): Promise<void> {
  const socket: TLSSocket = connectTls({ host: '127.0.0.1', port: server.port, ...credentials(server) })
  await once(socket, 'secureConnect')
  const length = begun === undefined ? '' : `content-type: ${typeOf(method)}\r\ncontent-length: 500\r\n`
  // The first is answered before the second is looked at, which so has come.
  const before = 'GET /version HTTP/1.1\r\nhost: x\r\n\r\n'
  socket.write(`${before}${method} ${path} HTTP/1.1\r\nhost: x\r\n${length}\r\n${begun ?? ''}`)
  await once(socket, 'data')
  socket.destroy()
}

async function overHttp2(server: Server, departure: Departure, leave: 'cancels' | 'disconnects'): Promise<void> {
  const session = connect(`https://127.0.0.1:${server.port}`, credentials(server))
  session.on('error', () => {})
  const { method, path, begun } = departure
  const sent = session.request(
    { ':method': method, ':path': path, 'content-type': typeOf(method) },
    { endStream: begun === undefined },
  )
  sent.on('error', () => {})
  const closed = once(sent.resume(), 'close')
  if (begun !== undefined) sent.write(begun)
  const ping = session.request({ ':path': '/version' })
  await once(ping.resume(), 'close')
  if (leave === 'disconnects') {
    session.destroy()
    return
  }
  sent.close()
  await closed
  session.close()
}

test.each(departures)('a client that goes away $name leaves no line in the log', async (departure) => {
  const { log, lines } = recordingLog()
  {
    // Its end waits for all that is under way.
    await using server = await serve({ ...defaultConfig, log, listen: { host: '127.0.0.1', port: 0 } })
    await overHttp1(server, departure)
    await overHttp2(server, departure, 'cancels')
    await overHttp2(server, departure, 'disconnects')
  }
  expect(lines).toEqual([])
})
