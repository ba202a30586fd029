/** How the console answers: the headers that every answer has, and refusals in the form of the API's own. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { StatusError } from '../kube/status-error.ts'

/**
 * No code, style or request but from this origin, none of it inline; no frame around it. Trusted Types: a text that
 * becomes markup is an error, not an injection.
 */
const pagePolicy = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'img-src', 'font-src', 'connect-src'].map((directive) => `${directive} 'self'`),
  // Else what scripts may come from: no worker is left to answer the requests of a later page.
  "worker-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

/** What comes from the cluster is data: a tenant may have written it. */
const dataPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

const always = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
}

export const pageHeaders: Readonly<Record<string, string>> = { ...always, 'content-security-policy': pagePolicy }
export const dataHeaders: Readonly<Record<string, string>> = {
  ...always,
  'content-security-policy': dataPolicy,
  'cache-control': 'no-store',
}

export function sendJson(
  response: ServerResponse,
  code: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = `${JSON.stringify(body)}\n`
  response.writeHead(code, { ...dataHeaders, 'content-type': 'application/json', ...headers }).end(text)
}

/** Nothing can be said any more once an answer has begun: then the connection ends. */
export function sendRefusal(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const refusal = asRefusal(error)
  // A 401 of the cluster comes without it: the page can tell which of the two does not know it.
  const challenge = refusal.code === 401 ? { 'www-authenticate': 'Borough-Console' } : undefined
  sendJson(response, refusal.code, refusal.toStatus(), challenge)
}

/** What is no refusal yet: the server, or its plugin for credentials, did not do what a request needs. */
export const asRefusal = (error: unknown): StatusError =>
  error instanceof StatusError
    ? error
    : new StatusError(error instanceof Error ? error.message : String(error), {
        reason: 'ServiceUnavailable',
        cause: error,
      })

/** @throws StatusError it is longer */
export async function readBody(request: IncomingMessage, mostBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > mostBytes) {
      throw new StatusError(`the body is longer than ${mostBytes} bytes`, { reason: 'RequestEntityTooLarge' })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Aborts when the client has gone, or has its whole answer. */
export function departureOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}
