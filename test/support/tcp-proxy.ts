/**
 * A TCP proxy on a loopback port that can be cut: for tests of broken connections, without stopping the server.
 */
import type { Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

export class TcpProxy implements AsyncDisposable {
  readonly port: number
  readonly #server: Server
  readonly #sockets: Set<Socket>
  readonly #gate: { open: boolean }

  private constructor(server: Server, port: number, sockets: Set<Socket>, gate: { open: boolean }) {
    this.#server = server
    this.port = port
    this.#sockets = sockets
    this.#gate = gate
  }

  static async start(targetPort: number): Promise<TcpProxy> {
    const sockets = new Set<Socket>()
    const gate = { open: true }
    const server = createServer((near) => {
      if (!gate.open) {
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
        from.pipe(to)
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('no port')
    return new TcpProxy(server, address.port, sockets, gate)
  }

  /** Breaks every connection and accepts no new ones. */
  cut(): void {
    this.#gate.open = false
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#gate.open = true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
