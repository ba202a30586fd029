/**
 * A webhook that answers at length: what it sends is worked on in turns, as bodies of clients are, and few large
 * answers are in memory at once. Time is made by hand, every look at it costs half a slice: what is counted is turns.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { sliceMs } from '../../src/base/turns.ts'
import { LargeAnswers } from '../../src/client/large-answers.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { adminUser } from '../../src/kube/user.ts'
import { failure } from '../support/refusal.ts'
import { TurnCounter } from '../support/turn-counter.ts'
import { patchReply, startWebhookServer, type WebhookServer } from '../support/webhook-server.ts'
import { type BesiegedServer, bearer, doraToken, type RawAnswer, startBesieged } from './besieged-server.ts'

let world: BesiegedServer
let server: WebhookServer

beforeAll(async () => {
  let elapsedMs = 0
  const clock = {
    ...systemClock,
    monotonic: () => {
      elapsedMs += sliceMs / 2
      return elapsedMs
    },
  }
  server = await startWebhookServer()
  world = await startBesieged({ clock })
  const resource = 'mutatingwebhookconfigurations'
  const configuration = {
    metadata: { name: 'long' },
    webhooks: [
      {
        name: 'long.ex.io',
        clientConfig: { url: `${server.url}/long`, caBundle: server.caBundle },
        rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['*'], resources: ['configmaps'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  }
  const configurations = { group: 'admissionregistration.k8s.io', version: 'v1', resource }
  await world.server.plane.client().create(configurations, configuration)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})
beforeEach(() => {
  server.answer = () => ({ allowed: true })
})

const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const path = '/api/v1/namespaces/mine/configmaps'
let created = 0
const body = (): string => JSON.stringify({ metadata: { name: `m-${++created}` } })
const headers = { 'content-type': 'application/json', ...bearer(doraToken) }
const create = (): Promise<RawAnswer> => world.send(path, { method: 'POST', headers, body: body() })
const failed = (problem: string) =>
  failure({
    message: `Internal error occurred: failed calling webhook "long.ex.io": ${problem}`,
    reason: 'InternalError',
    details: { causes: [{ message: `failed calling webhook "long.ex.io": ${problem}` }] },
    code: 500,
  })

async function turnsOf(
  work: () => Promise<RawAnswer>,
): Promise<{ readonly turns: number; readonly answer: RawAnswer }> {
  const counter = new TurnCounter()
  const answer = await work()
  counter.stop()
  return { turns: counter.turns, answer }
}

describe('attack: a webhook', () => {
  test('that makes a small object large holds nobody up: all that follows is done in turns', async () => {
    const { turns: usual } = await turnsOf(create)
    const data = Object.fromEntries(many(14_000, (i) => [`key${i}`, 'v']))
    server.answer = () => patchReply({ op: 'add', path: '/data', value: data })
    const { turns, answer } = await turnsOf(create)
    expect([answer.code, Object.keys((JSON.parse(answer.text) as { data: object }).data).length]).toEqual([201, 14_000])
    expect(turns).toBeGreaterThanOrEqual(usual + 25)
  })

  test('that patches by thousands of operations holds nobody up', async () => {
    const { turns: usual } = await turnsOf(create)
    const value = Object.fromEntries(many(5000, (i) => [`key${i}`, 'v']))
    const copies = many(9000, (i) => ({ op: 'test', path: `/data/key${i % 5000}`, value: 'v' }))
    server.answer = () => patchReply({ op: 'add', path: '/data', value }, ...copies)
    const { turns, answer } = await turnsOf(create)
    expect(answer.code).toBe(201)
    expect(turns).toBeGreaterThanOrEqual(usual + 25)
  })

  test('that answers with a hundred thousand values is not understood', async () => {
    server.answer = () => ({ allowed: true, warnings: many(100_001, (i) => `${i}`) })
    expect(JSON.parse((await create()).text)).toEqual(
      failed('failed to call webhook: the answer has more than 100000 values'),
    )
    server.answer = () => patchReply(...many(25_001, (i) => ({ op: 'add', path: '/data', value: [i] })))
    expect(JSON.parse((await create()).text)).toEqual(
      failed('received undecodable patch in webhook response: it has more than 100000 values'),
    )
  })

  test('that warns thousands of times has the first of its warnings shown', async () => {
    server.answer = () => ({ allowed: true, warnings: [...many(50_000, (i) => `w${i}`), 'x'.repeat(1_000_000)] })
    const sent = new Request(`https://borough.test${path}`, { method: 'POST', headers, body: body() })
    const answer = await fetchAdapter(world.server.plane.serve, adminUser)(sent)
    await answer.text()
    const warnings = answer.headers.get('warning') ?? ''
    expect([answer.status, warnings.slice(0, 10)]).toEqual([201, '299 - "w0"'])
    expect(warnings.length).toBeLessThan(20_000)
  })
})

describe('large answers', () => {
  test('are read three at a time of an address, eight in all; others wait for a place, or their end', async () => {
    const places = new LargeAnswers()
    const { signal } = new AbortController()
    const order: string[] = []
    const take = async (address: string): Promise<() => void> => {
      const release = await places.take(address, signal)
      order.push(address)
      return release
    }
    const first = await Promise.all(['a', 'a', 'a'].map(take))
    const waiting = take('a')
    const others = await Promise.all(['b', 'b', 'b', 'c', 'c'].map(take))
    const late = take('d')
    await Promise.resolve()
    expect(order).toEqual(['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c'])
    others[0]?.()
    const lates = await late
    first[0]?.()
    const again = await waiting
    expect(order.slice(8)).toEqual(['d', 'a'])

    const leaving = new AbortController()
    const left = places.take('e', leaving.signal)
    leaving.abort()
    await expect(left).rejects.toThrow('aborted')
    for (const release of [...first.slice(1), ...others.slice(1), lates, again]) release()
    await Promise.all(['e', 'e', 'e', 'f', 'f', 'f', 'g', 'g'].map(take))
  })
})
