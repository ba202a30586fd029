/**
 * HTTP/2 and HTTP/1.1 over TLS on one port, turned into `ApiRequest` and back. Only this folder knows sockets.
 *
 *   listen.ts        the server: accepts, hands requests on, closes
 *   listening-sockets.ts   what accepts
 *   connections.ts   how many connections there may be, and whose
 *   connection.ts    one of them: deadlines, floods
 *   exchange.ts      one request and its answer: deadlines, bytes
 *   one-at-a-time.ts what a client sends before it is answered, over HTTP/1.1
 *   http1.ts, http2.ts, body.ts, send.ts   how requests come in and answers go out
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import http2 from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { aborted } from '../../base/aborted.ts'
import { type Eventual, isPending } from '../../base/eventual.ts'
import { Gathered } from '../gather.ts'
import type { Overload } from '../overload.ts'
import type { Serve } from '../pipeline.ts'
import { Traffic } from '../traffic.ts'
import type { Connection } from './connection.ts'
import { Connections, connectionsByFiles } from './connections.ts'
import { answerHttp1, hasBody } from './http1.ts'
import { answerHttp2, Http2Exchange } from './http2.ts'
import { IncomingBody } from './incoming-body.ts'
import { listenOn, socketsFor } from './listening-sockets.ts'

export interface TlsMaterial {
  readonly key: string
  readonly cert: string
  /** Client certificates must chain to it. */
  readonly clientCa: string
}

export interface ListenOptions {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  readonly tls: TlsMaterial
  readonly overload: Overload
  /** Its requests say that they came over the address that is kept for administrators. */
  readonly reserved?: boolean
  readonly onError: (error: unknown) => void
}

export interface Listener {
  readonly host: string
  readonly port: number
  /** Open right now. */
  readonly connections: number
  /** Serves with a new certificate from now on; open connections keep theirs. */
  setTls(tls: TlsMaterial): void
  /** Resolves when no request waits for its answer any more, watches apart, or `deadline` aborts. */
  answered(deadline: AbortSignal): Promise<void>
  /**
   * Stops accepting; resolves when every request under way is answered or `deadline` aborts, which cuts the rest off.
   */
  close(deadline: AbortSignal): Promise<void>
}

const maxHeaderBytes = 64 * 1024
/** Of a body, what a client may send before it is read: all streams of a session may have so much. */
const windowBytes = 64 * 1024
/**
 * MiB. Above it Node refuses every new stream of the session (ENHANCE_YOUR_CALM), so it must hold what streams that are
 * not read keep: a slice of the answer, a window of the body.
 */
const sessionMemoryMib = 64

/** @throws NodeJS.ErrnoException EADDRINUSE, EACCES, EADDRNOTAVAIL */
export async function listen(serve: Serve, options: ListenOptions): Promise<Listener> {
  const { overload, reserved = false } = options
  const server = createServer(options)

  const gathered = new Gathered({ now: () => overload.clock.monotonic() })
  const mostConnections = Math.min(overload.limits.connections.all, connectionsByFiles())
  const sockets = socketsFor(mostConnections)
  const connections = new Connections(overload, gathered, mostConnections - sockets + 1, reserved)
  const ofSocket = new WeakMap<object, Connection>()
  const traffic = new Traffic()
  let closing = false
  const counted = countedBy(traffic, options.onError)
  const take = (connection: Connection, answer: () => Eventual<void>, cutOff: () => void): void =>
    gathered.add(connection, counted(answer, cutOff))

  follow(server, connections, ofSocket, gathered)
  server.on('tlsClientError', () => {}) // a handshake that fails is the peer's business
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = ofSocket.get(request.socket)
    if (connection === undefined) return void response.destroy()
    const body = hasBody(request) ? new IncomingBody(request, connection) : undefined
    connection.beginInOrder(response, body, () => {
      if (closing) response.setHeader('connection', 'close')
      take(
        connection,
        () => answerHttp1(serve, request, response, connection, traffic, body),
        () => response.destroy(),
      )
    })
  })
  // Adding 'request' made Node install its HTTP/1 imitation for HTTP/2 streams as well: ours replaces it.
  server.removeAllListeners('stream')
  server.on('stream', (stream: http2.ServerHttp2Stream, headers, _flags, rawHeaders: readonly string[]) => {
    const connection = stream.session && ofSocket.get(stream.session)
    if (connection === undefined) return stream.destroy()
    const exchange = new Http2Exchange(connection, stream)
    take(
      connection,
      () => answerHttp2(serve, stream, { headers, rawHeaders }, exchange, traffic),
      () => exchange.cutOff(),
    )
  })

  const listening = await listenOn(server, { ...options, sockets }, options.onError)

  return {
    host: options.host,
    port: listening.address.port,
    get connections() {
      return connections.size
    },
    setTls: (tls) => server.setSecureContext(tlsOptions(tls)),
    answered: (deadline) => traffic.answered(deadline),
    async close(deadline) {
      closing = true
      listening.close()
      const sessionsEnded = connections.endSessions()
      await traffic.over(deadline)
      // Answered is not yet sent: a session ends by itself when its last answer is out, a socket is let go behind it.
      await Promise.race([sessionsEnded, aborted(deadline)])
      connections.close(deadline.aborted)
    },
  }
}

