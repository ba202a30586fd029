/**
 * Requests of the page to the API, sent on with the identity of the kubeconfig. Few headers go either way: what a
 * browser says of itself (cookies, origin) is not for the cluster, and a page must not choose whom to act as.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Transport } from '../client/transport.ts'
import { StatusError } from '../kube/status-error.ts'
import { dataHeaders, departureOf, readBody } from './answer.ts'

/** The paths of the API that the page may ask for. */
const apiPath = /^\/(?:api|apis|openapi|version)(?:\/|$)/
const passedOn = ['accept', 'content-type', 'if-none-match'] as const
const passedBack = ['warning', 'retry-after', 'audit-id', 'etag'] as const
/** A server takes no object above 3 MiB. */
const mostBodyBytes = 4 * 1024 * 1024

export const isApiPath = (path: string): boolean => apiPath.test(path)

export async function proxy(
  transport: Transport,
  userAgent: string,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  if (!isPlain(url.pathname)) {
    throw new StatusError(`${url.pathname} is not passed on to the cluster`, { reason: 'NotFound' })
  }
  const headers: Record<string, string> = { 'user-agent': userAgent }
  for (const name of passedOn) {
    const value = request.headers[name]
    if (value !== undefined) headers[name] = value
  }
  const body = await readBody(request, mostBodyBytes)
  const answer = await transport.send({
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers,
    ...(body.length === 0 ? {} : { body }),
    signal: departureOf(response),
    streaming: true,
  })
  const answered: Record<string, string> = { ...dataHeaders, 'content-type': typeOf(answer.header('content-type')) }
  for (const name of passedBack) {
    const value = answer.header(name)
    if (value !== undefined) answered[name] = value
  }
  response.writeHead(answer.status, answered)
  if (answer.body instanceof Uint8Array) response.end(answer.body)
  else await pipeline(answer.body, response)
}

/** What leads on from the API, to a program of a tenant: its answers are none of the API's. */
const leadsOn = /\/(?:proxy|exec|attach|portforward)(?:\/|$)/
const isPlain = (path: string): boolean => apiPath.test(path) && !leadsOn.test(decodeURIComponent(path))

/** Nothing that a browser would show as a page. */
const typeOf = (given = ''): string => (/^application\/(?:\S+\+)?json\b/.test(given) ? given : 'text/plain')
