/** HTTP/2 sessions that send frames which cost the server work and ask for nothing. */
import { once } from 'node:events'
import http2 from 'node:http2'
import net from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { endHeaders, endStream, frame, framesIn, get, post, preface, types, uint32 } from './frames.ts'
import { type Listening, startListening } from './listening.ts'

let world: Listening
beforeEach(async () => {
  world = await startListening({ http2: { resets: 100 } })
})
afterEach(() => world[Symbol.asyncDispose]())

const streamOf = (i: number): number => 2 * i + 1
const asked = (i: number): Buffer => frame('headers', endStream | endHeaders, streamOf(i), get('/held'))
const cancel = 8

interface Flood {
  readonly name: string
  readonly cve: string
  /** The i-th piece of it. */
  readonly sends: (i: number) => Buffer
  /** Seen by the counters of a connection; the others Node and nghttp2 end by themselves. */
  readonly bound?: 'http2_flood' | 'http2_resets'
}

const floods: readonly Flood[] = [
  { name: 'PING', cve: 'CVE-2019-9512', bound: 'http2_flood', sends: () => frame('ping', 0, 0, Buffer.alloc(8)) },
  { name: 'SETTINGS', cve: 'CVE-2019-9515', bound: 'http2_flood', sends: () => frame('settings', 0, 0) },
  {
    name: 'WINDOW_UPDATE of one byte',
    cve: 'CVE-2019-9511',
    bound: 'http2_flood',
    sends: () => frame('windowUpdate', 0, 0, uint32(1)),
  },
  {
    name: 'empty DATA',
    cve: 'CVE-2019-9518',
    sends: (i) => (i === 0 ? frame('headers', endHeaders, 1, post('/held')) : frame('data', 0, 1)),
  },
  {
    name: 'PRIORITY of streams that are not there',
    cve: 'CVE-2019-9513',
    sends: (i) =>
      frame('priority', 0, streamOf(i % 1000), Buffer.concat([uint32(streamOf((i + 1) % 1000)), Buffer.of(1)])),
  },
  {
    name: 'requests that are cancelled at once (rapid reset)',
    cve: 'CVE-2023-44487, CVE-2019-9514',
    bound: 'http2_resets',
    sends: (i) => Buffer.concat([asked(i), frame('reset', 0, streamOf(i), uint32(cancel))]),
  },
  {
    name: 'requests that the server must cancel (made you reset)',
    cve: 'CVE-2025-8671',
    sends: (i) => Buffer.concat([asked(i), frame('windowUpdate', 0, streamOf(i), uint32(0))]),
  },
  {
    name: 'requests beyond the streams that it may have',
    cve: 'CVE-2019-9517',
    sends: asked,
  },
  {
    name: 'headers without a name',
    cve: 'CVE-2019-9516',
    sends: (i) =>
      frame('headers', endStream | endHeaders, streamOf(i), Buffer.concat([get('/held'), Buffer.of(0x40, 0, 0)])),
  },
  {
    name: 'CONTINUATION without end',
    cve: 'CVE-2024-27316',
    sends: (i) =>
      i === 0
        ? frame('headers', endStream, 1, get('/held'))
        : frame('continuation', 0, 1, Buffer.of(0x40, 1, 97, 1, 98)),
  },
]

/** Frames that are written together, and that are sent in what the server takes for a second. */
const together = 50
const aSecond = 20_000

/** Sends the flood until it is cut off. Answers what the server said. */
async function flood(socket: TLSSocket, sends: Flood['sends']): Promise<Buffer> {
  const said: Buffer[] = []
  socket.on('data', (chunk: Buffer) => said.push(chunk))
  socket.write(Buffer.concat([preface, frame('settings', 0, 0)]))
  for (let sent = 0; !socket.destroyed && sent < 20 * aSecond; ) {
    const isTaken = socket.write(Buffer.concat(Array.from({ length: together }, () => sends(sent++))))
    if (!isTaken && !socket.destroyed) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    await new Promise((resolve) => setImmediate(resolve))
    if (sent % aSecond === 0) await world.clock.advance(1000)
  }
  expect(socket.destroyed).toBe(true)
  return Buffer.concat(said)
}

describe('attack: a flood of', () => {
  test.each(floods)('$name ($cve) ends its connection, and no other', async ({ sends, bound }) => {
    const other = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca })
    await other.request({ ':path': '/ok' }).toArray()
    const socket = await world.tls('h2')
    await flood(socket, sends)
    expect(Object.fromEntries(world.overload.incidents.counts)).toEqual(bound === undefined ? {} : { [bound]: 1 })
    expect(world.lines).toEqual(bound === undefined ? [] : [{ bound, flow: 'address 127.0.0.1', times: 1 }])
    expect(String(Buffer.concat(await other.request({ ':path': '/ok' }).toArray()))).toBe('ok')
    expect(other.closed).toBe(false)
    other.destroy()
  })

  test('frames is answered by GOAWAY, ENHANCE_YOUR_CALM', async () => {
    const socket = await world.tls('h2')
    const said = await flood(socket, () => frame('ping', 0, 0, Buffer.alloc(8)))
    const goaway = framesIn(said).find(({ type }) => type === types.goaway)
    expect(goaway?.payload.readUInt32BE(4)).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM)
  })
})

