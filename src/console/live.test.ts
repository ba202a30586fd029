import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { FakeClock } from '../base/fake-clock.ts'
import type { Transport } from '../client/transport.ts'
import { LiveStreams } from './live.ts'

const opened = new AsyncDisposableStack()
afterAll(() => opened.disposeAsync())

/** A page that is connected to a console which reaches that server. */
async function startPage(transport: Transport): Promise<WebSocket> {
  const live = new LiveStreams({ transport, userAgent: 'test', clock: new FakeClock(0) })
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server.on('connection', (socket) => void live.serve(socket))
  await once(server, 'listening')
  const page = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  opened.defer(() => {
    page.terminate()
    server.close()
  })
  await once(page, 'open')
  return page
}

const order = (page: WebSocket, open: number): void => page.send(JSON.stringify({ open, path: '/api/v1/namespaces' }))

/** What a page is sent when it opens a watch of such an answer. */
async function linesFor(status: number, chunks: () => Iterable<Uint8Array>, count: number): Promise<unknown[]> {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield* chunks()
  }
  const page = await startPage({ send: async () => ({ status, header: () => undefined, body: body() }) })
  const lines: unknown[] = []
  page.on('message', (message: Buffer) => lines.push(JSON.parse(message.toString())))
  order(page, 7)
  await expect.poll(() => lines.length).toBe(count)
  return lines
}

test('a line of the server that is no JSON ends its own watch, not the stream of all', async () => {
  expect(await linesFor(200, () => [Buffer.from('{"type":"ADDED"}\nnonsense\n')], 3)).toEqual([
    { watch: 7, status: 200 },
    { watch: 7, event: { type: 'ADDED' } },
    { watch: 7, failed: 'the server sent an event that is no JSON' },
  ])
})

function* endless(): Generator<Uint8Array> {
  const piece = Buffer.alloc(1024 * 1024, 'x')
  for (;;) yield piece
}

test('an event without end is given up', async () => {
  expect(await linesFor(200, endless, 2)).toEqual([
    { watch: 7, status: 200 },
    { watch: 7, failed: 'the server sent an event without end' },
  ])
})

test('of a refusal without end the page is told the beginning', async () => {
  const [refusal] = await linesFor(502, endless, 1)
  expect(refusal).toEqual({ watch: 7, status: 502, body: 'x'.repeat(64 * 1024) })
})

test('of a page that does not read, watches are not read either', async () => {
  const event = Buffer.from(`{"type":"ADDED","object":"${'x'.repeat(1_000_000)}"}\n`)
  let read = 0
  async function* body(): AsyncGenerator<Uint8Array> {
    for (; read < 200; read++) yield event
  }
  const page = await startPage({ send: async () => ({ status: 200, header: () => undefined, body: body() }) })
  let isEnded = false
  page.on('message', (message: Buffer) => {
    isEnded ||= message.toString() === '{"watch":1,"end":true}'
  })
  page.pause()
  order(page, 1)
  let before = -1
  // What the sockets take is a few megabytes; then it stands.
  await expect
    .poll(() => {
      const isStill = read > 0 && read === before
      before = read
      return isStill
    })
    .toBe(true)
  expect(read).toBeLessThan(100)
  page.resume()
  await expect.poll(() => isEnded).toBe(true)
  expect(read).toBe(200)
})
