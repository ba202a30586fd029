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
  socket.write(get('/held') + get('/ok').repeat(1000))
  await everything(socket)
  expect(world.asked).toEqual(['/held'])
  await expect.poll(() => world.aborted).toEqual(['/held'])
  expect(world.lines).toEqual([{ bound: 'pipelined_flood', flow: 'address 127.0.0.1', times: 1 }])
  other.write(get('/ok').replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'))
  expect(await everything(other)).toMatch(/ok$/)
})
