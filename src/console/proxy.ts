/**
 * Requests of the page to the API, sent on with the identity of the kubeconfig. Few headers go either way: what a
 * browser says of itself (cookies, origin) is not for the cluster, and a page must not choose whom to act as.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Transport } from '../client/transport.ts'
import { StatusError } from '../kube/status-error.ts'
import { dataHeaders, departureOf, readBody } from './answer.ts'
import { asksForMetadata, bytesWithoutContents } from './metadata-answers.ts'

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
  checkPassedOn(url.pathname)
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
  if (answer.status === 200 && asksForMetadata(headers['accept'])) {
    const chunks: Uint8Array[] = []
    for await (const chunk of answer.body instanceof Uint8Array ? [answer.body] : answer.body) chunks.push(chunk)
    const bytes = bytesWithoutContents(Buffer.concat(chunks))
    response.writeHead(200, answered).end(bytes)
    return
  }
  response.writeHead(answer.status, answered)
  if (answer.body instanceof Uint8Array) response.end(answer.body)
  else await pipeline(answer.body, response)
}

/** What leads on from the API, to a program of a tenant: its answers are none of the API's. */
const leadsOn: ReadonlySet<string | undefined> = new Set(['proxy', 'exec', 'attach', 'portforward'])

/** @throws StatusError no request of a page goes there */
export function checkPassedOn(path: string): void {
  if (isApiPath(path) && isPlain(path)) return
  throw new StatusError(`${path} is not passed on to the cluster`, { reason: 'NotFound' })
}

/** Objects and namespaces may be named `proxy`; what leads on are resources and subresources. */
function isPlain(path: string): boolean {
  const segments = decodedSegments(path)
  if (segments === undefined) return false
  const [root, , , ...inGroup] = segments
  const parts = root === 'api' ? segments.slice(2) : inGroup
  const [resource, , subresource] = parts[0] === 'namespaces' && parts.length > 3 ? parts.slice(2) : parts
  return !leadsOn.has(resource) && !leadsOn.has(subresource)
}

/** RFC 3986: what else stands in a path is dropped or read as a `/` by one parser or another. */
const pathCharacters = /^[\w\-.~!$&'()*+,;=:@%/]+$/

/** Undefined where a server may read other segments than these: they climb, are empty, or hold a `/`. */
function decodedSegments(path: string): readonly string[] | undefined {
  if (!pathCharacters.test(path)) return undefined
  try {
    const segments = path.replace(/\/$/, '').split('/').slice(1).map(decodeURIComponent)
    return segments.some((segment) => /^\.{0,2}$|\//.test(segment)) ? undefined : segments
  } catch {
    return undefined
  }
}

/** Nothing that a browser would show as a page. */
const typeOf = (given = ''): string => (/^application\/(?:\S+\+)?json\b/.test(given) ? given : 'text/plain')
