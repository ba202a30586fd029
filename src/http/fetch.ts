/** The pipeline in the shape of `fetch`, for tests: Web Request in, Web Response out. */

import { requestTooLarge } from '../kube/status-error.ts'
import type { UserInfo } from '../kube/user.ts'
import type { ApiRequest } from './api.ts'
import { sendableHeaders } from './header-value.ts'
import type { Serve } from './pipeline.ts'

export function fetchAdapter(serve: Serve, localUser?: UserInfo): (request: Request) => Promise<Response> {
  return async (request) => {
    const url = new URL(request.url)
    const answer = await serve({
      method: request.method,
      path: url.pathname,
      query: url.search.slice(1),
      headers: Object.fromEntries(request.headers),
      headerValues(name) {
        const value = request.headers.get(name)
        return value === null ? [] : value.split(', ')
      },
      async body(limitBytes) {
        const bytes = new Uint8Array(await request.arrayBuffer())
        if (bytes.length > limitBytes) throw requestTooLarge(limitBytes)
        return bytes
      },
      ...(localUser === undefined ? {} : { localUser }),
      remoteAddress: '127.0.0.1',
      signal: request.signal,
    } satisfies ApiRequest)
    const headers = new Headers()
    for (const [name, value] of Object.entries(sendableHeaders(answer.headers))) {
      if (typeof value === 'string') headers.set(name, value)
      else for (const v of value) headers.append(name, v)
    }
    const { body } = answer
    // 204 and 304 have no body at all, and Response insists on that.
    if (answer.status === 204 || answer.status === 304) return new Response(null, { status: answer.status, headers })
    const content = body instanceof Uint8Array ? body : ReadableStream.from(body)
    return new Response(content as ConstructorParameters<typeof Response>[0], { status: answer.status, headers })
  }
}