/** Every connection is known, and found again by its socket and its session, from its first byte on. */
function follow(
  server: http2.Http2SecureServer,
  connections: Connections,
  ofSocket: WeakMap<object, Connection>,
  gathered: Gathered,
): void {
  // Before TLS is set up: a connection that is turned away costs no handshake.
  const begin = server.listeners('connection') as ((raw: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (raw: Socket) => {
    const connection = connections.admit(raw)
    if (connection === undefined) return
    connections.begin(connection, raw, () => {
      for (const listener of begin) listener.call(server, raw)
    })
  })
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    socket.setNoDelay(true)
    const connection = connections.secured(socket)
    if (connection === undefined) return
    ofSocket.set(socket, connection)
    socket.prependListener('end', () => answerAtOnce(connection, gathered))
  })
  server.on('session', (session) => {
    const connection = connections.ofSession(session)
    if (connection !== undefined) ofSocket.set(session, connection)
    session.on('error', () => {}) // the peer broke the connection: its streams hear of it themselves
  })
}

/** Node ends a connection when its client ends its side: what can be answered at once is answered before. */
function answerAtOnce(connection: Connection, gathered: Gathered): void {
  do gathered.beginOf(connection)
  while (connection.beginNext())
}

/**
 * Counts a request as under way until it is answered. What can't be answered is cut off: its client is not to wait.
 * What is returned begins it, and says whether it goes on.
 */
function countedBy(
  traffic: Traffic,
  onError: ListenOptions['onError'],
): (answer: () => Eventual<void>, cutOff: () => void) => () => boolean {
  // Made once: for each request they would cost as much as its admission.
  const ended = (): void => traffic.end()
  const failed = (error: unknown, cutOff: () => void): void => {
    onError(error)
    cutOff()
    ended()
  }
  return (answer, cutOff) => {
    traffic.begin()
    return () => {
      try {
        const answering = answer()
        if (isPending(answering)) {
          answering.then(ended, (error: unknown) => failed(error, cutOff))
          return true
        }
        ended()
      } catch (error) {
        failed(error, cutOff)
      }
      return false
    }
  }
}

function createServer({ tls, overload }: ListenOptions): http2.Http2SecureServer {
  return http2.createSecureServer({
    ...tlsOptions(tls),
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    maxHeaderListPairs: 256,
    maxHeaderSize: maxHeaderBytes,
    maxSessionMemory: sessionMemoryMib,
    settings: {
      maxConcurrentStreams: overload.limits.http2.streams,
      initialWindowSize: windowBytes,
      maxHeaderListSize: maxHeaderBytes,
    },
    // Deadlines are ours (`connection.ts`): Node's would need a timer for each connection.
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
    // Else a header whose value begins or ends with a blank vanishes, and `Impersonate-User` must not.
    strictFieldWhitespaceValidation: false,
    // Most requests have no body: nothing is set up to read one.
    optimizeEmptyRequests: true,
  } as http2.SecureServerOptions)
}

function tlsOptions(tls: TlsMaterial): { key: string; cert: string; ca: string; minVersion: 'TLSv1.2' } {
  return { key: tls.key, cert: tls.cert, ca: tls.clientCa, minVersion: 'TLSv1.2' }
}
