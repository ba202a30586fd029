/** What another server may answer, and what is made of it. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { webhookCertificates } from '../../test/support/webhook-server.ts'
import { getJson } from './get-json.ts'

const { key, cert, ca } = webhookCertificates(['127.0.0.1'])
let server: Server
let url: string
let answer: { readonly status: number; readonly body: string; readonly rest?: string }
let accepted: string | undefined
beforeAll(async () => {
  server = createServer({ key, cert }, (request, response) => {
    accepted = request.headers.accept
    response.statusCode = answer.status
    response.write(answer.body)
    response.end(answer.rest)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const get = (given: typeof answer): Promise<unknown> => {
  answer = given
  return getJson(url, { ca, timeoutMs: 5000, maxBytes: 16 })
}

test('a document of just as many bytes as it may have is read', async () => {
  expect(await get({ status: 200, body: '{"keys":[1,2,3]}' })).toEqual({ keys: [1, 2, 3] })
  expect(accepted).toBe('application/json')
})

test.each([
  { what: 'a longer one', status: 200, body: '{"keys":[1,2,34]}', why: 'its answer is longer than 16 bytes' },
  { what: 'an answer of another status', status: 404, body: '{}', why: 'it answered 404' },
  { what: 'one that says to look elsewhere', status: 302, body: '{}', why: 'it answered 302' },
  { what: 'one that is no JSON', status: 200, body: '<html>', why: 'its answer is not JSON' },
])('$what is refused with the address and the reason', async ({ status, body, why }) => {
  await expect(get({ status, body })).rejects.toThrow(`${url}: ${why}`)
})

test('one of which the first part alone would be a document is not taken for that', async () => {
  const why = `${url}: its answer is longer than 16 bytes`
  await expect(get({ status: 200, body: '{"keys":[1]}', rest: ' '.repeat(5) })).rejects.toThrow(why)
})

test('a server whose certificate nobody vouches for is not believed', async () => {
  answer = { status: 200, body: '{}' }
  await expect(getJson(url, { timeoutMs: 5000, maxBytes: 16 })).rejects.toThrow(`${url}: `)
})
