/** Clients that take their time: each phase of a connection and of a request has a deadline. */
import { once } from 'node:events'
import http2 from 'node:http2'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failure } from '../support/refusal.ts'
import { answerIn, everything, type Listening, passesUntil, startListening } from './listening.ts'

let world: Listening
beforeEach(async () => {
  world = await startListening({
    deadlines: { handshakeMs: 5000, headersMs: 5000, slowMs: 5000, idleMs: 20_000, leastBytesPerSecond: 1000 },
  })
})
afterEach(() => world[Symbol.asyncDispose]())

const here = 'address 127.0.0.1'
const counts = (): Record<string, number> => Object.fromEntries(world.overload.incidents.counts)

describe('attack: a connection that does not get on', () => {
  test('TLS handshakes that never begin are ended, with one line in the log now and one a minute later', async () => {
    const sockets = await Promise.all(Array.from({ length: 10 }, () => world.tcp()))
    await expect.poll(() => world.connections()).toBe(10)
    await passesUntil(world.clock, () => sockets.every(({ closed }) => closed))
    expect(counts()).toEqual({ handshake_deadline: 10 })
    expect(world.lines).toEqual([{ bound: 'handshake_deadline', flow: here, times: 1 }])
    await passesUntil(world.clock, () => world.lines.length > 1)
    expect(world.lines.slice(1)).toEqual([{ bound: 'handshake_deadline', flow: here, times: 9 }])
    expect(world.connections()).toBe(0)
  })

  test('a request that never begins is 408 over HTTP/1.1', async () => {
    const socket = await world.tls()
    const said = everything(socket)
    await passesUntil(world.clock, () => socket.closed)
    expect(await said).toBe('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
    expect(counts()).toEqual({ headers_deadline: 1 })
  })

  test('a session without a request is ended over HTTP/2', async () => {
    const session = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca }).on('error', () => {})
    await once(session, 'remoteSettings')
    await passesUntil(world.clock, () => session.closed)
    expect(counts()).toEqual({ headers_deadline: 1 })
  })

  test.each([
    { name: 'the first request', before: '' },
    { name: 'a later one', before: 'GET /ok HTTP/1.1\r\nhost: x\r\n\r\n' },
  ])('headers that do not end are cut off, in $name', async ({ before }) => {
    const socket = await world.tls()
    const said = everything(socket)
    socket.write(`${before}GET /never HTTP/1.1\r\n`)
    for (let second = 0; second < 30 && !socket.closed; second++) {
      socket.write(`x-${second}: y\r\n`)
      // By the time that another is answered, this has been read.
      await world.get('/ok')
      await world.clock.advance(1000)
    }
    // Whether it still hears 408 depends on what it sent last.
    await said
    expect([counts(), world.asked.includes('/never')]).toEqual([{ headers_deadline: 1 }, false])
  })

  test.each(['http/1.1', 'h2'])(
    '%s: one on which nothing is asked any more is closed, and no line is written',
    async (protocol) => {
      if (protocol === 'h2') {
        const session = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca })
        await session.request({ ':path': '/ok' }).toArray()
        await passesUntil(world.clock, () => session.closed)
      } else {
        const socket = await world.tls()
        socket.write('GET /ok HTTP/1.1\r\nhost: x\r\n\r\n')
        await once(socket.resume(), 'data')
        await passesUntil(world.clock, () => socket.closed)
      }
      expect([counts(), world.lines]).toEqual([{ idle_deadline: 1 }, []])
    },
  )

  test.each(['http/1.1', 'h2'])('%s: one on which an answer is awaited is not', async (protocol) => {
    if (protocol === 'h2') {
      const session = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca })
      session.request({ ':path': '/held' }).on('error', () => {})
    } else (await world.tls()).write('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
    await expect.poll(() => world.asked).toEqual(['/held'])
    await world.clock.advance(120_000)
    expect([counts(), world.aborted, world.connections()]).toEqual([{}, [], 1])
  })
})

