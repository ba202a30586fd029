/**
 * Calls webhooks: a POST of JSON over HTTPS, to a URL or to a Service whose address a resolver finds. Faults are
 * told in the words of Go's HTTP client, since operators search for them.
 *
 * Connections are kept and shared by all calls to the same address under the same authority. One call never waits for
 * another. What a webhook sends back is bounded.
 * @see k8s.io/apiserver/pkg/util/webhook/client.go v0.36
 */
import type { IncomingMessage } from 'node:http'
import { Agent, type RequestOptions, request as send } from 'node:https'
import { isIP } from 'node:net'
import type { Clock } from '../base/clock.ts'
import { LargeAnswers } from './large-answers.ts'
import { longAnswerBytes, readAnswer, WebhookAnswer, WebhookCallError } from './webhook-answer.ts'

/** Exactly one of `url` and `service` is set: validation sees to it. */
export interface WebhookAddress {
  readonly url?: string
  readonly service?: ServiceReference
  /** PEM in base64, as in the API. Absent = the authorities of the system. */
  readonly caBundle?: string
}

export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly path?: string
  /** Default 443. */
  readonly port?: number
}

export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** Where a Service is reached. @throws Error that says why it is not */
export type ResolveService = (namespace: string, name: string, port: number) => Endpoint

export interface WebhookClientOptions {
  readonly clock: Clock
  readonly userAgent: string
  readonly resolve: ResolveService
}

/** Who the server is to a webhook. */
export interface WebhookCredentials {
  readonly headers?: Readonly<Record<string, string>>
  /** PEM */
  readonly cert?: string
  readonly key?: string
}

export interface WebhookCall {
  readonly address: WebhookAddress
  readonly body: string
  readonly credentials?: WebhookCredentials | undefined
  /** Told to the webhook as `?timeout=`, in whole seconds, and kept here. */
  readonly timeoutMs: number
  /** Of the caller that waits for the answer. */
  readonly signal?: AbortSignal
}

const deadlineExceeded = 'context deadline exceeded'
/** What is asked holds 4 MiB of objects at most. */
const maxAnswerBytes = 16 * 1024 * 1024
const defaultPort = 443
const idleConnections = 64

export class WebhookClient implements Disposable {
  readonly #options: WebhookClientOptions
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: idleConnections, scheduling: 'lifo' })
  readonly #large = new LargeAnswers()

  constructor(options: WebhookClientOptions) {
    this.#options = options
  }

  /** Answers the JSON of a 2xx answer, read in one piece. @throws WebhookCallError */
  async post(call: WebhookCall): Promise<unknown> {
    using answer = await this.send(call)
    return readAnswer(answer, undefined)
  }

  /** What it answers, unread; to be disposed of when it has been read. @throws WebhookCallError */
  async send(call: WebhookCall): Promise<WebhookAnswer> {
    const shown = shownUrl(call)
    const wait = this.#waiting(call)
    try {
      return await this.#send(call, shown, wait.signal)
    } catch (cause) {
      const why = wait.reason() ?? faultText(cause)
      throw new WebhookCallError(`Post ${JSON.stringify(shown)}: ${why}`, { timedOut: why === deadlineExceeded, cause })
    } finally {
      wait.end()
    }
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }

  #send(call: WebhookCall, shown: string, signal: AbortSignal): Promise<WebhookAnswer> {
    const options = this.#requestOptions(call, shown)
    const takePlace = (): Promise<() => void> => this.#large.take(`${options.host}:${options.port}`, signal)
    const attempt = (): Promise<WebhookAnswer> =>
      new Promise((resolve, reject) => {
        const sent = send({ ...options, signal }, (response) => {
          collect(response, takePlace).then(resolve, reject)
        })
        sent.once('error', (error: NodeJS.ErrnoException) => {
          // The webhook closed an idle connection at the moment we took it: it has not seen the request. It may have
          // closed all of them, and each is out of the agent now.
          if (sent.reusedSocket && error.code === 'ECONNRESET') resolve(attempt())
          else reject(error)
        })
        sent.end(call.body)
      })
    return attempt()
  }

  #requestOptions({ address, body, credentials = {} }: WebhookCall, shown: string): RequestOptions {
    const { service, caBundle } = address
    const { headers, cert, key } = credentials
    const url = new URL(shown)
    const endpoint = service && this.#options.resolve(service.namespace, service.name, service.port ?? defaultPort)
    const { hostname } = url
    const host = hostname.replace(/^\[|\]$/g, '')
    return {
      method: 'POST',
      agent: this.#agent,
      host: endpoint?.host ?? host,
      port: endpoint?.port ?? (url.port === '' ? defaultPort : Number(url.port)),
      path: `${url.pathname}${url.search}`,
      // An IP address is no server name, but it is checked against the certificate all the same.
      servername: isIP(host) === 0 ? host : '',
      // A connection is kept for those with the same certificate alone.
      ...(cert === undefined || key === undefined ? {} : { cert, key }),
      ...(caBundle ? { ca: Buffer.from(caBundle, 'base64') } : {}),
      // As Go: what a bundle holds is trusted, be it an intermediate or the webhook's own certificate (envtest).
      allowPartialTrustChain: true,
      headers: {
        host: url.host,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        accept: 'application/json, */*',
        'user-agent': this.#options.userAgent,
        ...headers,
      },
    }
  }

  /** Aborts when the time is over or the caller waits no more, and says which it was. */
  #waiting({ timeoutMs, signal }: WebhookCall): {
    readonly signal: AbortSignal
    reason(): string | undefined
    end(): void
  } {
    const abort = new AbortController()
    let why: string | undefined
    const stop = (reason: string): void => {
      why ??= reason
      abort.abort()
    }
    const timer = this.#options.clock.after(timeoutMs, () => stop(deadlineExceeded))
    const gone = (): void => stop('context canceled')
    if (signal?.aborted) gone()
    else signal?.addEventListener('abort', gone, { once: true })
    return {
      signal: abort.signal,
      reason: () => why,
      end() {
        timer.cancel()
        signal?.removeEventListener('abort', gone)
      },
    }
  }
}

