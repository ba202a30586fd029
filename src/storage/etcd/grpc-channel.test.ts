/** Against a server of HTTP/2 that answers as each test says. */
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TcpProxy } from '../../../test/support/tcp-proxy.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import { FakeClock } from '../../base/fake-clock.ts'
import { GrpcChannel, type UnaryOptions } from './grpc-channel.ts'
import { framed } from './grpc-messages.ts'
import type { Method } from './messages.ts'

const echo: Method<string, string> = {
  path: '/test.Echo/Say',
  serialize: (text) => Buffer.from(text),
  deserialize: (bytes) => {
    if (bytes.toString() === 'unreadable') throw new Error('no such word')
    return bytes.toString()
  },
}

type Answer = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => unknown

/** Sends pieces, and then trailers. */
const answer =
  (pieces: readonly Uint8Array[], trailers: Record<string, string> = { 'grpc-status': '0' }): Answer =>
  (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    for (const piece of pieces) stream.write(piece)
    stream.end()
  }

let server: Http2Server
let sockets: Socket[]
let channels: GrpcChannel[]
let reply: Answer
let port: number
/** Pings. */
let answered: number

beforeEach(async () => {
  sockets = []
  channels = []
  server = createServer()
  server.on('connection', (socket: Socket) => sockets.push(socket))
  answered = 0
  server.on('session', (session) => session.on('ping', () => answered++))
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => undefined)
    reply(stream, headers)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ;({ port } = server.address() as AddressInfo)
})
afterEach(async () => {
  for (const channel of channels) channel.close()
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})

function open(clock: Clock = systemClock, at = port): GrpcChannel {
  const channel = new GrpcChannel({ origin: `http://127.0.0.1:${at}` }, clock)
  channels.push(channel)
  return channel
}

const ask = (channel: GrpcChannel, text = 'hello', options: Partial<UnaryOptions> = {}): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    channel.unary(echo, text, { deadlineMs: Number.POSITIVE_INFINITY, ...options }, (error, response) =>
      error === undefined ? resolve(response) : reject(error),
    )
  })

