/** A page has so many watches: each that is left must be closed, whenever its view was left. */
import { signal } from '@preact/signals'
import { expect, test } from 'vitest'
import { LiveClient } from './live-client.ts'
import type { Session } from './session.ts'

/** A console that holds answers until it is let go. */
function startConsoleStub() {
  const orders: unknown[] = []
  const connected = Promise.withResolvers<void>()
  const taken = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      await connected.promise
      controller.enqueue(new TextEncoder().encode('{"stream":"s"}\n'))
    },
  })
  const session: Session = {
    place: { server: '', namespaces: [] },
    lost: signal(undefined),
    fetch: async (path, init) => {
      if (path === '/live') return new Response(body)
      orders.push(JSON.parse(String(init?.body)))
      await taken.promise
      return Response.json({})
    },
  }
  return { session, orders, connect: connected.resolve, take: taken.resolve }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a view that is left before the stream is there opens no watch', async () => {
  const { session, orders, connect } = startConsoleStub()
  const left = new AbortController()
  const watch = new LiveClient(session).watch('/api/v1/namespaces', new URLSearchParams(), left.signal)
  left.abort(new Error('left'))
  connect()
  await expect(watch).rejects.toThrow('left')
  expect(orders).toEqual([])
})

test('a watch that is left while it is opened is closed after that', async () => {
  const { session, orders, connect, take } = startConsoleStub()
  const left = new AbortController()
  const watch = new LiveClient(session).watch('/api/v1/namespaces', new URLSearchParams(), left.signal)
  const refused = expect(watch).rejects.toThrow('left')
  connect()
  const open = { open: 1, path: '/api/v1/namespaces', query: '' }
  await expect.poll(() => orders).toEqual([open])
  left.abort(new Error('left'))
  await settled()
  expect(orders).toEqual([open])
  take()
  await refused
  await expect.poll(() => orders).toEqual([open, { close: 1 }])
})

test('a page that is hidden gives its stream back, and has another when it is seen', async () => {
  const { session, orders, connect } = startConsoleStub()
  const streams: AbortSignal[] = []
  const counting: Session = {
    ...session,
    fetch(path, init) {
      if (path === '/live' && init?.signal) streams.push(init.signal)
      return session.fetch(path, init)
    },
  }
  const sight = Object.assign(new EventTarget(), { hidden: true })
  const turn = (hidden: boolean): void => {
    sight.hidden = hidden
    sight.dispatchEvent(new Event('visibilitychange'))
  }
  const live = new LiveClient(counting, sight)
  connect()
  const left = new AbortController()
  const watch = () => live.watch('/api/v1/namespaces', new URLSearchParams(), left.signal).catch(() => 'ended')
  const first = watch()
  await settled()
  expect(streams).toEqual([])
  turn(false)
  await expect.poll(() => orders.length).toBe(1)
  expect(streams.map(({ aborted }) => aborted)).toEqual([false])
  turn(true)
  await expect.poll(() => streams[0]?.aborted).toBe(true)
  left.abort()
  expect(await first).toBe('ended')
})
