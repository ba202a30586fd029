import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { listenOn, socketsFor } from './listening-sockets.ts'

const host = '127.0.0.1'

async function listening(port = 0, server: Server = createServer()) {
  const sockets = await listenOn(server, { host, port, sockets: 16 }, () => {})
  onTestFinished(() => sockets.close())
  return { server, sockets, port: sockets.address.port }
}

test('connections that come at once are accepted in a few turns of the loop, not one in each', async () => {
  const { server, port } = await listening()
  const [count, fewTurns] = [200, 60]
  let accepted = 0
  server.on('connection', (raw: Socket) => {
    accepted++
    raw.destroy()
  })
  const clients = Array.from({ length: count }, () => connect(port, host).on('error', () => {}))
  while (accepted === 0) await new Promise((resolve) => setImmediate(resolve))
  let turns = 0
  for (; accepted < count; turns++) await new Promise((resolve) => setImmediate(resolve))
  for (const client of clients) client.destroy()
  expect(turns).toBeLessThan(fewTurns)
})

test('two servers do not share an address, however they listen', async () => {
  const { port } = await listening()
  await expect(listening(port)).rejects.toMatchObject({ code: 'EADDRINUSE', port })
  const plain = createServer().listen(port, host)
  await expect(once(plain, 'listening')).rejects.toMatchObject({ code: 'EADDRINUSE', port })
})

test('an address is free for the next server once its sockets are closed, whatever is still connected', async () => {
  const { server, sockets, port } = await listening()
  const accepted = once(server, 'connection')
  const client = connect(port, host)
  await accepted
  sockets.close()
  const next = await listening(port)
  expect(next.port).toBe(port)
  client.destroy()
})

test('what listened already is closed again when an address is taken', async () => {
  const taken = createServer().listen(0, host)
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as { port: number }
  const server = createServer()
  await expect(listenOn(server, { host, port, sockets: 16 }, () => {})).rejects.toMatchObject({ code: 'EADDRINUSE' })
  expect(server.listening).toBe(false)
})

test.skipIf(process.platform !== 'linux').each([
  { connections: 1, sockets: 1 },
  { connections: 319, sockets: 1 },
  { connections: 320, sockets: 2 },
  { connections: 2621, sockets: 16 },
  { connections: Number.POSITIVE_INFINITY, sockets: 16 },
])('of $connections connections $sockets sockets listen', ({ connections, sockets }) => {
  expect(socketsFor(connections)).toBe(sockets)
})
