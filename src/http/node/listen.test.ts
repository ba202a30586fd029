import { once } from 'node:events'
import http2 from 'node:http2'
import https from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { badRequest, failure, statusOf } from '../../../test/support/refusal.ts'
import { systemClock } from '../../base/clock.ts'
import { silentLog } from '../../base/log.ts'
import { Channel } from '../../base/stream.ts'
import { findStatusError, StatusError } from '../../kube/status-error.ts'
import { openPki, type Pki } from '../../pki/open-pki.ts'
import { memoryPkiStore } from '../../pki/pki-store.ts'
import type { AnswerStream, ApiRequest, ApiResponse } from '../api.ts'
import { budgetWithin, defaultMaxMemoryBytes, defaultTransportLimits } from '../limits.ts'
import { Defense } from '../overload.ts'
import { type Listener, listen } from './listen.ts'

async function nextTurns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

const overload = new Defense({ clock: systemClock, log: silentLog }).of(
  defaultTransportLimits,
  budgetWithin(defaultMaxMemoryBytes),
)
let pki: Pki
let listener: Listener
let stream: Channel<Uint8Array> | undefined
const refused = Promise.withResolvers<void>()
let upload: PromiseWithResolvers<unknown>
const problems: unknown[] = []
const unicodeWarning = '299 - "ünknown field \\"名前→😀\\""'
const text = (body: string, status = 200): ApiResponse => ({
  status,
  headers: { 'content-type': 'text/plain', warning: ['299 - "a"', '299 - "b"'] },
  body: Buffer.from(body),
})

/** An answer in the making that comes to no end. */
function broken(): AnswerStream {
  async function* made(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half')
    throw new Error('the item can not be encoded')
  }
  const chunks = made()
  return { isAnswer: true, [Symbol.asyncIterator]: () => chunks, [Symbol.asyncDispose]: async () => {} }
}

async function echo(request: ApiRequest): Promise<ApiResponse> {
  if (request.path === '/stream') {
    stream = new Channel<Uint8Array>({ limit: 10 })
    return { status: 200, headers: {}, body: stream }
  }
  if (request.path === '/broken') return { status: 200, headers: {}, body: broken() }
  if (request.path === '/upload') {
    const outcome = await Promise.resolve(request.body(1_000_000)).then(
      (bytes) => `took ${bytes.length} bytes`,
      statusOf,
    )
    upload.resolve(outcome)
    return text('')
  }
  if (request.path === '/groups') return text(JSON.stringify(request.headerValues('impersonate-group')))
  if (request.path === '/unicode') {
    const headers = { 'x-single': 'Dvořák', warning: [unicodeWarning, '299 - "a\nb\u0085c"', '299 - "\ud800"'] }
    return { status: 200, headers, body: Buffer.from('stored') }
  }
  if (request.path === '/unanswered') throw new Error('the answer can not be made')
  if (request.path === '/large') return text('x'.repeat(500_000))
  if (request.path === '/refused-midway') return { status: 200, headers: {}, body: refusedMidway(request) }
  if (request.path.startsWith('/pieces')) {
    const sizes = request.query.split(',').map(Number)
    return { status: 200, headers: {}, body: sizes.map((size, i) => Buffer.alloc(size, String(i))) }
  }
  if (request.path.startsWith('/count')) {
    // Late enough for a body of some records to be whole.
    if (request.path === '/count/late') await nextTurns(20)
    return text(String((await request.body(1_000_000)).length))
  }
  // Late enough for a small body to be whole.
  if (request.path === '/late') await nextTurns(20)
  try {
    const body = Buffer.from(await request.body(1000)).toString()
    const user = request.clientCertificate === undefined ? 'none' : String(!request.clientCertificate.rejected)
    return text(JSON.stringify({ method: request.method, path: request.path, query: request.query, body, user }))
  } catch (error) {
    const status = findStatusError(error)
    if (status === undefined) throw error
    return text(JSON.stringify(status.toStatus()), status.code)
  }
}

