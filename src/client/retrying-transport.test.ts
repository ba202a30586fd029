import { expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { retryingTransport } from './retrying-transport.ts'
import type { TransportResponse } from './transport.ts'

const answer = (status: number, retryAfter?: string): TransportResponse => ({
  status,
  header: (name) => (name === 'retry-after' ? retryAfter : undefined),
  body: new Uint8Array(),
})
const get = { method: 'GET', path: '/version', query: new URLSearchParams(), headers: {} }

function world(answers: TransportResponse[]) {
  const clock = new FakeClock()
  let sent = 0
  const transport = retryingTransport(
    { send: () => Promise.resolve(answers[Math.min(sent++, answers.length - 1)] as TransportResponse) },
    clock,
  )
  return { clock, transport, sent: () => sent }
}

test.each([
  { name: 'too many requests', given: answer(429, '1') },
  { name: 'a server that is going down', given: answer(503, '1') },
  { name: 'an etcd that is busy', given: answer(500, '1') },
])('$name: it comes back when it is told to', async ({ given }) => {
  const { clock, transport, sent } = world([given, answer(200)])
  const asking = transport.send(get)
  await clock.advance(999)
  expect(sent()).toBe(1)
  await clock.advance(1)
  expect((await asking).status).toBe(200)
})

test.each([
  { name: 'without a word on when', given: answer(429) },
  { name: 'a date, which no API server sends', given: answer(503, 'Wed, 21 Oct 2015 07:28:00 GMT') },
  { name: 'longer than anybody waits', given: answer(503, '3600') },
  { name: 'another refusal', given: answer(409, '1') },
])('is the answer: $name', async ({ given }) => {
  const { transport, sent } = world([given])
  expect(await transport.send(get)).toBe(given)
  expect(sent()).toBe(1)
})

test('eleven times and no more', async () => {
  const { clock, transport, sent } = world([answer(429, '1')])
  const asking = transport.send(get)
  await clock.advance(60_000)
  expect((await asking).status).toBe(429)
  expect(sent()).toBe(11)
})

test('who gives up waits no longer', async () => {
  const { transport } = world([answer(429, '30')])
  const signal = AbortSignal.abort(new Error('enough'))
  await expect(transport.send({ ...get, signal })).rejects.toThrow('enough')
})
