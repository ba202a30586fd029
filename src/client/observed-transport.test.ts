import { expect, test } from 'vitest'
import { FakeClock } from '../base/fake-clock.ts'
import { observedTransport } from './observed-transport.ts'
import { retryingTransport } from './retrying-transport.ts'
import type { TransportResponse } from './transport.ts'

const answer = (status: number, retryAfter?: string): TransportResponse => ({
  status,
  header: (name) => (name === 'retry-after' ? retryAfter : undefined),
  body: new Uint8Array(),
})
const get = { method: 'GET', path: '/version', query: new URLSearchParams(), headers: {} }

test('it tells of each answer, of those that are tried again too', async () => {
  const told: unknown[] = []
  const answers = [answer(429, '1'), answer(200)]
  const send = () => Promise.resolve(answers.shift() as TransportResponse)
  const clock = new FakeClock()
  const asking = retryingTransport(
    observedTransport({ send }, (...said) => told.push(said)),
    clock,
  ).send(get)
  await clock.advance(1000)
  expect((await asking).status).toBe(200)
  expect(told).toEqual([
    ['GET', 429],
    ['GET', 200],
  ])
})

test('of a server that does not answer it tells that, and the failure stays what it was', async () => {
  const told: unknown[] = []
  const gone = new Error('connection refused')
  const transport = observedTransport({ send: () => Promise.reject(gone) }, (...said) => told.push(said))
  await expect(transport.send(get)).rejects.toBe(gone)
  expect(told).toEqual([['GET', undefined]])
})
