/**
 * A conversion webhook that answers at length, and a list of many objects that are to be converted: both are worked on
 * in turns. Time is made by hand, every look at it costs half a slice: what is counted is turns.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { sliceMs } from '../../src/base/turns.ts'
import { startControlPlane, type TestControlPlane } from '../../src/testing/index.ts'
import { definition, install } from '../support/definitions.ts'
import { failure } from '../support/refusal.ts'
import { TurnCounter } from '../support/turn-counter.ts'
import { type ConversionServer, startConversionServer } from '../support/webhook-server.ts'
import { type AnswerBody, Wire } from '../support/wire.ts'

let plane: TestControlPlane
let wire: Wire
let server: ConversionServer
const path = (version: string): string => `/apis/ex.io/${version}/namespaces/team-a/routes`
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const mapOf = (count: number): Record<string, string> =>
  Object.fromEntries(many(count, (i) => [`key${i}`, 'v'] as const))

beforeAll(async () => {
  let elapsedMs = 0
  const clock = {
    ...systemClock,
    monotonic: () => {
      elapsedMs += sliceMs / 2
      return elapsedMs
    },
  }
  server = await startConversionServer((object, desired) => ({ ...object, apiVersion: desired }))
  plane = await startControlPlane({ population: false, clock })
  wire = new Wire(plane)
  await wire.must('POST', '/api/v1/namespaces', { metadata: { name: 'team-a' } })
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const versions = ['v1', 'v2'].map((name) => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: { openAPIV3Schema },
  }))
  const webhook = {
    conversionReviewVersions: ['v1'],
    clientConfig: { url: `${server.url}/convert`, caBundle: server.caBundle },
  }
  const spec = { conversion: { strategy: 'Webhook', webhook } }
  await install(plane, definition({ plural: 'routes', kind: 'Route', versions, spec }))
})
afterAll(async () => {
  await plane[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

beforeEach(async () => {
  server.convert = (object, desired) => ({ ...object, apiVersion: desired })
  await wire.must('DELETE', path('v1'))
  server.received.length = 0
})

const create = (name: string, content: object = {}): Promise<AnswerBody> =>
  wire.must('POST', path('v1'), { apiVersion: 'ex.io/v1', kind: 'Route', metadata: { name }, ...content })

async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  const counter = new TurnCounter()
  await work()
  counter.stop()
  return counter.turns
}

describe('attack: a conversion webhook', () => {
  it('that makes a small object large holds nobody up', async () => {
    for (const name of ['a', 'b']) await create(name)
    const usual = await turnsOf(() => wire.must('GET', `${path('v2')}/a`))
    server.convert = (object, desired) => ({ ...object, apiVersion: desired, data: mapOf(14_000) })
    // Slices are of milliseconds: a fast machine needs fewer of them. In one piece it is no turn more.
    expect(await turnsOf(() => wire.must('GET', `${path('v2')}/b`))).toBeGreaterThanOrEqual(usual + 10)
  })

  it('that answers with a hundred thousand values is not understood', async () => {
    await create('a')
    server.convert = (object, desired) => ({ ...object, apiVersion: desired, data: mapOf(100_001) })
    const { body } = await wire.call('GET', `${path('v2')}/a`)
    const message = 'conversion webhook for ex.io/v1, Kind=Route failed: the answer has more than 100000 values'
    expect(body).toEqual(failure({ message, code: 500 }))
  })
})

describe('many objects that a webhook converts', () => {
  it('are read and asked about in parts, and in turns', async () => {
    for (let i = 0; i < 12; i++) await create(`a-${i}`, { text: 'x'.repeat(300_000) })
    const turns = await turnsOf(() => wire.must('GET', path('v2')))
    expect(server.received.map(({ request }) => request.objects.length)).toEqual([3, 3, 3, 3])
    const again = await turnsOf(() => wire.must('GET', path('v2')))
    expect(server.received).toHaveLength(4)
    expect(turns).toBeGreaterThanOrEqual(again + 12)
  })

  it('with many values are asked about by fewer at once', async () => {
    for (let i = 0; i < 7; i++) await create(`a-${i}`, { data: mapOf(5000) })
    const { items } = (await wire.must('GET', path('v2'))) as { items?: unknown[] }
    expect(items).toHaveLength(7)
    expect(server.received.map(({ request }) => request.objects.length)).toEqual([4, 3])
  })
})