/** As errors show it. */
function shownUrl({ address, timeoutMs }: WebhookCall): string {
  const { url, service } = address
  const base = service
    ? `https://${service.name}.${service.namespace}.svc:${service.port ?? defaultPort}${service.path ?? ''}`
    : (url ?? '')
  return `${withCleanPath(base)}?timeout=${Math.ceil(timeoutMs / 1000)}s`
}

/**
 * As Go joins paths: no empty parts, no slash at the end, and `/` where there is nothing. envtest of controller-runtime
 * configures `https://host//path`, and Go's servers answer that with a redirection.
 * @see k8s.io/client-go/rest/url_utils.go (DefaultVersionedAPIPath), v0.36
 */
function withCleanPath(url: string): string {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/]*)(?![^/])(.*)$/s.exec(url) ?? []
  return `${origin}/${path.split('/').filter(Boolean).join('/')}`
}

async function collect(response: IncomingMessage, takePlace: () => Promise<() => void>): Promise<WebhookAnswer> {
  const chunks: Buffer[] = []
  let size = 0
  let release: (() => void) | undefined
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxAnswerBytes) throw new Error(`the answer is longer than ${maxAnswerBytes} bytes`)
      if (size > longAnswerBytes) release ??= await takePlace()
      chunks.push(chunk)
    }
  } catch (error) {
    release?.()
    throw error
  }
  return new WebhookAnswer(response.statusCode ?? 0, Buffer.concat(chunks, size), release)
}

const unknownAuthority = new Set([
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
  'INVALID_CA',
])

/** A fault of the connection, as Go would say it. */
function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Several addresses were tried: the first one's fault is as good as any.
  if (error instanceof AggregateError && error.errors.length > 0) return faultText(error.errors[0])
  const { code = '', address, port, message } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  const {
    host = '',
    hostname = host,
    cert,
  } = error as Error & {
    host?: string
    hostname?: string
    cert?: { subjectaltname?: string }
  }
  const at = address === undefined ? '' : ` ${isIP(address) === 6 ? `[${address}]` : address}:${port}`
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp${at}: connect: connection refused`
    case 'EHOSTUNREACH':
      return `dial tcp${at}: connect: no route to host`
    case 'ENETUNREACH':
      return `dial tcp${at}: connect: network is unreachable`
    case 'ETIMEDOUT':
      return `dial tcp${at}: i/o timeout`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${hostname}: no such host`
    case 'ECONNRESET':
      return message === 'socket hang up' ? 'EOF' : 'read: connection reset by peer'
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'
    case 'ERR_TLS_CERT_ALTNAME_INVALID': {
      const names = (cert?.subjectaltname ?? '').replaceAll(/(DNS|IP Address):/g, '')
      return names === ''
        ? `tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match ${host}`
        : `tls: failed to verify certificate: x509: certificate is valid for ${names}, not ${host}`
    }
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
      return 'http: server gave HTTP response to HTTPS client'
    default:
      return unknownAuthority.has(code)
        ? 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
        : message
  }
}
