/** Clients that send a body in pieces of a byte: each piece costs the server hundreds of times what it brings. */
import http2 from 'node:http2'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BodyBytes } from '../../src/http/node/body-bytes.ts'
import { endHeaders, frame, post, preface } from './frames.ts'
import { everything, type Listening, startListening } from './listening.ts'

let world: Listening
beforeEach(async () => {
  world = await startListening()
})
afterEach(() => world[Symbol.asyncDispose]())

const chunked = (path: string): string => `POST ${path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
const chunksOf = (size: number, count: number): string =>
  `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`.repeat(count)
const isCut = { bound: 'body_pieces', flow: 'address 127.0.0.1', times: 1 }

describe('attack: a body in pieces of a byte ends its connection, and no other', () => {
  test.each([
    ['while it is awaited', chunked('/body')],
    ['before it is asked for', chunked('/held')],
    ['behind a request that waits', get('/held') + chunked('/body')],
  ])('%s', async (_, begun) => {
    const other = await world.tls()
    const socket = await world.tls()
    socket.write(begun + chunksOf(1, 2000))
    await everything(socket)
    expect(world.lines).toEqual([isCut])
    other.write(get('/ok').replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'))
    expect(await everything(other)).toMatch(/ok$/)
  })

  test.each(['/body', '/held'])('over HTTP/2, for %s', async (path) => {
    const socket = await world.tls('h2')
    const data = frame('data', 0, 1, Buffer.from('x'))
    const pieces = Array.from({ length: 2000 }, () => data)
    socket.write(Buffer.concat([preface, frame('settings', 0, 0), frame('headers', endHeaders, 1, post(path))]))
    socket.write(Buffer.concat(pieces))
    await everything(socket)
    expect(world.lines).toEqual([isCut])
  })
})

describe('a client that means it', () => {
  test('may send a few hundred pieces of a byte, or many of some bytes', async () => {
    for (const [size, count] of [
      [1, 500],
      [20, 5000],
    ] as const) {
      const socket = await world.tls()
      socket.write(
        `${chunked('/body').replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n')}${chunksOf(size, count)}0\r\n\r\n`,
      )
      expect(await everything(socket)).toMatch(new RegExp(`took ${size * count}$`))
    }
    expect(world.lines).toEqual([])
  })

  test('may send its body before it is asked for', async () => {
    const session = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca })
    const upload = session.request({ ':path': '/held', ':method': 'POST' })
    upload.on('error', () => {}).write(Buffer.alloc(40_000))
    // Charged to its flow as it comes.
    await expect.poll(() => world.overload.budget.takenBytes).toBe(40_000)
    upload.close(http2.constants.NGHTTP2_CANCEL)
    await expect.poll(() => world.overload.budget.takenBytes).toBe(0)
    session.destroy()
  })
})

describe('the bytes of a body', () => {
  const pieceIn = (size: number, of: number): Buffer => Buffer.from(new ArrayBuffer(of), of - size, size)

  test('do not keep what their pieces were read with', () => {
    const bytes = new BodyBytes()
    for (let i = 0; i < 3; i++) bytes.add(pieceIn(2, 65_536).fill(`${i}`))
    const all = bytes.take()
    expect(Buffer.from(all).toString()).toBe('001122')
    expect(all.buffer.byteLength).toBe(4096)
    const one = new BodyBytes()
    one.add(pieceIn(10, 65_536))
    expect(one.take().buffer.byteLength).toBe(4096)
  })

  test('are the piece itself where there is one', () => {
    const piece = pieceIn(40_000, 65_536)
    const bytes = new BodyBytes()
    bytes.add(piece)
    expect(bytes.take()).toBe(piece)
    bytes.add(pieceIn(40_000, 65_536).fill('y'))
    expect([bytes.size, bytes.take().length, bytes.take()[79_999]]).toEqual([80_000, 80_000, 0x79])
  })
})
