/**
 * A TCP proxy on a loopback port that can be cut, or made slow: for tests of broken and bad connections, without
 * stopping the server.
 */
import type { Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

/** Of each direction of each connection. */
export interface Slowness {
  readonly delayMs: number
  readonly bytesPerSecond: number
}

/** What all connections of a proxy go by. */
interface Line {
  open: boolean
  slowness: Slowness | undefined
}

export class TcpProxy implements AsyncDisposable {
  readonly port: number
  readonly #server: Server
  readonly #sockets: Set<Socket>
  readonly #line: Line

  private constructor(server: Server, port: number, sockets: Set<Socket>, line: Line) {
    this.#server = server
    this.port = port
    this.#sockets = sockets
    this.#line = line
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const sockets = new Set<Socket>()
    const line: Line = { open: true, slowness: undefined }
    const server = createServer((near) => {
      if (!line.open) {
        near.destroy()
        return
      }
      const far = connect(targetPort, '127.0.0.1')
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from)
        from.on('error', () => to.destroy())
        from.on('close', () => {
          sockets.delete(from)
          to.destroy()
        })
        passOn(from, to, line)
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('no port')
    return new TcpProxy(server, address.port, sockets, line)
  }

  /** Breaks every connection and accepts no new ones. */
  cut(): void {
    this.#line.open = false
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#line.open = true
    this.#line.slowness = undefined
  }

  /** Of connections that are open too, until `mend`. */
  slowDown(slowness: Slowness): void {
    this.#line.slowness = slowness
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** One piece at a time: the next is read when this one has been handed on. */
function passOn(from: Socket, to: Socket, line: Line): void {
  const write = (piece: Buffer): void => {
    if (to.write(piece)) from.resume()
    else to.once('drain', () => from.resume())
  }
  from.on('data', (piece: Buffer) => {
    from.pause()
    if (!line.slowness) return write(piece)
    const { delayMs, bytesPerSecond } = line.slowness
    setTimeout(() => write(piece), delayMs + (1000 * piece.length) / bytesPerSecond)
  })
  from.on('end', () => to.end())
}