/** As a list whose client has left: it is told what it can't read any more. */
function refusedMidway({ signal }: ApiRequest): AnswerStream {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('one')
    if (!signal.aborted) await once(signal, 'abort')
    refused.resolve()
    throw new StatusError('the client left', { reason: 'Timeout', code: 504 })
  }
  return Object.assign(chunks(), { isAnswer: true as const, [Symbol.asyncDispose]: async () => undefined })
}

beforeAll(async () => {
  pki = await openPki(memoryPkiStore(), { clock: systemClock, names: ['localhost', '127.0.0.1'] })
  listener = await listen(echo, {
    host: '127.0.0.1',
    port: 0,
    tls: { key: pki.serving.key, cert: pki.serving.cert, clientCa: pki.caCert },
    overload,
    onError: (error) => problems.push(error),
  })
})

afterAll(async () => {
  await listener.close(AbortSignal.abort())
  expect(problems).toEqual([])
})

interface Answer {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: string
}

function http1(
  path: string,
  options: { method?: string; body?: string; client?: boolean; chunked?: boolean } = {},
): Promise<Answer> {
  const headers = options.chunked ? { 'transfer-encoding': 'chunked' } : {}
  const identity = options.client ? pki.mintClientCertificate({ user: 'u', groups: [], durationMs: 60_000 }) : {}
  return new Promise((resolve, reject) => {
    const request = https.request(
      {
        host: '127.0.0.1',
        port: listener.port,
        path,
        method: options.method ?? 'GET',
        headers,
        ca: pki.caCert,
        ...identity,
      },
      (response) => {
        let body = ''
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString()
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headersDistinct, body }))
      },
    )
    request.on('error', reject)
    request.end(options.body)
  })
}

async function h2(path: string, options: { method?: string; body?: string; chunked?: boolean } = {}): Promise<Answer> {
  const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca: pki.caCert })
  const declared = options.body === undefined || options.chunked ? {} : { 'content-length': options.body.length }
  const request = session.request({ ':path': path, ':method': options.method ?? 'GET', ...declared })
  request.end(options.body)
  const [headers] = (await once(request, 'response')) as [Record<string, unknown>]
  let body = ''
  for await (const chunk of request) body += String(chunk)
  session.close()
  return { status: Number(headers[':status']), headers, body }
}

describe.each([
  { protocol: 'HTTP/1.1', send: http1 },
  { protocol: 'HTTP/2', send: h2 },
])('over $protocol', ({ send }) => {
  test('a request arrives as it was sent', async () => {
    const { status, body } = await send('/api/v1/x%2Fy?a=1&b', { method: 'POST', body: 'hello' })
    expect(status).toBe(200)
    expect(JSON.parse(body)).toEqual({
      method: 'POST',
      path: '/api/v1/x%2Fy',
      query: 'a=1&b',
      body: 'hello',
      user: 'none',
    })
  })

  test('headers beyond Latin-1 arrive as UTF-8, and the answer with them', async () => {
    const { status, headers, body } = await send('/unicode')
    expect({ status, body }).toEqual({ status: 200, body: 'stored' })
    const read = (value: unknown): string[] =>
      [value].flat().map((v) => Buffer.from(String(v), 'latin1').toString('utf8'))
    expect(read(headers['x-single'])).toEqual(['Dvořák'])
    // Over HTTP/2 Node joins the values of a header.
    expect(read(headers['warning']).join(', ')).toBe(`${unicodeWarning}, 299 - "a b c", 299 - "\ufffd"`)
  })

  test('a body over the limit is refused, declared or not', async () => {
    for (const path of ['/x', '/late']) {
      for (const chunked of [true, false]) {
        const { status, body } = await send(path, { method: 'POST', body: 'x'.repeat(1001), chunked })
        expect(JSON.parse(body)).toEqual(
          failure({
            message: 'Request entity too large: limit is 1000',
            reason: 'RequestEntityTooLarge',
            code: 413,
          }),
        )
        expect(status).toBe(413)
      }
    }
  })

  test.each(['/count', '/count/late'])('a body of many TLS records is read whole: %s', async (path) => {
    for (const size of [16_384, 100_000, 500_000]) {
      expect(await send(path, { method: 'POST', body: 'x'.repeat(size) })).toMatchObject({ body: String(size) })
    }
  })

  test.each([
    { sizes: [] },
    { sizes: [10] },
    { sizes: [10, 20] },
    { sizes: [100, 500_000] },
    { sizes: [100_000, 5, 0, 7] },
  ])('pieces of $sizes bytes are one body of a known length', async ({ sizes }) => {
    const whole = sizes.map((size, i) => String(i).repeat(size)).join('')
    const { status, headers, body } = await send(`/pieces?${sizes.length === 0 ? '0' : sizes.join(',')}`)
    expect([status, String(headers['content-length'])]).toEqual([200, String(whole.length)])
    expect(body).toBe(whole)
  })

  test('HEAD is answered without a body', async () => {
    const { status, body } = await send('/x', { method: 'HEAD' })
    expect(status).toBe(200)
    expect(body).toBe('')
  })
})