describe('attack: a body that does not come', () => {
  const tooSlow = failure({
    message: 'The body of the request came in too slowly: at least 1000 bytes per second are expected.',
    reason: 'Timeout',
    code: 408,
  })

  test('is refused over HTTP/1.1, and the connection ends', async () => {
    const socket = await world.tls()
    const said = everything(socket)
    socket.write('POST /body HTTP/1.1\r\nhost: x\r\nx-user: eve\r\ncontent-length: 100000\r\n\r\n{')
    await expect.poll(() => world.asked).toEqual(['/body'])
    await passesUntil(world.clock, () => socket.closed)
    const [status, body] = answerIn(await said)
    expect([status, JSON.parse(body)]).toEqual([408, tooSlow])
    expect(world.lines).toEqual([{ bound: 'body_deadline', flow: 'user eve', times: 1 }])
  })

  test('is refused over HTTP/2, and other requests of the session go on', async () => {
    const session = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca })
    const slow = session.request({ ':path': '/body', ':method': 'POST' }).on('error', () => {})
    slow.write('{')
    const held = session.request({ ':path': '/held' }).on('error', () => {})
    await expect.poll(() => world.asked).toEqual(['/body', '/held'])
    const answered = once(slow, 'response')
    await passesUntil(world.clock, () => slow.readableLength > 0)
    const [headers] = (await answered) as [http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader]
    expect([headers[':status'], JSON.parse(String(slow.read()))]).toEqual([408, tooSlow])
    expect([held.closed, world.aborted]).toEqual([false, []])
    session.destroy()
  })

  test('is taken as long as it keeps the least rate', async () => {
    const socket = await world.tls()
    const said = everything(socket)
    const pieces = 8
    socket.write(`POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: ${pieces * 20_000}\r\nconnection: close\r\n\r\n`)
    await expect.poll(() => world.asked).toEqual(['/body'])
    for (let i = 1; i <= pieces; i++) {
      socket.write('x'.repeat(20_000))
      // It is charged as it comes in.
      if (i < pieces) await expect.poll(() => world.overload.budget.takenBytes).toBe(i * 20_000)
      await world.clock.advance(4000)
    }
    expect(answerIn(await said)).toEqual([200, `took ${pieces * 20_000}`])
    expect(counts()).toEqual({})
  })
})

test.each(['http/1.1', 'h2'] as const)(
  'attack: large objects of a watch that are not read take no longer to be cut off than small ones, over %s',
  async (protocol) => {
    const socket = await world.tls(protocol)
    if (protocol === 'h2') {
      const session = http2.connect('https://x', { createConnection: () => socket }).on('error', () => {})
      session.request({ ':path': '/objects' }).on('error', () => {})
    } else {
      socket.pause()
      socket.write('GET /objects HTTP/1.1\r\nhost: x\r\n\r\n')
    }
    await expect.poll(() => world.asked).toEqual(['/objects'])
    const beganMs = world.clock.now()
    await passesUntil(world.clock, () => world.aborted.length > 0)
    // Five seconds, and those that 64 KiB may take at the least rate; some pass before the first piece is handed over.
    expect(world.clock.now() - beganMs).toBeLessThan(1000 * (5 + 66 + 60))
    expect(counts()).toEqual({ answer_deadline: 1 })
  },
)

describe.each(['/large', '/watch', '/objects'])('attack: an answer that is not read: %s', (path) => {
  test('is cut off over HTTP/1.1, and what it took is free again', async () => {
    const socket = await world.tls()
    socket.pause()
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-user: eve\r\n\r\n`)
    await expect.poll(() => world.asked).toEqual([path])
    await passesUntil(world.clock, () => world.connections() === 0)
    expect(world.lines).toEqual([{ bound: 'answer_deadline', flow: 'user eve', times: 1 }])
    expect([world.aborted, world.overload.budget.takenBytes]).toEqual([[path], 0])
  })

  test('is cut off over HTTP/2; what its session reads goes on', async () => {
    const session = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca }).on('error', () => {})
    const unread = session.request({ ':path': path }).on('error', () => {})
    const held = session.request({ ':path': '/held' }).on('error', () => {})
    await expect.poll(() => world.asked.length).toBe(2)
    await passesUntil(world.clock, () => world.aborted.length > 0)
    expect([world.aborted, held.closed, counts()]).toEqual([[path], false, { answer_deadline: 1 }])
    expect(String(Buffer.concat(await session.request({ ':path': '/ok' }).toArray()))).toBe('ok')
    session.destroy()
    unread.destroy()
  })
})

test('a client that leaves: the signal of its request aborts', async () => {
  for (const protocol of ['http/1.1', 'h2'] as const) {
    const socket = await world.tls(protocol)
    if (protocol === 'h2') {
      const session = http2.connect(`https://127.0.0.1:${world.port}`, { createConnection: () => socket })
      session
        .on('error', () => {})
        .request({ ':path': '/held' })
        .on('error', () => {})
    } else socket.write('GET /held HTTP/1.1\r\nhost: x\r\n\r\n')
    const seen = world.aborted.length
    await expect.poll(() => world.asked.length).toBe(seen + 1)
    socket.destroy()
    await expect.poll(() => world.aborted.length).toBe(seen + 1)
  }
  expect(counts()).toEqual({})
})
