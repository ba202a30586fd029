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

export type Direction = 'questions' | 'answers'

/** What all connections of a proxy go by. */
interface Line {
  open: boolean
  /** What is sent this way never arrives, and the sender is not told. */
  silent: Direction | undefined
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
    const line: Line = { open: true, silent: undefined, slowness: undefined }
    const server = createServer((near) => {
      if (!line.open) {
        near.destroy()
        return
      }
      const far = connect(targetPort, '127.0.0.1')
      for (const [from, to, direction] of [
        [near, far, 'questions'],
        [far, near, 'answers'],
      ] as const) {
        sockets.add(from)
        from.on('error', () => to.destroy())
        from.on('close', () => {
          sockets.delete(from)
          to.destroy()
        })
        passOn(from, to, line, direction)
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

  /** A partition of one direction. Connections through which something was lost do not outlive `mend`. */
  silence(direction: Direction): void {
    this.#line.silent = direction
  }

  mend(): void {
    this.#line.open = true
    if (this.#line.silent !== undefined) for (const socket of this.#sockets) socket.destroy()
    this.#line.silent = undefined
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
function passOn(from: Socket, to: Socket, line: Line, direction: Direction): void {
  const write = (piece: Buffer): void => {
    if (to.write(piece)) from.resume()
    else to.once('drain', () => from.resume())
  }
  from.on('data', (piece: Buffer) => {
    if (line.silent === direction) return
    from.pause()
    if (!line.slowness) return write(piece)
    const { delayMs, bytesPerSecond } = line.slowness
    setTimeout(() => write(piece), delayMs + (1000 * piece.length) / bytesPerSecond)
  })
  from.on('end', () => to.end())
}
