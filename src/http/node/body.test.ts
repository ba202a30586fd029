/** A body that comes before it is asked for: what is wrong with it is known when it is asked for, or never. */
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { failure, statusOf } from '../../../test/support/refusal.ts'
import { Body } from './body.ts'
import type { Exchange } from './exchange.ts'

function early(): { readonly body: Body; readonly source: PassThrough } {
  const source = new PassThrough()
  const exchange = {
    receives() {},
    received() {},
    receivedAll() {},
    account: { charge() {} },
    connection: { breakOff() {} },
  } as unknown as Exchange
  const body = new Body({ source, exchange, declared: undefined, isWhole: () => false })
  body.comeIn()
  return { body, source }
}

const come = async (source: PassThrough, text: string): Promise<void> => {
  source.write(text)
  await new Promise(setImmediate)
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
    await come(source, 'sixteen letters!')
    expect(await refusalOf(body, 5)).toEqual(tooLarge)
    expect(source.isPaused()).toBe(true)
  })

  test('is refused when it is whole where the rest came after it was asked for', async () => {
    const { body, source } = early()
    await come(source, 'four')
    const refused = refusalOf(body, 5)
    source.end('more')
    expect(await refused).toEqual(tooLarge)
  })

  test('is read where all of it is within the limit', async () => {
    const { body, source } = early()
    await come(source, 'four')
    source.end()
    expect(Buffer.from(await body.read(5)).toString()).toBe('four')
  })

  test('is not read any more once its request is answered', async () => {
    const { body, source } = early()
    await come(source, 'four')
    body.forgo()
    expect(source.isPaused()).toBe(true)
    const answered = failure({ message: 'the request is answered', reason: 'BadRequest', code: 400 })
    expect(await refusalOf(body, 5)).toEqual(answered)
  })
})
