/**
 * A listener of our own over a clock that stands still, and clients that misbehave on its port: they write what they
 * like, and read when they like.
 */
import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { expect } from 'vitest'
import { FakeClock } from '../../src/base/fake-clock.ts'
import { silentLog } from '../../src/base/log.ts'
import { Channel } from '../../src/base/stream.ts'
import type { ApiRequest, ApiResponse } from '../../src/http/api.ts'
import type { BudgetLimits } from '../../src/http/byte-budget.ts'
import { defaultTransportLimits, type TransportLimits } from '../../src/http/limits.ts'
import { listen } from '../../src/http/node/listen.ts'
import { Defense, type Overload } from '../../src/http/overload.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import { openPki } from '../../src/pki/open-pki.ts'
import { memoryPkiStore } from '../../src/pki/pki-store.ts'

const mib = 1024 * 1024

export interface Line {
  readonly bound: unknown
  readonly flow: unknown
  readonly times: unknown
}

export interface Listening extends AsyncDisposable {
  readonly clock: FakeClock
  readonly overload: Overload
  readonly port: number
  readonly ca: string
  /** What the log was told. */
  readonly lines: readonly Line[]
  /** Paths that a handler has begun to answer, in order. */
  readonly asked: readonly string[]
  /** Paths whose signal has aborted. */
  readonly aborted: readonly string[]
  /** Open right now. */
  connections(): number
  /** A TCP connection that says nothing. */
  tcp(): Promise<Socket>
  /** After the handshake. */
  tls(protocol?: 'http/1.1' | 'h2'): Promise<TLSSocket>
  /** One request on a connection of its own: status and body. */
  get(path: string, headers?: string): Promise<readonly [status: number, body: string]>
}

export interface GivenLimits {
  readonly deadlines?: Partial<TransportLimits['deadlines']>
  readonly connections?: Partial<TransportLimits['connections']>
  readonly http2?: Partial<TransportLimits['http2']>
  readonly budget?: BudgetLimits
}

/** What `/large` answers: more than the system's buffers of a connection hold. */
export const largeBytes: number = 24 * mib

export async function startListening(given: GivenLimits = {}): Promise<Listening> {
  const clock = new FakeClock(Date.now())
  const lines: Line[] = []
  const log = {
    ...silentLog,
    warn: ({ bound, flow, times }: Readonly<Record<string, unknown>>) => void lines.push({ bound, flow, times }),
  }
  const defense = new Defense({ clock, log, heapUse: () => 0 })
  const { deadlines, connections, http2 } = defaultTransportLimits
  const limits: TransportLimits = {
    deadlines: { ...deadlines, ...given.deadlines },
    connections: { ...connections, ...given.connections },
    http2: { ...http2, ...given.http2 },
  }
  const overload = defense.of(limits, given.budget ?? { totalBytes: 256 * mib, flowBytes: 64 * mib })
  const pki = await openPki(memoryPkiStore(), { clock, names: ['localhost', '127.0.0.1'] })
  const asked: string[] = []
  const aborted: string[] = []
  const problems: unknown[] = []
  const listener = await listen(
    (request) => {
      asked.push(request.path)
      request.signal.addEventListener('abort', () => aborted.push(request.path))
      return answer(request)
    },
    {
      host: '127.0.0.1',
      port: 0,
      tls: { key: pki.serving.key, cert: pki.serving.cert, clientCa: pki.caCert },
      overload,
      onError: (error) => problems.push(error),
    },
  )
  const { port } = listener
  const opened: Socket[] = []
  const follow = <S extends Socket>(socket: S): S => {
    opened.push(socket)
    // That it is cut off is what these tests are about: they look whether it is closed.
    return socket.on('error', () => {})
  }
  const tls: Listening['tls'] = async (protocol = 'http/1.1') => {
    const options = { host: '127.0.0.1', port, ca: pki.caCert, servername: 'localhost', ALPNProtocols: [protocol] }
    const socket = follow(connectTls(options))
    await once(socket, 'secureConnect')
    return socket
  }
  return {
    clock,
    overload,
    port,
    ca: pki.caCert,
    lines,
    asked,
    aborted,
    connections: () => listener.connections,
    async tcp() {
      const socket = follow(connectTcp(port, '127.0.0.1'))
      await once(socket, 'connect')
      return socket
    },
    tls,
    async get(path, headers = '') {
      const socket = await tls()
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}connection: close\r\n\r\n`)
      return answerIn(await everything(socket))
    },
    async [Symbol.asyncDispose]() {
      for (const socket of opened) socket.destroy()
      await listener.close(AbortSignal.abort())
      defense[Symbol.dispose]()
      expect(problems).toEqual([])
    },
  }
}

const large = Buffer.alloc(largeBytes, 'x')
const text = (body: string, status = 200): ApiResponse => ({ status, headers: {}, body: Buffer.from(body) })

async function answer(request: ApiRequest): Promise<ApiResponse> {
  try {
    const user = request.headers['x-user']
    if (user !== undefined) request.identify?.(user)
    switch (request.path) {
      case '/body':
        return text(`took ${(await request.body(3 * mib)).length}`)
      case '/small':
        return { status: 200, headers: {}, body: large.subarray(0, 15_000) }
      case '/large':
        return { status: 200, headers: {}, body: large }
      case '/watch': {
        const stream = new Channel<Uint8Array>({ limit: 100_000 })
        for (let i = 0; i < largeBytes / 65_536; i++) stream.push(large.subarray(0, 65_536))
        return { status: 200, headers: {}, body: stream }
      }
      case '/objects': {
        const stream = new Channel<Uint8Array>({ limit: 100_000 })
        for (let i = 0; i < 3; i++) stream.push(large.subarray(0, largeBytes / 3))
        return { status: 200, headers: {}, body: stream }
      }
      case '/held':
        return await new Promise<ApiResponse>((resolve) => {
          request.signal.addEventListener('abort', () => resolve(text('left')))
        })
      default:
        return text('ok')
    }
  } catch (error) {
    const status = findStatusError(error)
    if (status !== undefined) return text(JSON.stringify(status.toStatus()), status.code)
    // The body of a client that left, which does not hear the answer.
    return text(String(error), 500)
  }
}

/** All that comes until the server is done. */
export async function everything(socket: Socket): Promise<string> {
  let all = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    all += chunk
  })
  if (!socket.closed) await once(socket, 'close')
  return all
}

export function answerIn(bytes: string): readonly [status: number, body: string] {
  const [head = '', ...rest] = bytes.split('\r\n\r\n')
  return [Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), rest.join('\r\n\r\n')]
}

/** Lets the clock go on, second by second, until it is so. */
export async function passesUntil(clock: FakeClock, isSo: () => boolean): Promise<void> {
  await expect
    .poll(
      async () => {
        await clock.advance(1000)
        return isSo()
      },
      { timeout: 30_000, interval: 1 },
    )
    .toBe(true)
}