describe('a listener', () => {
  test('knows a client by its certificate', async () => {
    expect(JSON.parse((await http1('/x', { client: true })).body)).toMatchObject({ user: 'true' })
  })

  test('tells a certificate of a stranger from none', async () => {
    const stranger = await openPki(memoryPkiStore(), { clock: systemClock, names: ['localhost'] })
    const identity = stranger.mintClientCertificate({ user: 'u', groups: [], durationMs: 60_000 })
    const body = await new Promise<string>((resolve, reject) => {
      https
        .get({ host: '127.0.0.1', port: listener.port, path: '/x', ca: pki.caCert, ...identity }, (response) => {
          response.on('data', (chunk: Buffer) => resolve(chunk.toString()))
        })
        .on('error', reject)
    })
    expect(JSON.parse(body)).toMatchObject({ user: 'false' })
  })

  test('sends a stream item by item and ends it when the client goes', async () => {
    const request = https.get({ host: '127.0.0.1', port: listener.port, path: '/stream', ca: pki.caCert })
    const [response] = (await once(request, 'response')) as [NodeJS.ReadableStream]
    stream?.push(Buffer.from('one'))
    const [first] = (await once(response, 'data')) as [Buffer]
    expect(first.toString()).toBe('one')
    const ended = new Promise<void>((resolve) => {
      const watched = stream as Channel<Uint8Array>
      const look = (): void => {
        if (watched.closed) resolve()
        else setImmediate(look)
      }
      look()
    })
    request.on('error', () => {})
    request.destroy()
    await ended
  })

  test.each([
    ['the stream', (request: http2.ClientHttp2Stream) => request.destroy()],
    ['the connection', (request: http2.ClientHttp2Stream) => request.session?.destroy()],
  ])('does not take for whole an HTTP/2 upload when %s is cut half way', async (_what, cut) => {
    upload = Promise.withResolvers()
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca: pki.caCert })
    session.on('error', () => {})
    const request = session.request({ ':path': '/upload', ':method': 'POST' })
    request.on('error', () => {})
    await new Promise((resolve) => request.write('half', resolve))
    await nextTurns(20)
    cut(request)
    expect(await upload.promise).toEqual(badRequest('the client left before its request was complete'))
    session.destroy()
  })

  test('refuses an HTTP/1.1 upload that is cut half way, which is no fault of the server', async () => {
    upload = Promise.withResolvers()
    const request = https.request({
      host: '127.0.0.1',
      port: listener.port,
      path: '/upload',
      method: 'POST',
      ca: pki.caCert,
    })
    request.on('error', () => {})
    await new Promise((resolve) => request.write('half', resolve))
    await nextTurns(20)
    request.destroy()
    expect(await upload.promise).toEqual(badRequest('the client left before its request was complete'))
  })

  test('cuts off an answer that can not be completed, over HTTP/1.1 and HTTP/2, and says why', async () => {
    const request = https.get({ host: '127.0.0.1', port: listener.port, path: '/broken', ca: pki.caCert })
    const [response] = await once(request, 'response')
    await expect(response.toArray()).rejects.toMatchObject({ code: 'ECONNRESET' })

    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca: pki.caCert })
    const stream = session.request({ ':path': '/broken' })
    await expect(stream.toArray()).rejects.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' })
    const other = session.request({ ':path': '/x' })
    expect((await once(other, 'response'))[0][':status']).toBe(200)
    session.close()
    expect(problems.splice(0).map(String)).toEqual(Array(2).fill('Error: the item can not be encoded'))
  })

  test.each([
    { protocol: 'HTTP/1.1', send: http1, gone: /socket hang up/ },
    { protocol: 'HTTP/2', send: h2, gone: /NGHTTP2_INTERNAL_ERROR/ },
  ])('a client that can not be answered is not kept waiting: $protocol', async ({ send, gone }) => {
    await expect(send('/unanswered')).rejects.toThrow(gone)
    expect(problems.splice(0).map(String)).toEqual(['Error: the answer can not be made'])
  })

  test('a stream that refuses a client which has left is no fault of the server', async () => {
    const request = https.get({ host: '127.0.0.1', port: listener.port, path: '/refused-midway', ca: pki.caCert })
    const [response] = await once(request, 'response')
    await once(response, 'data')
    request.destroy()
    await refused.promise
    await nextTurns(20)
    expect(problems).toEqual([])
  })

  test('ends a stream when an HTTP/2 client cancels it and keeps the connection', async () => {
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca: pki.caCert })
    const request = session.request({ ':path': '/stream' })
    await once(request, 'response')
    request.close(http2.constants.NGHTTP2_CANCEL)
    const dropped = stream as Channel<Uint8Array>
    await expect.poll(() => dropped.closed).toBe(true)
    session.close()
  })

  test('an HTTP/2 answer of several frames is not cut off by the end of a request without a body', async () => {
    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca: pki.caCert })
    for (let i = 0; i < 5; i++) {
      const request = session.request({ ':path': '/large' })
      let bytes = 0
      for await (const chunk of request) bytes += (chunk as Buffer).length
      expect([bytes, request.rstCode]).toEqual([500_000, http2.constants.NGHTTP2_NO_ERROR])
    }
    session.close()
  })

  test.each([
    { name: 'several values', groups: ['a, b', 'c'] },
    { name: 'one value with a comma', groups: ['a, b'] },
    { name: 'none', groups: [] },
  ])('keeps the values of a repeated header apart, over HTTP/1.1 and HTTP/2: $name', async ({ groups }) => {
    const headers = { 'Impersonate-Group': groups }
    const request = https.get({ host: '127.0.0.1', port: listener.port, path: '/groups', ca: pki.caCert, headers })
    const [response] = await once(request, 'response')
    expect(JSON.parse(Buffer.concat(await response.toArray()).toString())).toEqual(groups)

    const session = http2.connect(`https://127.0.0.1:${listener.port}`, { ca: pki.caCert })
    const stream = session.request({ ':path': '/groups', ...headers })
    expect(JSON.parse(Buffer.concat(await stream.toArray()).toString())).toEqual(groups)
    session.close()
  })

  test('says each warning in a header of its own', async () => {
    expect((await http1('/x')).headers['warning']).toEqual(['299 - "a"', '299 - "b"'])
  })

  test('refuses a taken port with its code', async () => {
    const tls = { key: pki.serving.key, cert: pki.serving.cert, clientCa: pki.caCert }
    await expect(
      listen(echo, { host: '127.0.0.1', port: listener.port, tls, overload, onError: () => {} }),
    ).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})
