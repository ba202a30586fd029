/** A body as it comes, at the seam to Node: what its stream hears, and when it is told to wait. */
import { once } from 'node:events'
import http2 from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { endHeaders, frame, post, preface, uint32 } from '../../../test/attacks/frames.ts'
import { IncomingBody } from './incoming-body.ts'

function incoming() {
  const source = new Readable({ read() {} })
  const seen = { received: 0, brokenBy: [] as string[], events: 0, came: 0, isWhole: false }
  source.on('data', () => seen.events++)
  source.pause()
  const observer = {
    received: (bytes: number) => (seen.received += bytes),
    breakOff: (bound: string) => seen.brokenBy.push(bound),
  }
  const body = new IncomingBody(source, observer)
  const follow = (): void =>
    body.follow({
      came: (bytes) => (seen.came += bytes),
      whole: () => {
        seen.isWhole = true
      },
    })
  const send = (bytes: number, times = 1): boolean => {
    let mayMore = true
    for (let i = 0; i < times; i++) mayMore = source.push(Buffer.alloc(bytes, 'x'))
    return mayMore
  }
  return { source, body, seen, follow, send }
}

test('the pieces of a body are no events of its stream, which hears of the end', async () => {
  const { source, body, seen, follow, send } = incoming()
  const ended = new Promise((resolve) => source.once('end', resolve))
  send(100, 3)
  follow()
  send(50, 2)
  source.push(null)
  await ended
  expect(seen).toEqual({ received: 400, brokenBy: [], events: 0, came: 100, isWhole: true })
  expect(body.take().length).toBe(400)
})

test('a body that nobody follows is kept up to 64 KiB, and its client waits', () => {
  const { body, follow, send } = incoming()
  expect(send(65_535)).toBe(true)
  expect(send(1)).toBe(false)
  follow()
  expect(send(1_000_000)).toBe(true)
  expect(body.size).toBe(1_065_536)
})

test('a body in crumbs is broken off once, and what still comes of it is not looked at', () => {
  const { body, seen, follow, send } = incoming()
  follow()
  expect(send(1, 512)).toBe(true)
  expect(send(1, 10_000)).toBe(false)
  expect(seen).toMatchObject({ received: 513, brokenBy: ['body_pieces'], events: 0 })
  expect(body.size).toBe(0)
})

test('a body that is whole before it is asked for is taken at once', () => {
  const { source, body, send } = incoming()
  send(10)
  expect(body.isWhole).toBe(false)
  source.push(null)
  expect(body.isWhole).toBe(true)
  expect(Buffer.from(body.take()).toString()).toBe('xxxxxxxxxx')
})

test('a stream that its client cancelled ends without being whole', () => {
  const { source, body, seen, follow, send } = incoming()
  follow()
  send(10)
  Object.assign(source, { aborted: true })
  source.push(null)
  expect([body.isWhole, seen.isWhole]).toEqual([false, false])
})

// Frame by frame: Node's client ends a stream before it cancels it.
test.each([
  ['cancels it', frame('reset', 0, 1, uint32(http2.constants.NGHTTP2_CANCEL))],
  ['cancels it without a reason', frame('reset', 0, 1, uint32(http2.constants.NGHTTP2_NO_ERROR))],
  ['leaves', undefined],
])('what has come of a body over HTTP/2 is not taken for all of it where its client %s', async (_, reset) => {
  const server = http2.createServer()
  const wholes: boolean[] = []
  const taken = new Promise<IncomingBody>((resolve) => {
    server.on('stream', (source) => {
      source.on('error', () => {})
      const body = new IncomingBody(source, { received() {}, breakOff() {} })
      body.follow({ came: () => resolve(body), whole: () => wholes.push(true) })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  socket.write(Buffer.concat([preface, frame('settings', 0, 0), frame('headers', endHeaders, 1, post('/'))]))
  socket.write(frame('data', 0, 1, Buffer.from('a: 1')))
  const body = await taken
  const closed = once(body.source, 'close')
  if (reset === undefined) socket.destroy()
  else socket.write(reset)
  await closed
  expect({ isWhole: body.isWhole, wholes, size: body.size }).toEqual({ isWhole: false, wholes: [], size: 4 })
  socket.destroy()
  server.close()
})
