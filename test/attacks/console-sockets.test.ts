/** Attacks on a console by what it holds for each connection: upgrades, WebSockets, and answers without end. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Transport } from '../../src/client/transport.ts'
import { type Console, startConsole } from '../../src/console/console.ts'
import { ask, letIn, liveProtocolsOf, openLive, type Tokens } from '../support/console-client.ts'
import { failure } from '../support/refusal.ts'

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

/** Before a cluster that answers nothing, or as it is told to. */
async function startAlone(
  send: Transport['send'] = () => Promise.reject(new Error('no cluster')),
  host = '127.0.0.1',
): Promise<Console> {
  const client = {} as never
  const remote = { transport: { send }, client, server: 'https://none', namespace: undefined, namespaces: [] }
  return startConsole({ remote, clock: systemClock, listen: { host, port: 0 } })
}

/** A socket whose client never ends its half. */
async function openSocket(at: Console): Promise<Socket> {
  const { hostname, port } = new URL(at.origin)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  opened.defer(() => void socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** The request by which a page opens its WebSocket. */
const upgradeOf = (at: Console, tokens?: Tokens): string =>
  [
    'GET /live HTTP/1.1',
    `host: ${new URL(at.origin).host}`,
    'upgrade: websocket',
    'connection: upgrade',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    `origin: ${at.origin}`,
    ...(tokens === undefined
      ? []
      : [`cookie: ${tokens.cookie}`, `sec-websocket-protocol: ${liveProtocolsOf(tokens).join(', ')}`]),
    '\r\n',
  ].join('\r\n')

const untilClosed = async (socket: Socket): Promise<string> => {
  const said: Buffer[] = []
  socket.on('data', (chunk: Buffer) => said.push(chunk))
  await once(socket, 'close')
  return Buffer.concat(said).toString('latin1')
}

test('an upgrade that is refused keeps no connection, though its client leaves its half open', async () => {
  const served = await startAlone()
  const sockets = await Promise.all(Array.from({ length: 50 }, () => openSocket(served)))
  for (const socket of sockets) socket.write(upgradeOf(served))
  for (const socket of sockets) {
    const [said] = (await once(socket, 'data')) as [Buffer]
    expect(said.toString()).toMatch(/^HTTP\/1\.1 401 /)
  }
  // Else it would wait for them, and so would the signal that ends the command.
  await served[Symbol.asyncDispose]()
})

test('a page that is one too many, and breaks the protocol, ends alone', async () => {
  await using served = await startAlone()
  const known = await letIn(served)
  const lives = await Promise.all(Array.from({ length: 200 }, () => openLive(served, known)))
  const socket = await openSocket(served)
  socket.write(upgradeOf(served, known))
  socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]))
  const ended = untilClosed(socket)
  socket.end()
  expect(await ended).toContain('200 pages are open already')
  const [live] = lives
  live?.order({ open: 1, path: '/api/v1/namespaces' })
  expect(await live?.next()).toEqual({ watch: 1, failed: 'no cluster' })
  for (const each of lives) await each.leave()
})

test.each(['application/json', 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'])(
  'an answer without end, asked for as %s, is given up',
  async (accept) => {
    let isLeft = false
    async function* endless(): AsyncGenerator<Uint8Array> {
      const piece = Buffer.alloc(1024 * 1024, ' ')
      try {
        for (;;) yield piece
      } finally {
        isLeft = true
      }
    }
    await using served = await startAlone(async () => ({ status: 200, header: () => undefined, body: endless() }))
    const headers = { ...(await letIn(served)), accept }
    const asked = ask(served, { path: '/api/v1/namespaces', headers })
    if (accept === 'application/json') await expect(asked).rejects.toThrow('aborted')
    else {
      const message = 'the server’s answer is longer than 268435456 bytes'
      expect((await asked).body).toEqual(failure({ message, code: 502 }))
    }
    await expect.poll(() => isLeft).toBe(true)
  },
)

test('the name that has two addresses is told by the one that it listens on', async () => {
  await using served = await startAlone(undefined, 'localhost')
  expect(served.origin).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/)
  expect((await ask(served, { path: '/' })).code).toBe(200)
  expect((await ask(served, { path: '/', headers: { host: `localhost:${new URL(served.origin).port}` } })).code).toBe(
    421,
  )
})
