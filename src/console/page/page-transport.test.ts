import { expect, test } from 'vitest'
import type { LiveClient } from './live-client.ts'
import { pageTransport } from './page-transport.ts'
import type { Session } from './session.ts'
import { isUnreached } from './unreached.ts'

const request = { method: 'PUT', path: '/api/v1/namespaces/a', query: new URLSearchParams(), headers: {} }

/** A page whose console answers with that body. */
const pageOf = (body: ReadableStream<Uint8Array>) => {
  const session = { fetch: async () => new Response(body) } as unknown as Session
  return pageTransport(session, {} as LiveClient)
}

test('an answer that breaks off is a lost one: a write may have been done', async () => {
  const transport = pageOf(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"kind":'))
        controller.error(new TypeError('network error'))
      },
    }),
  )
  const error: unknown = await transport.send(request).catch((thrown: unknown) => thrown)
  expect(isUnreached(error)).toBe(true)
  expect(String(error)).toContain('the answer broke off: network error')
  expect(transport.trouble.value).toBe('the answer broke off: network error')
})

test('an answer that the page itself ends is not a lost one', async () => {
  const ended = new DOMException('left', 'AbortError')
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(ended) })
  await expect(pageOf(body).send(request)).rejects.toBe(ended)
})
