/** What a webhook may send back, and what is told of answers that are none. */
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWebhookServer, type WebhookServer, webhookCertificates } from '../../test/support/webhook-server.ts'
import { systemClock } from '../base/clock.ts'
import { WebhookCallError } from './webhook-answer.ts'
import { WebhookClient } from './webhook-client.ts'

const secret = 'a secret of another server'

let server: WebhookServer
let client: WebhookClient
beforeAll(async () => {
  server = await startWebhookServer()
  client = new WebhookClient({
    clock: systemClock,
    userAgent: 'test',
    resolve: () => {
      throw new Error('no service')
    },
  })
})
afterAll(async () => {
  client[Symbol.dispose]()
  await server[Symbol.asyncDispose]()
})

async function toldOf(body: string, status = 200): Promise<string> {
  server.answer = () => ({ raw: { status, body } })
  const { url, caBundle } = server
  const request = JSON.stringify({ request: { uid: 'u' } })
  const call = client.post({ address: { url, caBundle }, body: request, timeoutMs: 20_000 })
  const error = await call.catch((cause: unknown) => cause)
  if (!(error instanceof WebhookCallError)) throw new Error('the answer was taken')
  return error.message
}

const typeMeta =
  String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; ` +
  String.raw`Kind string "json:\"kind,omitempty\"" }`

test.each([
  { name: 'a page', body: `<html>${secret}`, why: "invalid character '<' looking for beginning of value" },
  { name: 'half an object', body: `{"${secret}`, why: 'invalid JSON' },
  { name: 'nothing', body: ' \n', why: 'unexpected end of JSON input' },
  { name: 'a list', body: `["${secret}"]`, why: `json: cannot unmarshal array into Go value of type ${typeMeta}` },
  { name: 'a text', body: `"${secret}"`, why: `json: cannot unmarshal string into Go value of type ${typeMeta}` },
  { name: 'a number', body: '12345', why: `json: cannot unmarshal number into Go value of type ${typeMeta}` },
  { name: 'true', body: 'true', why: `json: cannot unmarshal bool into Go value of type ${typeMeta}` },
  { name: 'null', body: 'null', why: `json: cannot unmarshal null into Go value of type ${typeMeta}` },
])('$name is no review, and what it says is not repeated', async ({ body, why }) => {
  expect(await toldOf(body)).toBe(`couldn't get version/kind; json parse error: ${why}`)
})

test('a redirection is not followed', async () => {
  const asked = server.received.length
  expect(await toldOf(secret, 302)).toBe(
    'the server responded with the status code 302 but did not return more information',
  )
  expect(server.received.length - asked).toBe(1)
})

test('an answer beyond 16 MiB is not read to its end', async () => {
  expect(await toldOf(`"${'x'.repeat(16 * 1024 * 1024)}"`)).toBe(
    `Post "${server.url}/?timeout=20s": the answer is longer than 16777216 bytes`,
  )
})

test('a webhook that closed all of its idle connections is asked on a new one', async () => {
  const { key, cert, ca } = webhookCertificates(['127.0.0.1'])
  const together = 3
  const known = new Set<Socket>()
  const held: (() => void)[] = []
  const hung = createServer({ key, cert }, ({ socket }, response) => {
    if (known.has(socket)) {
      socket.destroy()
      return
    }
    known.add(socket)
    held.push(() => response.end('{}'))
    // Each has a connection of its own, for none is answered before all are there.
    if (known.size >= together) for (const end of held.splice(0)) end()
  })
  hung.listen(0, '127.0.0.1')
  await once(hung, 'listening')
  try {
    const url = `https://127.0.0.1:${(hung.address() as AddressInfo).port}`
    const ask = (): Promise<unknown> =>
      client.post({ address: { url, caBundle: Buffer.from(ca).toString('base64') }, body: '{}', timeoutMs: 20_000 })
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([{}, {}, {}])
    expect(await ask()).toEqual({})
    expect(known.size).toBe(together + 1)
  } finally {
    hung.closeAllConnections()
    hung.close()
  }
})
