import { gunzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import type { AnswerStream, ApiBody, ApiRequest, ApiResponse, RequestContext } from '../api.ts'
import { compressAnswers, compressedFromBytes } from './compress-answers.ts'

const long = Buffer.alloc(compressedFromBytes + 1, 'x')

const staying = new AbortController().signal

const run = async (
  body: ApiBody,
  accept: string | undefined,
  headers = {},
  { stage = compressAnswers(), signal = staying } = {},
): Promise<ApiResponse> =>
  stage(async () => ({ status: 200, headers: { 'content-type': 'application/json', ...headers }, body }))(
    { headers: { 'accept-encoding': accept }, signal } as unknown as ApiRequest,
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

describe('clients that leave while their answer is compressed', () => {
  /** Large pieces, and how many of them have been asked for. */
  function counted(count: number) {
    const pieces = Array.from({ length: count }, () => Buffer.alloc(256 * 1024, 'x'))
    const taken = { count: 0, isOver: false }
    const each = function* (): Generator<Buffer> {
      try {
        for (let i = 0; i < count; i++) {
          taken.count++
          yield pieces[i] as Buffer
        }
      } finally {
        taken.isOver = true
      }
    }
    return { pieces: Object.defineProperty(pieces, Symbol.iterator, { value: each }), taken }
  }

  test('end it, and are answered as it is', async () => {
    const { pieces, taken } = counted(1000)
    const client = new AbortController()
    const answer = run(pieces, 'gzip', {}, { signal: client.signal })
    await vi.waitUntil(() => taken.count > 0)
    client.abort()
    expect((await answer).headers).toEqual({ 'content-type': 'application/json' })
    await vi.waitUntil(() => taken.isOver)
    expect(taken.count).toBeLessThan(500)
  })

  test('do not end it for others who wait for the same bytes', async () => {
    const stage = compressAnswers()
    const body = Buffer.alloc(16 * 1024 * 1024, 'x')
    const [leaving, other] = [new AbortController(), new AbortController()]
    const answers = [leaving, other].map(({ signal }) => run(body, 'gzip', {}, { stage, signal }))
    leaving.abort()
    const [left, kept] = await Promise.all(answers)
    expect(left?.body).toBe(body)
    expect(gunzipSync(kept?.body as Uint8Array).equals(body)).toBe(true)
    // And what was given up is begun again for the next.
    const next = new AbortController()
    const another = Buffer.alloc(body.length, 'y')
    const given = run(another, 'gzip', {}, { stage, signal: next.signal })
    next.abort()
    expect((await given).body).toBe(another)
    expect(gunzipSync((await run(another, 'gzip', {}, { stage })).body as Uint8Array).equals(another)).toBe(true)
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
    const request = { headers: { 'accept-encoding': 'gzip' }, account: { tryCharge: () => left }, signal: staying }
    return (await stage(request as unknown as ApiRequest, {} as RequestContext)).headers['content-encoding']
  }
  expect([await ask(false), await ask(true), await ask(false)]).toEqual([undefined, 'gzip', 'gzip'])
})

test('what is kept is compressed once', async () => {
  const stage = compressAnswers()
  const answer = async (): Promise<ApiResponse> =>
    stage(async () => ({ status: 200, headers: {}, body: long }))(
      { headers: { 'accept-encoding': 'gzip' }, signal: staying } as unknown as ApiRequest,
      {} as RequestContext,
    )
  expect((await answer()).body).toBe((await answer()).body)
})

test('an answer that is encoded already is sent as it is', async () => {
  const answer = await run(long, 'gzip', { 'content-encoding': 'br' })
  expect([answer.body, answer.headers['content-encoding']]).toEqual([long, 'br'])
})

test.each<{ what: string; body: ApiBody; bytes: number }>([
  { what: 'half of one piece', body: long, bytes: long.length / 2 },
  { what: 'pieces joined, and half of them', body: [long, long], bytes: long.length * 3 },
])('memory is asked for: $what', async ({ body, bytes }) => {
  const asked: number[] = []
  const account = { tryCharge: (more: number) => asked.push(more) === 0 }
  const request = { headers: { 'accept-encoding': 'gzip' }, account, signal: staying }
  const stage = compressAnswers()(() => ({ status: 200, headers: {}, body }))
  expect((await stage(request as unknown as ApiRequest, {} as RequestContext)).body).toBe(body)
  expect(asked).toEqual([bytes])
})
