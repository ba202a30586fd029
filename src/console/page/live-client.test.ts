/** A page has so many watches: each that is left must be closed, whenever its view was left. */
import { signal } from '@preact/signals'
import { expect, test } from 'vitest'
import { LiveClient } from './live-client.ts'
import type { Session } from './session.ts'

/** The connection of a console, opened and closed by hand. */
class SocketStub extends EventTarget {
  readonly orders: unknown[] = []
  isClosed = false

  send(text: string): void {
    this.orders.push(JSON.parse(text))
  }

  close(): void {
    this.isClosed = true
  }

  tell(name: 'open' | 'close', reason = ''): void {
    this.dispatchEvent(Object.assign(new Event(name), { reason }))
  }

  say(line: object): void {
    this.dispatchEvent(Object.assign(new Event('message'), { data: JSON.stringify(line) }))
  }
}

function startConsoleStub() {
  const sockets: SocketStub[] = []
  const answer = { of: (): Response => Response.json({}) }
  const session: Session = {
    place: { server: '', namespaces: [] },
    lost: signal(undefined),
    fetch: async () => answer.of(),
    connect() {
      const socket = new SocketStub()
      sockets.push(socket)
      return socket as unknown as WebSocket
    },
  }
  return { session, sockets, answer }
}

const asked = { path: '/api/v1/namespaces', query: new URLSearchParams() }
const open = (number: number) => ({ open: number, path: '/api/v1/namespaces', query: '' })
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a view that is left before the connection is there opens no watch', async () => {
  const { session, sockets } = startConsoleStub()
  const left = new AbortController()
  const watch = new LiveClient(session).watch(asked, left.signal)
  await settled()
  left.abort(new Error('left'))
  sockets[0]?.tell('open')
  await expect(watch).rejects.toThrow('left')
  expect(sockets.map(({ orders }) => orders)).toEqual([[]])
})

test('a watch that is left is closed, whether it was answered or not', async () => {
  const { session, sockets } = startConsoleStub()
  const live = new LiveClient(session)
  const left = new AbortController()
  const watches = [live.watch(asked, left.signal), live.watch(asked, left.signal)]
  const ended = Promise.allSettled(watches)
  await settled()
  const [socket] = sockets
  socket?.tell('open')
  await settled()
  socket?.say({ watch: 1, status: 200 })
  await watches[0]
  left.abort(new Error('left'))
  expect((await ended).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(socket?.orders).toEqual([open(1), open(2), { close: 1 }, { close: 2 }])
})

test('all watches of a page share one connection, and fail with it; the next has another', async () => {
  const { session, sockets } = startConsoleStub()
  const live = new LiveClient(session)
  const watches = Promise.allSettled([live.watch(asked, undefined), live.watch(asked, undefined)])
  await settled()
  sockets[0]?.tell('open')
  await settled()
  sockets[0]?.tell('close', 'it ends')
  expect((await watches).map((watch) => watch.status === 'rejected' && String(watch.reason))).toEqual([
    'ConsoleUnreached: it ends',
    'ConsoleUnreached: it ends',
  ])
  const next = live.watch(asked, undefined)
  await settled()
  expect(sockets.length).toBe(2)
  sockets[1]?.tell('open')
  await settled()
  sockets[1]?.say({ watch: 3, status: 200 })
  expect((await next).status).toBe(200)
})

test.each([
  { name: 'does not answer', of: () => Promise.reject(new TypeError('nothing there')), says: /does not answer/ },
  {
    name: 'does not know this browser',
    of: () => Response.json({ message: 'this browser is not known here' }, { status: 401 }),
    says: 'this browser is not known here',
  },
])('where a connection does not come to be, a request says why: the console $name', async ({ of, says }) => {
  const { session, sockets, answer } = startConsoleStub()
  answer.of = of as () => Response
  const watch = new LiveClient(session).watch(asked, undefined)
  await settled()
  sockets[0]?.tell('close')
  await expect(watch).rejects.toThrow(says)
})

test('a page that is hidden closes its connection, and has another when it is seen', async () => {
  const { session, sockets } = startConsoleStub()
  const sight = Object.assign(new EventTarget(), { hidden: true })
  const turn = (hidden: boolean): void => {
    sight.hidden = hidden
    sight.dispatchEvent(new Event('visibilitychange'))
  }
  const live = new LiveClient(session, sight)
  const watch = live.watch(asked, undefined).catch(() => 'ended')
  await settled()
  expect(sockets).toEqual([])
  turn(false)
  await expect.poll(() => sockets.length).toBe(1)
  sockets[0]?.tell('open')
  await expect.poll(() => sockets[0]?.orders.length).toBe(1)
  turn(true)
  await expect.poll(() => sockets[0]?.isClosed, { timeout: 10_000 }).toBe(true)
  expect(await watch).toBe('ended')
})
