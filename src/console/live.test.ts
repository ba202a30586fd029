import type { ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import type { Transport } from '../client/transport.ts'
import { LiveStreams } from './live.ts'

async function* repeated(count: number, chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) yield chunk
}

/** What a page is sent when it opens a watch of such an answer. */
async function linesFor(status: number, chunks: () => Iterable<Uint8Array>, count: number): Promise<unknown[]> {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield* chunks()
  }
  const transport: Transport = { send: async () => ({ status, header: () => undefined, body: body() }) }
  const live = new LiveStreams({ transport, userAgent: 'test', clock: new FakeClock(0) })
  const answer = Object.assign(new PassThrough({ highWaterMark: 2 ** 25 }), { writeHead: () => {} })
  const serving = live.serve(answer as unknown as ServerResponse).catch(() => {})
  let text = ''
  answer.on('data', (chunk) => {
    text += String(chunk)
  })
  const lines = (): Record<string, unknown>[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  await expect.poll(() => lines().length).toBe(1)
  live.order(String(lines()[0]?.['stream']), { open: 7, path: '/api/v1/namespaces' })
  await expect.poll(() => lines().length).toBe(1 + count)
  answer.destroy()
  await serving
  return lines().slice(1)
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

test('a page that reads slowly leaves no listener behind for each line', async () => {
  const event = Buffer.from(`{"type":"ADDED","object":"${'x'.repeat(100_000)}"}\n`)
  const transport: Transport = {
    send: async () => ({ status: 200, header: () => undefined, body: repeated(40, event) }),
  }
  const live = new LiveStreams({ transport, userAgent: 'test', clock: new FakeClock(0) })
  const answer = Object.assign(new PassThrough({ highWaterMark: 1024 }), { writeHead: () => {} })
  const serving = live.serve(answer as unknown as ServerResponse).catch(() => {})
  let text = ''
  const listeners: number[] = []
  const reading = (async () => {
    for await (const chunk of answer) {
      text += String(chunk)
      listeners.push(answer.listenerCount('close') + answer.listenerCount('error') + answer.listenerCount('drain'))
      await new Promise((resolve) => setImmediate(resolve))
    }
  })().catch(() => {})
  await expect.poll(() => text).toMatch(/"stream"/)
  const { stream } = JSON.parse(text) as { stream: string }
  for (const open of [1, 2, 3]) live.order(stream, { open, path: '/api/v1/namespaces' })
  await expect.poll(() => text.match(/"end":true/g)?.length).toBe(3)
  expect(Math.max(...listeners)).toBeLessThan(10)
  answer.destroy()
  await Promise.all([serving, reading])
})