describe('a call', () => {
  it('is sent as gRPC says, with the headers given, and its answer is read', async () => {
    let asked: IncomingHttpHeaders = {}
    let body = Buffer.alloc(0)
    reply = (stream, headers) => {
      asked = headers
      stream.on('data', (piece: Buffer) => (body = Buffer.concat([body, piece])))
      stream.on('end', () => answer([framed(Buffer.from('well'))])(stream, headers))
    }
    const deadlineMs = systemClock.now() + 5000
    expect(await ask(open(), 'hello', { headers: { token: 'secret' }, deadlineMs })).toBe('well')
    expect(asked).toMatchObject({
      ':method': 'POST',
      ':path': '/test.Echo/Say',
      'content-type': 'application/grpc',
      te: 'trailers',
      token: 'secret',
      'grpc-timeout': expect.stringMatching(/^\d{4}m$/),
    })
    expect(body).toEqual(Buffer.from([0, 0, 0, 0, 5, ...Buffer.from('hello')]))
  })

  it('has its answer read whole, in whatever pieces it comes', async () => {
    const long = 'x'.repeat(300_000)
    const frame = framed(Buffer.from(long))
    reply = answer([frame.subarray(0, 2), frame.subarray(2, 6), frame.subarray(6, 100_000), frame.subarray(100_000)])
    expect(await ask(open())).toBe(long)
  })

  const percent = { 'grpc-status': '11', 'grpc-message': 'required revision %E2%80%93 compacted' }
  it.each([
    { name: 'a status', given: answer([], percent), want: { code: 11, details: 'required revision – compacted' } },
    {
      name: 'a message that is not encoded',
      given: answer([], { 'grpc-status': '13', 'grpc-message': '100% bad' }),
      want: { code: 13, details: '100% bad' },
    },
    { name: 'a status that is no number', given: answer([], { 'grpc-status': 'x' }), want: { code: 2, details: '' } },
    {
      name: 'a status instead of headers',
      given: (stream: ServerHttp2Stream) =>
        stream.respond({ ':status': 200, 'grpc-status': '16', 'grpc-message': 'who?' }, { endStream: true }),
      want: { code: 16, details: 'who?' },
    },
    {
      name: 'another HTTP status, and no gRPC',
      given: (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 503 })
        stream.end('<html>')
      },
      want: { code: 14, details: 'Received HTTP status code 503' },
    },
    {
      name: 'no message',
      given: answer([]),
      want: { code: 13, details: 'an answer without a message' },
    },
    {
      name: 'a message that is compressed',
      given: answer([Buffer.from([1, 0, 0, 0, 1, 7])]),
      want: { code: 13, details: 'the answer is compressed' },
    },
    {
      name: 'what can not be read',
      given: answer([framed(Buffer.from('unreadable'))]),
      want: { code: 13, details: "the answer can't be read: no such word" },
    },
    { name: 'a refused stream', given: (stream: ServerHttp2Stream) => stream.close(7), want: { code: 14 } },
    { name: 'a reset', given: (stream: ServerHttp2Stream) => stream.close(2), want: { code: 13 } },
    {
      name: 'a broken connection',
      given: () => {
        for (const socket of sockets) socket.destroy()
      },
      want: { code: 14, details: expect.stringMatching(/^Connection dropped/) },
    },
  ])('that is answered by $name fails so', async ({ given, want }) => {
    reply = given
    await expect(ask(open())).rejects.toMatchObject(want)
  })

  it('that is not answered in time, or is cancelled, is taken back from the server', async () => {
    const resets: (number | undefined)[] = []
    const { promise: twice, resolve } = Promise.withResolvers<void>()
    reply = (stream) => {
      stream.on('close', () => resets.push(stream.rstCode) === 2 && resolve())
      begun.resolve()
    }
    let begun = Promise.withResolvers<void>()
    const channel = open()
    await expect(ask(channel, 'late', { deadlineMs: systemClock.now() + 50 })).rejects.toMatchObject({ code: 4 })
    begun = Promise.withResolvers()
    const { promise, reject } = Promise.withResolvers<never>()
    const options = { deadlineMs: Number.POSITIVE_INFINITY }
    const call = channel.unary(echo, 'given up', options, (error) => reject(error))
    await begun.promise
    call.cancel()
    await expect(promise).rejects.toMatchObject({ code: 1 })
    await twice
    expect(resets).toEqual([8, 8])
  })
})

describe('a stream', () => {
  const read = async (channel: GrpcChannel): Promise<unknown[]> => {
    const got: unknown[] = []
    await channel.connect(Number.POSITIVE_INFINITY)
    try {
      for await (const one of channel.stream(echo, 'go', {})) got.push(one)
    } catch (error) {
      got.push(error)
    }
    return got
  }

  it('has all its answers read, several to a piece, and ends as the member ends it', async () => {
    const frames = Buffer.concat(['a', 'b', 'c'].map((text) => framed(Buffer.from(text))))
    reply = answer([frames.subarray(0, 14), frames.subarray(14)])
    expect(await read(open())).toEqual(['a', 'b', 'c'])
    reply = answer([frames], { 'grpc-status': '14', 'grpc-message': 'no leader' })
    expect(await read(open())).toEqual(['a', 'b', 'c', expect.objectContaining({ code: 14, details: 'no leader' })])
    reply = answer([frames.subarray(0, 14)])
    expect((await read(open())).at(-1)).toMatchObject({ code: 13, details: 'the stream ended amid a message' })
    reply = answer([framed(Buffer.from('unreadable'))])
    expect(await read(open())).toEqual([expect.objectContaining({ code: 13 })])
  })

  it('fails when its connection breaks, and where there is none', async () => {
    reply = (stream) => {
      stream.respond({ ':status': 200 })
      stream.write(framed(Buffer.from('a')), () => {
        for (const socket of sockets) socket.destroy()
      })
    }
    expect((await read(open())).at(-1)).toMatchObject({ code: 14 })
    const unconnected = open().stream(echo, 'go', {})
    await expect(unconnected[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 14 })
  })

  it('that is cancelled is taken back from the server', async () => {
    const { promise: reset, resolve } = Promise.withResolvers<number | undefined>()
    reply = (stream) => {
      stream.respond({ ':status': 200 })
      stream.write(framed(Buffer.from('a')))
      stream.on('close', () => resolve(stream.rstCode))
    }
    const channel = open()
    await channel.connect(Number.POSITIVE_INFINITY)
    const stream = channel.stream(echo, 'go', {})
    const reader = stream[Symbol.asyncIterator]()
    expect(await reader.next()).toEqual({ done: false, value: 'a' })
    const next = reader.next()
    stream.cancel()
    await expect(next).rejects.toMatchObject({ code: 1 })
    expect(await reset).toBe(8)
  })
})

