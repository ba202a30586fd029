/** A body that comes before it is asked for: what is wrong with it is known when it is asked for, or never. */
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { failure, statusOf } from '../../../test/support/refusal.ts'
import { Body } from './body.ts'
import type { Exchange } from './exchange.ts'
import { IncomingBody } from './incoming-body.ts'

function early(): { readonly body: Body; readonly source: Readable } {
  const source = new Readable({ read() {} })
  const exchange = {
    receives() {},
    received() {},
    receivedAll() {},
    account: { charge() {} },
  } as unknown as Exchange
  const incoming = new IncomingBody(source, { received() {}, breakOff() {} })
  const body = new Body({ incoming, exchange, declared: undefined })
  body.comeIn()
  return { body, source }
}

const refusalOf = (body: Body, limitBytes: number): Promise<unknown> =>
  Promise.resolve(body.read(limitBytes)).then(
    () => 'it is read',
    (error: unknown) => statusOf(error),
  )
const tooLarge = failure({
  message: 'Request entity too large: limit is 5',
  reason: 'RequestEntityTooLarge',
  code: 413,
})

describe('a body that has begun to come', () => {
  test('is refused at once where more has come than its request may have', async () => {
    const { body, source } = early()
    source.push(Buffer.from('sixteen letters!'))
    expect(await refusalOf(body, 5)).toEqual(tooLarge)
    expect(source.isPaused()).toBe(true)
  })

  test('is refused when it is whole where the rest came after it was asked for', async () => {
    const { body, source } = early()
    source.push(Buffer.from('four'))
    const refused = refusalOf(body, 5)
    source.push(Buffer.from('more'))
    source.push(null)
    expect(await refused).toEqual(tooLarge)
  })

  test('is read where all of it is within the limit', async () => {
    const { body, source } = early()
    source.push(Buffer.from('four'))
    source.push(null)
    expect(Buffer.from(await body.read(5)).toString()).toBe('four')
  })

  test('is not read any more once its request is answered', async () => {
    const { body, source } = early()
    source.push(Buffer.from('four'))
    body.forgo()
    expect(source.isPaused()).toBe(true)
    const answered = failure({ message: 'the request is answered', reason: 'BadRequest', code: 400 })
    expect(await refusalOf(body, 5)).toEqual(answered)
  })
})
