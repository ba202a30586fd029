import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ApiBody, ApiRequest, ApiResponse, RequestContext } from '../api.ts'
import { compressAnswers, compressedFromBytes } from './compress-answers.ts'

const long = Buffer.alloc(compressedFromBytes + 1, 'x')

const run = async (body: ApiBody, accept: string | undefined, headers = {}): Promise<ApiResponse> =>
  compressAnswers()(async () => ({ status: 200, headers: { 'content-type': 'application/json', ...headers }, body }))(
    { headers: { 'accept-encoding': accept } } as unknown as ApiRequest,
    {} as RequestContext,
  )

describe('a long answer', () => {
  test.each([
    { name: 'in one piece', body: long },
    { name: 'in several', body: [long.subarray(0, 10), long.subarray(10)] },
  ])('$name is compressed, and says so', async ({ body }) => {
    const answer = await run(body, 'br, gzip')
    expect(answer.headers).toEqual({
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
    })
    expect(gunzipSync(answer.body as Uint8Array)).toEqual(long)
  })
})

test.each([
  { name: 'a short answer', body: long.subarray(1), accept: 'gzip' },
  { name: 'an answer to somebody who does not ask', body: long, accept: undefined },
  { name: 'an answer to somebody who asks with a quality', body: long, accept: 'gzip;q=1' },
  { name: 'a stream', body: { async *[Symbol.asyncIterator]() {}, async [Symbol.asyncDispose]() {} }, accept: 'gzip' },
])('$name is left as it is', async ({ body, accept }) => {
  const answer = await run(body, accept)
  expect(answer.body).toBe(body)
  expect(answer.headers).toEqual({ 'content-type': 'application/json' })
})

test('an answer for which there is no memory left is sent as it is, unless it is compressed already', async () => {
  const stage = compressAnswers()(() => ({ status: 200, headers: {}, body: long }))
  const ask = async (left: boolean): Promise<unknown> => {
    const request = { headers: { 'accept-encoding': 'gzip' }, account: { tryCharge: () => left } }
    return (await stage(request as unknown as ApiRequest, {} as RequestContext)).headers['content-encoding']
  }
  expect([await ask(false), await ask(true), await ask(false)]).toEqual([undefined, 'gzip', 'gzip'])
})

test('what is kept is compressed once', async () => {
  const stage = compressAnswers()
  const answer = async (): Promise<ApiResponse> =>
    stage(async () => ({ status: 200, headers: {}, body: long }))(
      { headers: { 'accept-encoding': 'gzip' } } as unknown as ApiRequest,
      {} as RequestContext,
    )
  expect((await answer()).body).toBe((await answer()).body)
})
