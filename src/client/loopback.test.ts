import { expect, test } from 'vitest'
import { type LocalServe, loopbackTransport } from './loopback.ts'

const user = { username: 'system:serviceaccount:kube-system:c', groups: [] }

/** Answers what it is sent; whether the loop has turned in between. */
async function echoed(text: string): Promise<{ readonly same: boolean; readonly turned: readonly boolean[] }> {
  const turned: boolean[] = []
  const across = async <T>(work: () => Promise<T> | T): Promise<T> => {
    let hasTurned = false
    setImmediate(() => {
      hasTurned = true
    })
    const result = await work()
    turned.push(hasTurned)
    return result
  }
  const serve: LocalServe = async ({ body }) => {
    const bytes = await across(() => body(1e9))
    return { status: 200, headers: {}, body: [bytes.subarray(0, 10), bytes.subarray(10)] }
  }
  const transport = loopbackTransport(serve, user)
  const sent = { method: 'POST', path: '/', query: new URLSearchParams(), headers: {}, value: text }
  const { body } = await across(() => transport.send(sent))
  return { same: body instanceof Uint8Array && Buffer.from(body).toString() === JSON.stringify(text), turned }
}

test('a header of several values is told whole', async () => {
  const headers = { warning: ['a', 'b'], etag: 'c' }
  const transport = loopbackTransport(async () => ({ status: 200, headers, body: new Uint8Array() }), user)
  const { header } = await transport.send({ method: 'GET', path: '/', query: new URLSearchParams(), headers: {} })
  expect(['warning', 'etag', 'age'].map(header)).toEqual(['a, b', 'c', undefined])
})

test('what is small is sent and answered at once', async () => {
  expect(await echoed('x'.repeat(1000))).toEqual({ same: true, turned: [false, false] })
})

test('what is large is written, and its answer read, in turns of the loop of their own', async () => {
  expect(await echoed('x'.repeat(100_000))).toEqual({ same: true, turned: [true, true] })
})

test('what a large answer says is read in slices, and comes as a value', async () => {
  const value = { data: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'v'])) }
  const body = new TextEncoder().encode(JSON.stringify(value))
  const answer = async (status: number): Promise<unknown> => {
    const transport = loopbackTransport(async () => ({ status, headers: {}, body }), user)
    return (await transport.send({ method: 'GET', path: '/', query: new URLSearchParams(), headers: {} })).shared
  }
  expect([await answer(200), await answer(409)]).toEqual([{ object: value }, undefined])
})
