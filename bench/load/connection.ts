/**
 * One client on one keep-alive connection, one request at a time. HTTP/1.1 is written to the socket by hand: Node's own
 * client would cost more than the servers that are measured. HTTP/2 has a session per client, through Node.
 */
import { once } from 'node:events'
import http2 from 'node:http2'
import tls from 'node:tls'
import { Http1Answers, type Reply } from './http1-answers.ts'

export type Protocol = 'http/1.1' | 'h2'

/** Where and as whom. Plain data: it is sent to other processes. */
export interface Endpoint {
  readonly host: string
  readonly port: number
  readonly ca: string | undefined
  readonly cert?: string
  readonly key?: string
  readonly token?: string
}

export interface Call {
  readonly method: string
  readonly path: string
  /** JSON. */
  readonly body?: string
  readonly contentType?: string
}

export interface Connection {
  send(call: Call): Promise<Reply>
  /**
   * An answer without end: `onData` sees it as it comes. Resolves when the answer has begun. @throws Error unless 200
   */
  follow(call: Call, onData: (data: Buffer) => void): Promise<void>
  close(): void
}

export function connect(endpoint: Endpoint, protocol: Protocol): Promise<Connection> {
  return protocol === 'h2' ? connectHttp2(endpoint) : connectHttp1(endpoint)
}

/** Parsed once for all connections: parsing costs more than a handshake. */
const contexts = new WeakMap<Endpoint, tls.SecureContext>()

function contextOf(endpoint: Endpoint): tls.SecureContext {
  const known = contexts.get(endpoint)
  if (known !== undefined) return known
  const { ca, cert, key } = endpoint
  const made = tls.createSecureContext({
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  })
  contexts.set(endpoint, made)
  return made
}

const tlsOptions = (endpoint: Endpoint) =>
  ({
    host: endpoint.host,
    port: endpoint.port,
    secureContext: contextOf(endpoint),
    ...(endpoint.ca === undefined ? { rejectUnauthorized: false } : {}),
  }) satisfies tls.ConnectionOptions

async function connectHttp1(endpoint: Endpoint): Promise<Connection> {
  const socket = tls.connect({ ...tlsOptions(endpoint), ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  socket.setNoDelay(true)
  const answers = new Http1Answers()
  let fail: (error: Error) => void = () => {}
  socket.on('data', (data: Buffer) => answers.push(data))
  socket.on('error', (error) => fail(error))
  socket.on('close', () => fail(new Error('the connection was closed')))
  const authorization = endpoint.token === undefined ? '' : `authorization: Bearer ${endpoint.token}\r\n`
  const fixed =
    ` HTTP/1.1\r\nhost: ${endpoint.host}:${endpoint.port}\r\naccept: application/json\r\nuser-agent: ` +
    `bench\r\n${authorization}`
  const write = ({ method, path, body, contentType = 'application/json' }: Call): void => {
    const content =
      body === undefined ? '' : `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
    socket.write(`${method} ${path}${fixed}${content}\r\n${body ?? ''}`)
  }
  return {
    send(call) {
      return new Promise((resolve, reject) => {
        fail = reject
        answers.expect(resolve)
        write(call)
      })
    },
    follow(call, onData) {
      return new Promise((resolve, reject) => {
        fail = reject
        answers.expectStream(
          (status) => (status === 200 ? resolve() : reject(new Error(`${call.path}: status ${status}`))),
          onData,
        )
        write(call)
      })
    },
    close() {
      fail = () => {}
      socket.destroy()
    },
  }
}

async function connectHttp2(endpoint: Endpoint): Promise<Connection> {
  const session = http2.connect(`https://${endpoint.host}:${endpoint.port}`, {
    ...tlsOptions(endpoint),
    settings: { initialWindowSize: 4 * 1024 * 1024, enablePush: false },
  })
  await once(session, 'connect')
  session.setLocalWindowSize(16 * 1024 * 1024)
  const fixed = {
    accept: 'application/json',
    'user-agent': 'bench',
    ...(endpoint.token === undefined ? {} : { authorization: `Bearer ${endpoint.token}` }),
  }
  const open = ({ method, path, body, contentType = 'application/json' }: Call): http2.ClientHttp2Stream => {
    const stream = session.request({
      ':method': method,
      ':path': path,
      ...fixed,
      ...(body === undefined ? {} : { 'content-type': contentType }),
    })
    if (body !== undefined) stream.end(body)
    return stream
  }
  return {
    send(call) {
      return new Promise((resolve, reject) => {
        const stream = open(call)
        const chunks: Buffer[] = []
        let status = 0
        let sizeBytes = 0
        stream.on('response', (headers) => {
          status = headers[':status'] ?? 0
        })
        stream.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          sizeBytes += chunk.length
        })
        stream.on('end', () => resolve({ status, chunks, sizeBytes }))
        stream.on('error', reject)
      })
    },
    follow(call, onData) {
      return new Promise((resolve, reject) => {
        const stream = open(call)
        stream.on('response', ({ ':status': status }) =>
          status === 200 ? resolve() : reject(new Error(`${call.path}: status ${status}`)),
        )
        stream.on('data', onData)
        stream.on('error', reject)
      })
    },
    close: () => session.destroy(),
  }
}