describe('a connection', () => {
  it('is made once for all calls, and anew when it broke or the member asked for that', async () => {
    reply = answer([framed(Buffer.from('well'))])
    const channel = open()
    await Promise.all([ask(channel), ask(channel)])
    expect(sockets).toHaveLength(1)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => ask(channel).catch(() => 'not yet')).toBe('well')
    expect(sockets).toHaveLength(2)
    reply = (stream, headers) => {
      stream.session?.goaway(0)
      answer([framed(Buffer.from('last'))])(stream, headers)
    }
    expect(await ask(channel)).toBe('last')
    reply = answer([framed(Buffer.from('well'))])
    await expect.poll(() => ask(channel).catch(() => 'not yet')).toBe('well')
    expect(sockets).toHaveLength(3)
  })

  it('that can not be made is told why, and tried again after a pause that grows', async () => {
    const clock = new FakeClock()
    const channel = open(clock)
    reply = answer([framed(Buffer.from('well'))])
    let tries = 0
    server.on('connection', (socket: Socket) => {
      tries++
      if (tries <= 3) socket.destroy()
    })
    const refused = { code: 14, details: expect.stringContaining('No connection established. Last error: ') }
    for (const [afterMs, want] of [
      [0, 1],
      [99, 1],
      [1, 2],
      [199, 2],
      [1, 3],
    ] as const) {
      await clock.advance(afterMs)
      await expect(channel.connect(Number.POSITIVE_INFINITY)).rejects.toMatchObject(refused)
      await expect(ask(channel)).rejects.toMatchObject(refused)
      expect(tries).toBe(want)
    }
    await clock.advance(400)
    expect(await ask(channel)).toBe('well')
  })

  it('is waited for until the deadline, and no longer', async () => {
    const clock = new FakeClock()
    server.removeAllListeners('connection')
    server.on('connection', (socket: Socket) => sockets.push(socket))
    const channel = open(clock)
    const waiting = channel.connect(clock.now() + 1000)
    const told = expect(waiting).rejects.toMatchObject({ code: 4, details: 'no connection in time' })
    await clock.advance(1000)
    await told
  })

  it('that answers no ping for three seconds is taken for broken', async () => {
    const clock = new FakeClock()
    let begun = 0
    reply = () => begun++
    await using proxy = await TcpProxy.start(port)
    const channel = open(clock, proxy.port)
    await channel.connect(Number.POSITIVE_INFINITY)
    const asked = ask(channel)
    const told = expect(asked).rejects.toMatchObject({
      code: 14,
      details: 'Connection dropped: no answer to a ping within 3000 ms',
    })
    await expect.poll(() => begun).toBe(1)
    // While they are answered, all goes on. An answer to a call comes after that to an earlier ping.
    reply = answer([framed(Buffer.from('well'))])
    for (let pings = 1; pings <= 3; pings++) {
      await clock.advance(6000)
      await expect.poll(() => answered).toBe(pings)
      expect(await ask(channel)).toBe('well')
    }
    proxy.silence('answers')
    await clock.advance(6000)
    await clock.advance(3000)
    await told
  })

  it('that is closed answers nothing any more', async () => {
    reply = () => channel.close()
    const channel = open()
    await expect(ask(channel)).rejects.toMatchObject({ code: 14 })
    await expect(channel.connect(Number.POSITIVE_INFINITY)).rejects.toMatchObject({ details: 'the channel is closed' })
  })
})
