/** Whether a connection that is read no further really is not, by Node's own server and a client on a socket. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { expect, test } from 'vitest'
import { endHeaders, frame, post, preface } from '../../../test/attacks/frames.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { openPki } from '../../pki/open-pki.ts'
import { memoryPkiStore } from '../../pki/pki-store.ts'
import type { Overload } from '../overload.ts'
import { Connection } from './connection.ts'
import type { Intake } from './intake.ts'

const http1Request = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
const http1Piece = '5\r\npiece\r\n'
const http2Request = Buffer.concat([preface, frame('settings', 0, 0), frame('headers', endHeaders, 1, post('/'))])
const http2Piece = frame('data', 0, 1, Buffer.from('piece'))

test.each([
  ['http/1.1', http1Request, http1Piece],
  ['h2', http2Request, http2Piece],
])('a connection over %s is not read while it is stopped, and goes on where it was', async (protocol, begin, piece) => {
  const clock = new FakeClock(Date.now())
  const pki = await openPki(memoryPkiStore(), { clock, names: ['localhost'] })
  const server = http2.createSecureServer({ key: pki.serving.key, cert: pki.serving.cert, allowHTTP1: true })
  const raws: Socket[] = []
  let connection: Connection | undefined
  let received = 0
  server.prependListener('connection', (raw: Socket) => raws.push(raw))
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    connection = new Connection({
      overload: { sweeper: { nowMs: 0 } } as Overload,
      intake: { left() {} } as unknown as Intake,
      raw: raws[0] as Socket,
      address: '',
      reserved: false,
      identified() {},
      broke() {},
    })
    connection.secured(socket)
  })
  server.on('session', (session) => connection?.speaksHttp2(session))
  const count = (bytes: Buffer): void => void (received += bytes.length)
  server.on('request', (request: IncomingMessage, _response: ServerResponse) => request.on('data', count))
  server.removeAllListeners('stream')
  server.on('stream', (stream) => stream.on('data', count).on('error', () => {}))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({
    host: '127.0.0.1',
    port,
    ca: pki.caCert,
    servername: 'localhost',
    ALPNProtocols: [protocol],
  })
  client.on('error', () => {})
  await once(client, 'secureConnect')
  const send = (bytes: string | Buffer): Promise<void> => new Promise((resolve) => client.write(bytes, () => resolve()))

  await send(begin)
  await send(piece)
  await expect.poll(() => received).toBe(5)
  connection?.stopReading()
  await send(piece)
  await send(piece)
  // What the system has by now would have come in the first of these turns.
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  expect(received).toBe(5)
  connection?.goOnReading()
  await expect.poll(() => received).toBe(15)

  client.destroy()
  server.close()
})
