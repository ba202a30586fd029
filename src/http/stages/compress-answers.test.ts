import { gunzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import type { AnswerStream, ApiBody, ApiRequest, ApiResponse, RequestContext } from '../api.ts'
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

describe('an answer that is made while it is sent', () => {
  const piecemeal = (pieces: readonly Uint8Array[], left = (): void => {}): AnswerStream => {
    async function* made(): AsyncGenerator<Uint8Array> {
      try {
        yield* pieces
      } finally {
        left()
      }
    }
    const chunks = made()
    return { isAnswer: true, [Symbol.asyncIterator]: () => chunks, [Symbol.asyncDispose]: async () => left() }
  }
  const bytesOf = async (body: ApiBody): Promise<Buffer> => {
    const chunks: Uint8Array[] = []
    for await (const chunk of body as AnswerStream) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  test('is compressed on its way', async () => {
    const pieces = Array.from({ length: 100 }, (_, i) => Buffer.alloc(compressedFromBytes / 10, `${i} `))
    const answer = await run(piecemeal(pieces), 'gzip')
    expect(answer.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(await bytesOf(answer.body))).toEqual(Buffer.concat(pieces))
  })

  test('is sent as it is where it turns out to be short', async () => {
    const answer = await run(piecemeal([Buffer.from('a'), Buffer.from('b')]), 'gzip')
    expect(answer).toEqual({ status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from('ab') })
  })

  test('is left as it is for a reader that does not ask', async () => {
    const body = piecemeal([long])
    expect((await run(body, undefined)).body).toBe(body)
  })

  test.each([
    { when: 'at its beginning', before: 0 },
    { when: 'later', before: 3 },
  ])('that breaks $when does not look complete', async ({ before }) => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      for (let i = 0; i < before; i++) yield long
      throw new Error('the disk is gone')
    }
    const chunks = broken()
    const body = {
      isAnswer: true,
      [Symbol.asyncIterator]: () => chunks,
      [Symbol.asyncDispose]: async () => {},
    } as const
    await expect(run(body, 'gzip').then((answer) => bytesOf(answer.body))).rejects.toThrow('the disk is gone')
  })

  test('is not made any further when its reader goes away', async () => {
    const left = vi.fn<() => void>()
    const answer = await run(piecemeal([long, long], left), 'gzip')
    await (answer.body as AnswerStream)[Symbol.asyncDispose]()
    expect(left).toHaveBeenCalled()
  })
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
