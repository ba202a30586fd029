/** Where a request of the page becomes a WebSocket: judged as every other, before anything is agreed on. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { asRefusal, dataHeaders } from './answer.ts'
import { type Gate, liveProtocol } from './gate.ts'
import type { LiveStreams } from './live.ts'

/** Orders are short. */
const mostMessageBytes = 64 * 1024

/** @returns what ends all of them */
export function takeUpgrades(server: Server, gate: Gate, live: LiveStreams): () => void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: mostMessageBytes,
    handleProtocols: () => liveProtocol,
  })
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    // Node listens to it no more, and the library not yet.
    stream.once('error', () => stream.destroy())
    try {
      gate.checkUpgrade(request)
    } catch (error) {
      refuse(stream, error)
      return
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      live.serve(socket).catch(() => socket.terminate())
    })
  })
  return () => {
    for (const socket of sockets.clients) socket.terminate()
  }
}

function refuse(stream: Duplex, error: unknown): void {
  const refusal = asRefusal(error)
  const body = `${JSON.stringify(refusal.toStatus())}\n`
  const headers = {
    ...dataHeaders,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  stream.end(`HTTP/1.1 ${refusal.code} ${refusal.reason}\r\n${lines.join('')}\r\n${body}`)
}