describe('an address whose connections are cut one after the other', () => {
  test.each(floods)(
    'by floods of $name finds further handshakes late, and its other connections as they were',
    async ({ sends }) => {
      const other = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca })
      await other.request({ ':path': '/ok' }).toArray()
      for (let i = 0; i < 6; i++) await flood(await world.tls('h2'), sends)

      let isSecure = false
      const late = world.tls('h2').then((socket) => {
        isSecure = true
        return socket
      })
      const leaving = net.connect(world.port, '127.0.0.1')
      await once(leaving, 'connect')
      leaving.write('hello')
      leaving.resetAndDestroy()
      for (let i = 0; i < 5; i++) {
        expect(String(Buffer.concat(await other.request({ ':path': '/ok' }).toArray()))).toBe('ok')
      }
      expect(isSecure).toBe(false)

      await world.clock.advance(1000)
      const socket = await late
      const session = http2.connect(`https://127.0.0.1:${world.port}`, { createConnection: () => socket })
      expect(String(Buffer.concat(await session.request({ ':path': '/ok' }).toArray()))).toBe('ok')
      session.destroy()
      other.destroy()
    },
  )
})

describe('a session that means it is not taken for a flood', () => {
  test('when it pings now and then, reads much, sends much, and cancels its watches', async () => {
    const session = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca })
    await once(session, 'remoteSettings')
    for (let second = 0; second < 3; second++) {
      for (let i = 0; i < 20; i++) await new Promise((resolve) => session.ping(resolve))
      const upload = session.request({ ':path': '/body', ':method': 'POST' })
      upload.end(Buffer.alloc(3 * 1024 * 1024))
      const list = session.request({ ':path': '/large' })
      const watches = Array.from({ length: 50 }, () => session.request({ ':path': '/held' }))
      const [listed, took] = (await Promise.all([list.toArray(), upload.toArray()])).map((all) => Buffer.concat(all))
      expect([listed?.length, String(took)]).toEqual([24 * 1024 * 1024, 'took 3145728'])
      for (const watch of watches) watch.on('error', () => {}).close(http2.constants.NGHTTP2_CANCEL)
      await expect.poll(() => world.aborted.length).toBe(50 * (second + 1))
      await world.clock.advance(1000)
    }
    expect([...world.overload.incidents.counts]).toEqual([])
    session.destroy()
  })

  test('when it sends ten large bodies at once', async () => {
    // What Node's client may have unsent; by default a third of this, and then it cancels its own streams.
    const session = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca, maxSessionMemory: 64 })
    const bodies = Array.from({ length: 10 }, () => {
      const upload = session.request({ ':path': '/body', ':method': 'POST' })
      upload.end(Buffer.alloc(3 * 1024 * 1024))
      return upload.toArray()
    })
    const took = (await Promise.all(bodies)).map((all) => String(Buffer.concat(all)))
    await world.clock.advance(1000)
    expect([...new Set(took)]).toEqual(['took 3145728'])
    expect([...world.overload.incidents.counts]).toEqual([])
    session.destroy()
  })

  test('when bodies come later than their requests, and are not read yet', async () => {
    const session = http2.connect(`https://127.0.0.1:${world.port}`, { ca: world.ca })
    const posts = Array.from({ length: 20 }, () => session.request({ ':path': '/held', ':method': 'POST' }))
    for (const post of posts) post.on('error', () => {}).write('{')
    await expect.poll(() => world.asked.length).toBe(posts.length)
    await world.clock.advance(1000)
    // Less than the window of a stream, and in all ten times what a session may send of other frames.
    const body = Buffer.alloc(32 * 1024)
    await Promise.all(posts.map((post) => new Promise((resolve) => post.write(body, resolve))))
    await new Promise((resolve) => session.ping(resolve))
    await world.clock.advance(1000)
    expect(Object.fromEntries(world.overload.incidents.counts)).toEqual({})
    session.destroy()
  })

  test('when none of its many answers is read: others come all the same, and streams are bounded', async () => {
    const session = http2.connect(`https://127.0.0.1:${world.port}`, {
      ca: world.ca,
    })
    await once(session, 'remoteSettings')
    // The session takes all, its streams do not.
    session.setLocalWindowSize(2 ** 30)
    expect(session.remoteSettings.maxConcurrentStreams).toBe(250)
    const unread = Array.from({ length: 200 }, () => session.request({ ':path': '/large' }).on('error', () => {}))
    await expect.poll(() => world.asked.length).toBe(200)
    for (let i = 0; i < 20; i++) {
      expect(String(Buffer.concat(await session.request({ ':path': '/ok' }).toArray()))).toBe('ok')
    }
    // The one buffer that all of them are sent, and a slice for each.
    expect(world.overload.budget.takenBytes).toBe(24 * 1024 * 1024 + 200 * 64 * 1024)
    for (const stream of unread) stream.destroy()
    session.destroy()
  })
})
