/** What is seen of bodies changes nothing of them. */
import { describe, expect, test } from 'vitest'
import { maxRecordedBytes } from '../../audit/recorded-body.ts'
import type { Stream } from '../../base/stream.ts'
import type { ApiRequest } from '../api.ts'
import { FollowedStream, KeptBytes, ObservedRequest } from './observed-bodies.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('an observed request is the request, and its body is told', async () => {
  const seen: Uint8Array[] = []
  const inner: ApiRequest = {
    ...{ method: 'PATCH', path: '/api', query: 'a=b', headers: { a: 'b' }, remoteAddress: '::1' },
    ...{ clientCertificate: bytes('x'), localUser: { username: 'root', groups: [] } },
    headerValues: (name: string) => [`values of ${name}`],
    body: async (limit: number) => bytes(`at most ${limit}`),
    signal: new AbortController().signal,
    account: { give() {} },
  } as unknown as ApiRequest
  const observed = new ObservedRequest(inner, (body) => void seen.push(body))
  for (const key of ['method', 'path', 'query', 'headers', 'remoteAddress', 'clientCertificate'] as const) {
    expect(observed[key]).toBe(inner[key])
  }
  expect([observed.localUser, observed.signal, observed.account]).toEqual([
    ...[inner.localUser, inner.signal, inner.account],
  ])
  expect(observed.headerValues('a')).toEqual(['values of a'])
  const body = await observed.body(7)
  expect([body, seen]).toEqual([bytes('at most 7'), [body]])
  const { clientCertificate: _c, localUser: _l, ...rest } = inner
  const bare = new ObservedRequest(rest as ApiRequest, () => {})
  expect('clientCertificate' in bare && bare.clientCertificate).toBeFalsy()
})

test('of an answer no more is kept than shows that it is too long', () => {
  const kept = new KeptBytes()
  const most = new Uint8Array(maxRecordedBytes)
  kept.add(most)
  kept.add(bytes('a'))
  kept.add(bytes('b'))
  expect(kept.body.map(({ length }) => length)).toEqual([maxRecordedBytes, 1])
})

describe('the end of a stream is told once', () => {
  const streamOf = (...chunks: string[]) => {
    const told: string[] = []
    const inner: Stream<Uint8Array> = {
      async *[Symbol.asyncIterator]() {
        for (const chunk of chunks) yield bytes(chunk)
      },
      [Symbol.asyncDispose]: async () => void told.push('disposed'),
    }
    const followed = new FollowedStream(
      inner,
      () => told.push('ended'),
      (chunk) => told.push(new TextDecoder().decode(chunk)),
    )
    return { followed, told }
  }

  test.each<[string, boolean, string[]]>([
    ['after all of it', false, ['a', 'b', 'ended', 'disposed']],
    ['where the reader leaves', true, ['a', 'ended', 'disposed']],
  ])('%s', async (_, leaves, expected) => {
    const { followed, told } = streamOf('a', 'b')
    for await (const _chunk of followed) if (leaves) break
    await followed[Symbol.asyncDispose]()
    expect(told).toEqual(expected)
  })

  test('where it is never read', async () => {
    const { followed, told } = streamOf('a')
    await followed[Symbol.asyncDispose]()
    await followed[Symbol.asyncDispose]()
    expect(told).toEqual(['disposed', 'ended', 'disposed'])
  })
})
