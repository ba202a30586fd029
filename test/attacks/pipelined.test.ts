/** Clients over HTTP/1.1 that do not wait for an answer before they send the next request. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { everything, type Listening, passesUntil, startListening } from './listening.ts'

let world: Listening
beforeEach(async () => {
  world = await startListening()
})
afterEach(() => world[Symbol.asyncDispose]())

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

test('requests that come together are worked on one after the other, and answered in order', async () => {
  const socket = await world.tls()
  socket.write(get('/small') + get('/ok') + get('/held') + get('/after'))
  await expect.poll(() => world.asked).toEqual(['/small', '/ok', '/held'])
  expect(await world.get('/other')).toEqual([200, 'ok'])
  expect(world.asked).toEqual(['/small', '/ok', '/held', '/other'])
  socket.destroy()
  await expect.poll(() => world.aborted).toEqual(['/held'])
  await world.get('/last')
  expect(world.asked).toEqual(['/small', '/ok', '/held', '/other', '/last'])
})

test('an answer that is not read is given up, whatever was asked for behind it', async () => {
  const socket = await world.tls()
  socket.pause().write(get('/large') + get('/held'))
  await expect.poll(() => world.asked).toEqual(['/large'])
  await passesUntil(world.clock, () => (world.overload.incidents.counts.get('answer_deadline') ?? 0) > 0)
  await world.get('/last')
  expect(world.asked).toEqual(['/large', '/last'])
})

test('a flood of requests behind one that waits ends its connection, and no other', async () => {
  const other = await world.tls()
  const socket = await world.tls()
  // With a reset where the system has not read all of it by then.
  const ended = new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))
  socket.write(get('/held') + get('/ok').repeat(1000))
  await ended
  expect(world.asked).toEqual(['/held'])
  await expect.poll(() => world.aborted).toEqual(['/held'])
  expect(world.lines).toEqual([{ bound: 'pipelined_flood', flow: 'address 127.0.0.1', times: 1 }])
  other.write(get('/ok').replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'))
  expect(await everything(other)).toMatch(/ok$/)
})

const bodyOf = (text: string): string =>
  `POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: ${text.length}\r\n\r\n${text}`

test('bodies that come behind one that waits are taken when it is their turn', async () => {
  const socket = await world.tls()
  // `/after` is answered at once: what is behind it has come by then.
  socket.write(get('/large') + bodyOf('x'.repeat(1000)) + bodyOf('x'.repeat(20_000)) + get('/ok'))
  const said = everything(socket)
  await expect.poll(() => world.asked.length).toBe(4)
  socket.end()
  expect((await said).match(/took \d+/g)).toEqual(['took 1000', 'took 20000'])
})

test.each([
  ['large headers', `GET /ok HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(20_000)}\r\n\r\n`.repeat(4)],
  ['large bodies', bodyOf('x'.repeat(20_000)).repeat(4)],
  ['a body that does not end', bodyOf('x'.repeat(70_000)).replace('70000', '3000000')],
])('a client may not have %s waiting: its connection ends', async (_, waiting) => {
  const socket = await world.tls()
  socket.write(get('/held') + waiting)
  await everything(socket)
  expect(world.asked).toEqual(['/held'])
  expect(world.lines).toEqual([{ bound: 'pipelined_flood', flow: 'address 127.0.0.1', times: 1 }])
})
