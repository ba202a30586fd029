/** The client against what other API servers do, over a socket: answers as kube-apiserver 1.20 to 1.36 sends them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failure, refusal } from '../../test/support/refusal.ts'
import { systemClock } from '../base/clock.ts'
import { httpsTransport } from './https-transport.ts'
import { Informer } from './informer.ts'
import { RestClient } from './rest-client.ts'
import { retryingTransport } from './retrying-transport.ts'

const resource = { group: '', version: 'v1', resource: 'configmaps' } as const
const item = (name: string, resourceVersion: string): object => ({
  metadata: { name, namespace: 'ns', uid: name, resourceVersion },
})
/** Items of a list have neither kind nor apiVersion. */
const list = (resourceVersion: string, items: object[], more: object = {}): string =>
  JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion, ...more }, items })
const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`
const bookmark = (resourceVersion: string): string =>
  event('BOOKMARK', { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion, creationTimestamp: null } })
const gone = (reason: string): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'too old resource version: 1 (2)',
  reason,
  code: 410,
})

type Answer = (response: ServerResponse, request: IncomingMessage) => void
const says =
  (code: number, body: string, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body)
/** A watch that says this and goes on. */
const goesOn =
  (...chunks: (string | Uint8Array)[]): Answer =>
  async (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })
    for (const chunk of chunks) {
      response.write(chunk)
      await new Promise(setImmediate)
    }
  }
const ends =
  (...chunks: string[]): Answer =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chunks.join(''))

let script: Answer[]
let asked: string[]
let changes: string[]
let server: ReturnType<typeof createServer>
let stop: AbortController
let client: RestClient
let running: Promise<void>

beforeEach(async () => {
  script = []
  asked = []
  changes = []
  running = Promise.resolve()
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    const kind = searchParams.get('watch') === 'true' ? `watch ${searchParams.get('resourceVersion')}` : 'list'
    asked.push(pathname === '/api/v1/configmaps' ? kind : `${request.method} ${pathname}`)
    const answer = script.shift()
    if (answer) answer(response, request)
    else goesOn()(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const direct = httpsTransport({ server: `http://127.0.0.1:${port}`, credentials: () => ({ headers: {} }) })
  client = new RestClient({ transport: retryingTransport(direct, systemClock), userAgent: 'test/1' })
  stop = new AbortController()
})
afterEach(async () => {
  stop.abort()
  await running
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function follow(): Informer {
  const informer = new Informer({
    client,
    clock: systemClock,
    resource,
    onChange: (next, old) =>
      changes.push(next ? `+${next.metadata.name}@${next.metadata.resourceVersion}` : `-${old?.metadata.name}`),
  })
  running = informer.run(stop.signal)
  return informer
}
const becomes = (want: string[]): Promise<void> => expect.poll(() => changes, { timeout: 10_000 }).toEqual(want)

describe('asking another server', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'ns' } }

  test('what must not be there yet is looked for, since it knows no If-None-Match', async () => {
    script = [says(200, JSON.stringify(object))]
    expect(await refusal(client.apply(resource, object, { fieldManager: 'm', mustBeAbsent: true }))).toEqual(
      failure({
        message: 'configmaps "a" already exists',
        reason: 'AlreadyExists',
        details: { name: 'a', kind: 'configmaps' },
        code: 409,
      }),
    )
    expect(asked).toEqual(['GET /api/v1/namespaces/ns/configmaps/a'])
  })

  test('an answer that is no JSON is an error', async () => {
    script = [says(200, '<html>')]
    expect(await refusal(client.get(resource, { namespace: 'ns', name: 'a' }))).toEqual(
      failure({ message: 'the server sent something that is not JSON', reason: 'InternalError', code: 500 }),
    )
  })
})

describe('an answer that is not to be read', () => {
  const deletion = (): Promise<unknown> =>
    client.deleteCollection(resource, { namespace: 'ns' }, { isAnswerUnread: true })

  test('is passed over, be it no JSON', async () => {
    script = [ends('<html>', 'x'.repeat(100_000))]
    expect(await deletion()).toEqual({ apiVersion: 'v1', kind: 'List', metadata: {}, items: [] })
    expect(asked).toEqual(['DELETE /api/v1/namespaces/ns/configmaps'])
  })

  test('is an error where it is one', async () => {
    script = [says(410, JSON.stringify(gone('Expired')))]
    expect(await refusal(deletion())).toEqual(
      failure({ message: 'too old resource version: 1 (2)', reason: 'Expired', code: 410 }),
    )
  })

  test('is an error where it breaks off', async () => {
    script = [
      (response) => {
        response.writeHead(200, { 'content-length': 1000 }).write('{')
        setImmediate(() => response.destroy())
      },
    ]
    await expect(deletion()).rejects.toThrow()
  })
})

