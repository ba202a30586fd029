/**
 * The sockets that listen on one address. Node accepts one connection of a socket in each turn of the event loop,
 * however many wait: behind 300 connections that a client opens at once, the next one waits for 300 turns, before
 * anything knows whose it is. So there are several sockets on one address (SO_REUSEPORT), among which the system
 * spreads connections by their ports.
 */
import cluster from 'node:cluster'
import { once } from 'node:events'
import { type AddressInfo, createServer, isIP, type ListenOptions, type Server, type Socket } from 'node:net'

/** At most so many: a turn accepts a connection of each, at some 0.1 ms. */
const mostSockets = 16

/**
 * For so many connections that may be open there is one socket. Where there is no room the connection goes that has
 * been without a user for longest: none may become that within a few turns, before it can authenticate.
 */
const connectionsForEach = 160

/** Connections that wait to be accepted, for each socket. The system's own bound is this one by default. */
const backlog = 4096

/** Elsewhere the system may hand all connections to one socket. Of workers the primary process accepts. */
const spreads = process.platform === 'linux' && !cluster.isWorker

export interface ListeningSockets {
  readonly address: AddressInfo
  /** Accepts no more connections; those that are open stay. */
  close(): void
}

/** How many listen, each of them an open file, where `connections` may be open. */
export const socketsFor = (connections: number): number =>
  spreads ? Math.min(mostSockets, Math.max(1, Math.floor(connections / connectionsForEach))) : 1

/**
 * `server` is handed what each of the sockets accepts.
 *
 * @throws NodeJS.ErrnoException EADDRINUSE, EACCES, EADDRNOTAVAIL
 */
export async function listenOn(
  server: Server,
  { host, port, sockets }: { readonly host: string; readonly port: number; readonly sockets: number },
  onError: (error: unknown) => void,
): Promise<ListeningSockets> {
  const opened: Server[] = []
  const close = (): void => {
    for (const each of opened) each.close()
  }
  const reusePort = sockets > 1
  // What shares its address would share it with another server of the same user as well.
  if (reusePort && port !== 0) await tryAlone(host, port)
  try {
    const first = await open(server, { host, port, backlog, reusePort }, onError)
    opened.push(server)
    while (opened.length < sockets) {
      const other = createServer((raw: Socket) => server.emit('connection', raw))
      await open(other, { host: isIP(host) ? host : first.address, port: first.port, backlog, reusePort }, onError)
      opened.push(other)
    }
    return { address: first, close }
  } catch (error) {
    close()
    throw error
  }
}

async function tryAlone(host: string, port: number): Promise<void> {
  const server = createServer()
  await open(server, { host, port }, () => {})
  server.close()
  await once(server, 'close')
}

async function open(server: Server, options: ListenOptions, onError: (error: unknown) => void): Promise<AddressInfo> {
  server.listen(options)
  // Rejects if it can't.
  await once(server, 'listening')
  server.on('error', onError)
  return server.address() as AddressInfo
}
