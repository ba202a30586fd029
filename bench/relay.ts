/** A port of this machine that leads to a server, and counts the bytes, TLS and all. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Relay extends Disposable {
  readonly port: number
  readonly fromServerBytes: number
  readonly toServerBytes: number
}

export async function startRelay(server: { readonly host: string; readonly port: number }): Promise<Relay> {
  const open = new Set<Socket>()
  const counted = { fromServerBytes: 0, toServerBytes: 0 }
  const listener = createServer((near) => {
    const far = connect(server)
    near.on('data', (data) => {
      counted.toServerBytes += data.length
    })
    far.on('data', (data) => {
      counted.fromServerBytes += data.length
    })
    near.pipe(far).pipe(near)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.setNoDelay(true)
      open.add(one)
      // Each end sees the other's: whose connection breaks is told by its client.
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    get fromServerBytes() {
      return counted.fromServerBytes
    },
    get toServerBytes() {
      return counted.toServerBytes
    },
    [Symbol.dispose]() {
      listener.close()
      for (const socket of open) socket.destroy()
    },
  }
}