describe('following a resource of another server', () => {
  test('a busy server is asked again when it says so, in plain text', async () => {
    script = [
      says(429, 'Too many requests, please try again later.\n', { 'content-type': 'text/plain', 'retry-after': '0' }),
      says(200, list('5', [item('a', '3')])),
      says(429, 'Too many requests, please try again later.\n', { 'content-type': 'text/plain', 'retry-after': '0' }),
      goesOn(event('ADDED', item('b', '6'))),
    ]
    follow()
    await becomes(['+a@3', '+b@6'])
    expect(asked).toEqual(['list', 'list', 'watch 5', 'watch 5'])
  })

  test('it goes on from a bookmark, which has nothing but a version', async () => {
    script = [says(200, list('5', [])), ends(bookmark('70'), bookmark('90')), goesOn(event('ADDED', item('a', '91')))]
    follow()
    await becomes(['+a@91'])
    expect(asked).toEqual(['list', 'watch 5', 'watch 90'])
  })

  test.each(['Expired', 'Gone'])(
    '410 %s in the middle of a watch lists again, and what is gone is told',
    async (reason) => {
      script = [
        says(200, list('5', [item('a', '3'), item('b', '4')])),
        ends(event('MODIFIED', item('a', '6')), event('ERROR', gone(reason))),
        says(200, list('9', [item('a', '6')])),
        goesOn(event('DELETED', item('a', '10'))),
      ]
      follow()
      await becomes(['+a@3', '+b@4', '+a@6', '-b', '-a'])
      expect(asked).toEqual(['list', 'watch 5', 'list', 'watch 9'])
    },
  )

  test('410 as the answer to a watch, and to a page whose list has gone', async () => {
    script = [
      says(200, list('5', [item('a', '3')], { continue: 'next' })),
      says(410, JSON.stringify(gone('Expired'))),
      says(200, list('7', [item('a', '3')])),
      says(410, JSON.stringify(gone('Expired'))),
      says(200, list('8', [item('a', '3')])),
      goesOn(event('ADDED', item('b', '9'))),
    ]
    follow()
    await becomes(['+a@3', '+b@9'])
    expect(asked).toEqual(['list', 'list', 'list', 'watch 7', 'list', 'watch 8'])
  })

  test('an event may come in pieces, cut inside a letter', async () => {
    const bytes = Buffer.from(event('ADDED', { metadata: { name: 'ä', namespace: 'ns', resourceVersion: '6' } }))
    const cut = bytes.indexOf(0xc3) + 1
    script = [says(200, list('5', [])), goesOn(bytes.subarray(0, cut), bytes.subarray(cut))]
    follow()
    await becomes(['+ä@6'])
  })

  test('a connection that breaks in an event costs only that event, which comes again', async () => {
    script = [
      says(200, list('5', [])),
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.write(event('ADDED', item('a', '6')))
        response.write('{"type":"ADDED","obj', () => response.destroy())
      },
      goesOn(event('ADDED', item('b', '7'))),
    ]
    follow()
    await becomes(['+a@6', '+b@7'])
    expect(asked).toEqual(['list', 'watch 5', 'watch 6'])
  })
})

describe('refusals of another server', () => {
  const apply = (): Promise<unknown> =>
    client.apply(
      resource,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'ns' } },
      { fieldManager: 'x' },
    )

  test.each([
    {
      name: 'one without server-side apply',
      code: 415,
      reason: 'UnsupportedMediaType',
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json',
    },
    {
      name: 'one that fails',
      code: 500,
      reason: undefined,
      message: 'failed to create typed patch object: .dada: field not declared in schema',
    },
  ])('$name: its words are told', async ({ code, reason, message }) => {
    script = [
      says(code, JSON.stringify({ kind: 'Status', status: 'Failure', message, code, ...(reason ? { reason } : {}) })),
    ]
    await expect(apply()).rejects.toMatchObject({ code, message })
  })

  test('one that ends a watch: its words are told', async () => {
    script = [ends(event('ERROR', gone('Expired')))]
    const watch = client.watch(resource, { resourceVersion: '1', signal: stop.signal })
    const first = watch[Symbol.asyncIterator]().next()
    expect(await refusal(first)).toEqual(gone('Expired'))
  })

  test('a proxy that answers in HTML', async () => {
    script = [says(502, '<html>bad gateway</html>', { 'content-type': 'text/html' })]
    await expect(apply()).rejects.toMatchObject({ code: 502, message: '<html>bad gateway</html>' })
  })
})

test('a list of the metadata of nothing has no items, and says null', async () => {
  const metadata = { resourceVersion: '5' }
  const none = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata }
  script = [says(200, JSON.stringify({ ...none, items: null }))]
  expect(await client.list(resource, { metadataOnly: true })).toEqual({ ...none, items: [] })
})
