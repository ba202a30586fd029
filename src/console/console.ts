/**
 * `borough console`: a page for people, served on a loopback address. It is a client: it has no rights and no API of
 * its own. The server here gives out the files of the page and passes its requests on to the cluster, as the user of a
 * kubeconfig (`proxy.ts`, `live.ts`); `gate.ts` says who may use it. Everything else is in the page (`page/`).
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isIPv6 } from 'node:net'
import type { Clock } from '../base/clock.ts'
import { packageVersion } from '../base/package-version.ts'
import { parseJsonText } from '../base/parse-json-text.ts'
import type { Remote } from '../client/remote.ts'
import { StatusError } from '../kube/status-error.ts'
import { pageHeaders, readBody, sendJson, sendRefusal } from './answer.ts'
import { Gate } from './gate.ts'
import { LiveStreams } from './live.ts'
import { takeUpgrades } from './live-upgrade.ts'
import { loadPage, type PageFiles } from './page-files.ts'
import { isApiPath, proxy } from './proxy.ts'

export interface ConsoleOptions {
  readonly remote: Remote
  readonly clock: Clock
  readonly listen: { readonly host: string; readonly port: number }
}

export interface Console extends AsyncDisposable {
  /** `http://127.0.0.1:41234` */
  readonly origin: string
  /** The same with the secret that opens it, until it was used. */
  readonly address: string
}

const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])
/** What the page says to the console itself is short. */
const mostBodyBytes = 64 * 1024

/** @throws Error the address is none of this machine alone, or is taken */
export async function startConsole({ remote, clock, listen }: ConsoleOptions): Promise<Console> {
  const { host, port } = listen
  if (!loopbackHosts.has(host)) {
    throw new Error(`the console listens on a loopback address (127.0.0.1, [::1], localhost), ${host} is none`)
  }
  const page = await loadPage()
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  // Of the names of this machine, one has two addresses: another user may listen on the other at the same port, and
  // would be brought the secret by a browser that prefers it. So the address is told, not the name.
  const bound = server.address() as AddressInfo
  const gate = new Gate(`http://${isIPv6(bound.address) ? `[${bound.address}]` : bound.address}:${bound.port}`)
  const userAgent = `borough-console/${packageVersion}`
  const live = new LiveStreams({ transport: remote.transport, userAgent, clock })
  const room: Room = { gate, page, remote, userAgent }
  server.on('request', (request, response) => {
    answer(room, request, response).catch((error: unknown) => sendRefusal(response, error))
  })
  const leaveAll = takeUpgrades(server, gate, live)
  return {
    origin: gate.origin,
    get address() {
      return gate.address
    },
    [Symbol.asyncDispose]: () => {
      leaveAll()
      return close(server)
    },
  }
}

interface Room {
  readonly gate: Gate
  readonly page: PageFiles
  readonly remote: Remote
  readonly userAgent: string
}

async function answer(room: Room, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { gate, remote, userAgent } = room
  gate.checkHost(request)
  const url = urlOf(request, gate.origin)
  const { pathname: path } = url
  if (path !== '/session' && !isApiPath(path)) return sendFile(room.page, request, response, path)

  gate.checkOrigin(request.headers)
  if (path === '/session' && request.method === 'POST') {
    const { secret } = (await readOrder(request)) as { readonly secret?: unknown }
    const { cookie, key } = gate.exchange(String(secret))
    return sendJson(response, 200, { key }, { 'set-cookie': cookie })
  }
  gate.checkTokens(request.headers)
  if (isApiPath(path)) return proxy(remote.transport, userAgent, request, response, url)
  if (path === '/session' && request.method === 'GET') {
    const { server, namespace, namespaces } = remote
    return sendJson(response, 200, { server, namespace, namespaces })
  }
  throw new StatusError(`the console has no ${request.method} ${path}`, { reason: 'MethodNotAllowed' })
}

/** A target that names a host (`http://…`, `//…`) would be another word than `Host` for where the request was sent. */
function urlOf({ url: target = '' }: IncomingMessage, origin: string): URL {
  if (/^\/(?![/\\])/.test(target)) return new URL(target, origin)
  throw new StatusError(`the console takes a path, ${target} is none`, { reason: 'BadRequest' })
}

async function readOrder(request: IncomingMessage): Promise<unknown> {
  const text = new TextDecoder().decode(await readBody(request, mostBodyBytes))
  try {
    return parseJsonText(text) ?? {}
  } catch (cause) {
    throw new StatusError('the body is no JSON', { reason: 'BadRequest', cause })
  }
}

/** Every view has a path of its own, and all of them are one file. */
function sendFile(page: PageFiles, request: IncomingMessage, response: ServerResponse, path: string): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new StatusError(`the console has no ${request.method} ${path}`, { reason: 'MethodNotAllowed' })
  }
  const isAsset = path.startsWith('/assets/')
  const file = page.get(isAsset ? path : '/index.html')
  if (file === undefined) throw new StatusError(`the console has no file ${path}`, { reason: 'NotFound' })
  response.writeHead(200, {
    ...pageHeaders,
    'content-type': file.type,
    'content-length': file.bytes.length,
    // The name of an asset holds a digest of it.
    'cache-control': isAsset ? 'public, max-age=31536000, immutable' : 'no-store',
  })
  response.end(request.method === 'HEAD' ? undefined : file.bytes)
}

/** Answers that are under way do not end by themselves. */
async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  server.closeAllConnections()
  await closed
}
