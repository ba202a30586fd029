/** Clients of one flow that all leave at once: what they had under way is ended a few connections in each turn. */
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { endHeaders, endStream, frame, get, preface } from './frames.ts'
import { type Listening, startListening } from './listening.ts'

let world: Listening
beforeEach(async () => {
  world = await startListening()
})
afterEach(() => world[Symbol.asyncDispose]())

const leaving: Record<string, (raw: Socket) => void> = {
  'are closed': (raw) => raw.destroy(),
  break: (raw) => raw.resetAndDestroy(),
}

/** Of one connection: so many requests that wait. */
const asked: Record<string, (requests: number) => string | Buffer> = {
  'http/1.1': () => 'GET /held HTTP/1.1\r\nhost: x\r\n\r\n',
  h2: (requests) =>
    Buffer.concat([
      preface,
      frame('settings', 0, 0),
      ...Array.from({ length: requests }, (_, i) => frame('headers', endStream | endHeaders, 2 * i + 1, get('/held'))),
    ]),
}

async function ask(protocol: string, requests: number): Promise<Socket> {
  const raw = connectTcp(world.port, '127.0.0.1').on('error', () => {})
  const socket = connectTls({ socket: raw, ca: world.ca, servername: 'localhost', ALPNProtocols: [protocol] })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  socket.resume().write(asked[protocol]?.(requests) ?? '')
  return raw
}

test.each([
  { protocol: 'http/1.1', way: 'are closed', connections: 60, requests: 1 },
  { protocol: 'http/1.1', way: 'break', connections: 60, requests: 1 },
  { protocol: 'h2', way: 'are closed', connections: 12, requests: 20 },
  { protocol: 'h2', way: 'break', connections: 12, requests: 20 },
])('attack: $connections connections over $protocol that $way at once', async (given) => {
  const { protocol, way, connections, requests } = given
  const total = connections * requests
  const raws = await Promise.all(Array.from({ length: connections }, () => ask(protocol, requests)))
  await expect.poll(() => world.asked.length).toBe(total)
  for (const raw of raws) leaving[way]?.(raw)
  let most = 0
  for (let before = 0; before < total; ) {
    await new Promise(setImmediate)
    most = Math.max(most, world.aborted.length - before)
    before = world.aborted.length
  }
  // Each is charged a tenth of a millisecond, of the four that a flow has; the last connection may go beyond.
  expect(most).toBeLessThanOrEqual(40 + requests)
  await expect.poll(() => world.connections()).toBe(0)
})
