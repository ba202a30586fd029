/**
 * Who may use the console. It serves on a loopback address, which every user and every web page of the machine can
 * reach, and it acts with the identity of a kubeconfig. So each request is judged by where it was sent, by which page
 * sent it, and by two tokens:
 *
 * - `Host` is the one that was printed. A name that an attacker makes point to 127.0.0.1 (DNS rebinding) is another.
 * - `Origin` and `Sec-Fetch-Site`, where a browser sends them, say that the page of this console sent it.
 * - The printed address holds a secret in its fragment, good for one exchange. The browser that brings it is given a
 *   cookie, which scripts can't read, and a key, which the page keeps and sends as a header. A request needs both:
 *   cookies go to every port of a host, so the cookie alone may have come to another user's server; the header can't be
 *   added by a form, a frame or another origin. A page can't set headers of a WebSocket: there the key is one of the
 *   subprotocols that it offers, as Kubernetes' own clients send a token.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { StatusError } from '../kube/status-error.ts'

/** The header that only the page sets. */
export const keyHeader = 'x-borough-console'

/** The subprotocol of the page's WebSocket, and what stands before the key among those it offers. */
export const liveProtocol = 'borough-console'
const keyProtocol = 'key.'

export interface Admission {
  /** Value of `Set-Cookie`. */
  readonly cookie: string
  /** For the page to send in `keyHeader`. */
  readonly key: string
}

/** 256 bits, as text for URLs and cookies. */
const newToken = (): string => randomBytes(32).toString('base64url')

export class Gate {
  /** `http://127.0.0.1:41234` */
  readonly origin: string
  readonly #host: string
  readonly #cookieName: string
  readonly #cookie = newToken()
  readonly #key = newToken()
  #secret: string | undefined = newToken()

  constructor(origin: string) {
    const { host, port } = new URL(origin)
    this.origin = origin
    this.#host = host
    // Cookies do not tell ports apart: two consoles of one user must not overwrite each other's.
    this.#cookieName = `borough-console-${port}`
  }

  /** With the secret, until that was exchanged. */
  get address(): string {
    return this.#secret === undefined ? `${this.origin}/` : `${this.origin}/#${this.#secret}`
  }

  /** @throws StatusError the request was sent to another name */
  checkHost({ headersDistinct }: Pick<IncomingMessage, 'headersDistinct'>): void {
    // Of two the parser keeps one, and another program may go by the other.
    const host = headersDistinct['host']?.join(', ') ?? 'no host'
    if (host === this.#host) return
    throw new StatusError(`this console is ${this.origin}, it does not answer as ${host}`, { code: 421 })
  }

  /** @throws StatusError another page sent the request */
  checkOrigin(headers: IncomingHttpHeaders): void {
    const site = headers['sec-fetch-site'] ?? 'same-origin'
    if ((headers.origin ?? this.origin) === this.origin && site === 'same-origin') return
    throw new StatusError('this console answers requests of its own page only', { reason: 'Forbidden' })
  }

  /** @throws StatusError unless the request comes from a browser that the secret was given to */
  checkTokens(headers: IncomingHttpHeaders, key: unknown = headers[keyHeader]): void {
    const isOfBrowser = this.#cookiesIn(headers.cookie ?? '').some((cookie) => isSame(this.#cookie, cookie))
    const isKnown = isOfBrowser && isSame(this.#key, String(key ?? ''))
    if (!isKnown) {
      throw new StatusError('this browser is not known here: open the address that borough console printed', {
        reason: 'Unauthorized',
      })
    }
  }

  /** Of a WebSocket a browser always says which page opens it. @throws StatusError as the others do */
  checkUpgrade(request: Pick<IncomingMessage, 'headers' | 'headersDistinct' | 'url'>): void {
    const { headers, url } = request
    this.checkHost(request)
    if (url !== '/live') throw new StatusError(`the console has no WebSocket ${url}`, { reason: 'NotFound' })
    this.checkOrigin({ ...headers, origin: headers.origin ?? 'none' })
    const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim())
    const key = offered.find((protocol) => protocol.startsWith(keyProtocol))?.slice(keyProtocol.length)
    this.checkTokens(headers, offered.includes(liveProtocol) ? key : undefined)
  }

  /** @throws StatusError it is not the secret, or was exchanged before */
  exchange(secret: string): Admission {
    if (this.#secret === undefined || !isSame(this.#secret, secret)) {
      throw new StatusError('this address was used before, or is of another console: start borough console again', {
        reason: 'Unauthorized',
      })
    }
    this.#secret = undefined
    return {
      cookie: `${this.#cookieName}=${this.#cookie}; HttpOnly; SameSite=Strict; Path=/`,
      key: this.#key,
    }
  }

  /** A program at another port of the host may have set some of that name for a longer path: those come first. */
  #cookiesIn(header: string): readonly string[] {
    const pairs = header.split(';').map((pair) => pair.trim().split('=', 2))
    return pairs.flatMap(([name, value = '']) => (name === this.#cookieName ? [value] : []))
  }
}

/** Takes as long whatever is given: digests have one length. */
const isSame = (wanted: string, given: string): boolean => timingSafeEqual(digest(wanted), digest(given))
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
