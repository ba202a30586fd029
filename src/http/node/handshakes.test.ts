/** Handshakes by sockets: however many clients begin theirs at once, a few begin in each turn of the loop. */
import { once } from 'node:events'
import net from 'node:net'
import { Duplex } from 'node:stream'
import tls from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { silentLog } from '../../base/log.ts'
import { openPki } from '../../pki/open-pki.ts'
import { memoryPkiStore } from '../../pki/pki-store.ts'
import { budgetWithin, defaultMaxMemoryBytes, defaultTransportLimits } from '../limits.ts'
import { Defense } from '../overload.ts'
import { ClientHello } from './client-hello.ts'
import { type Listener, listen } from './listen.ts'

/** Whatever looks at it finds that a millisecond has passed: four of them are the share of a flow. */
let nowMs = 0
const clock = { ...systemClock, monotonic: () => ++nowMs }
const overload = new Defense({ clock, log: silentLog }).of(defaultTransportLimits, budgetWithin(defaultMaxMemoryBytes))
let listener: Listener
let caCert: string

beforeAll(async () => {
  const pki = await openPki(memoryPkiStore(), { clock: systemClock, names: ['localhost'] })
  caCert = pki.caCert
  listener = await listen(async () => ({ status: 200, headers: {}, body: Buffer.from('served') }), {
    host: '127.0.0.1',
    port: 0,
    tls: { ...pki.serving, clientCa: pki.caCert },
    overload,
    onError: (error) => expect.fail(String(error)),
  })
})
afterAll(() => listener.close(AbortSignal.abort()))

/** The first bytes that a client library sends. */
function helloOf(): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({ read() {}, write: (bytes: Buffer) => resolve(bytes) })
    tls.connect({ socket, ALPNProtocols: ['http/1.1'], servername: 'localhost' }).on('error', () => {})
  })
}

async function connected(count: number): Promise<net.Socket[]> {
  const sockets = Array.from({ length: count }, () => net.connect(listener.port, '127.0.0.1').on('error', () => {}))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await expect.poll(() => listener.connections).toBe(count)
  return sockets
}

/** In how many turns of the loop the sockets were answered for the first time, and how many in each. */
async function answeredBy(sockets: readonly net.Socket[], begin: () => void): Promise<number[]> {
  let turn = 0
  let left = sockets.length
  const perTurn: number[] = []
  for (const socket of sockets) {
    socket.once('data', () => {
      perTurn[turn] = (perTurn[turn] ?? 0) + 1
      left--
    })
  }
  begin()
  for (; left > 0; turn++) await new Promise(setImmediate)
  for (const socket of sockets) socket.destroy()
  await expect.poll(() => listener.connections).toBe(0)
  return perTurn.filter((count) => count > 0)
}

/** The same message in records of their own for every so many bytes. */
function split(hello: Buffer, bytes: number): Buffer {
  const records: Buffer[] = []
  for (let at = 5; at < hello.length; at += bytes) {
    const part = hello.subarray(at, at + bytes)
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part)
  }
  return Buffer.concat(records)
}

describe('handshakes that clients begin at once', () => {
  test('begin a few in each turn', async () => {
    const hello = await helloOf()
    const sockets = await connected(60)
    const perTurn = await answeredBy(sockets, () => {
      for (const socket of sockets) socket.write(hello)
    })
    expect(perTurn.reduce((sum, count) => sum + count)).toBe(60)
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(8)
  })

  test.each([
    ['in two pieces', (hello: Buffer) => hello],
    ['in records of three bytes', (hello: Buffer) => split(hello, 3)],
  ])('do so %s, of which the second come at once', async (_, form) => {
    const hello = form(await helloOf())
    const sockets = await connected(60)
    for (const socket of sockets) socket.write(hello.subarray(0, -1))
    const perTurn = await answeredBy(sockets, () => {
      for (const socket of sockets) socket.write(hello.subarray(-1))
    })
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(8)
  })

  test('are served, whatever their pieces', async () => {
    const relay = net.createServer((client) => {
      const server = net.connect(listener.port, '127.0.0.1')
      const ignore = (): void => {}
      let toSplit = true
      client.on('error', ignore).on('data', (bytes: Buffer) => {
        if (!toSplit) return void server.write(bytes)
        toSplit = false
        for (const byte of split(bytes, 100)) server.write(Buffer.from([byte]))
      })
      server.on('error', ignore).on('data', (bytes) => client.write(bytes))
      server.on('close', () => client.destroy())
    })
    relay.listen(0, '127.0.0.1')
    await once(relay, 'listening')
    const { port } = relay.address() as net.AddressInfo
    const socket = tls.connect({ port, host: '127.0.0.1', ca: caCert, servername: 'localhost' })
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    let answer = ''
    for await (const bytes of socket) answer += bytes
    expect(answer).toContain('served')
    relay.close()
  })

  test.each([
    ['whose client leaves before', Buffer.from([22, 3, 1]), true],
    ['that do not end', Buffer.concat([Buffer.from([22, 3, 1, 255, 255]), Buffer.alloc(70_000)]), false],
  ])('%s are closed', async (_, bytes, isEnded) => {
    const [socket] = await connected(1)
    const closed = once(socket as net.Socket, 'close')
    socket?.resume().write(bytes)
    if (isEnded) socket?.end()
    await closed
    expect(listener.connections).toBe(0)
  })

  test('that are none are TLS to refuse', async () => {
    const [socket] = await connected(1)
    const closed = once(socket as net.Socket, 'close')
    socket?.resume().write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await closed
    expect(listener.connections).toBe(0)
  })
})

test('a greeting is whole with its last byte, however it is split', async () => {
  const hello = await helloOf()
  for (const records of [hello, split(hello, 1), split(hello, 50)]) {
    const greeting = new ClientHello()
    for (let at = 0; at < records.length - 1; at += 40) {
      greeting.add(records.subarray(at, Math.min(at + 40, records.length - 1)))
      expect(greeting.isWhole).toBe(false)
    }
    greeting.add(records.subarray(-1))
    expect(greeting.isWhole).toBe(true)
    expect(greeting.take()).toEqual(records)
  }
})
