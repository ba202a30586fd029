/**
 * One TCP connection: how far it has come, its user, and the requests under way on it.
 *
 *   handshake ──▶ silent ──▶ busy ◀──▶ idle ──▶ closed
 *
 * The counters of an HTTP/2 connection find every flood by what all floods have in common: bytes come in that are
 * neither requests nor bodies. (CVE-2019-9511 to 9518; Node and nghttp2 end some of them by themselves, sooner.)
 */

import type { ServerResponse } from 'node:http'
import { constants, type ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Link, LinkedList } from '../../base/linked-list.ts'
import type { ApiRequest } from '../api.ts'
import { flowOf } from '../flow-of.ts'
import { type Bound, bounds } from '../incidents.ts'
import type { Overload } from '../overload.ts'
import type { BodyObserver, IncomingBody } from './incoming-body.ts'
import type { Inlet, Intake } from './intake.ts'
import { OneAtATime } from './one-at-a-time.ts'

/** What a request may bring besides its body: headers that compress badly, and what of its body has come in unread. */
const requestBytes = 8 * 1024
const unreadBodyBytes = 64 * 1024
/** Bytes with which a peer may acknowledge each byte that it is sent (WINDOW_UPDATE). */
const acknowledgedShare = 1 / 4

const goodbyeMs = 5000

/** A request and its answer, as far as its connection follows them. */
export abstract class Followed extends Link {
  /** Nothing is left to be sent. */
  abstract get isOver(): boolean
  /** Bytes that wait for the peer to take them. */
  abstract get unreadBytes(): number
  /** Called now and then. */
  abstract look(nowMs: number): void
  /** Ends it without a word: there is no way to say one to a peer that does not read. */
  abstract cut(bound: Bound): void
}

/**
 * Of the main thread, to end a connection, and each request or watch that is under way on it: measured with watches, of
 * which Node's own share is about half.
 */
const endMs = 0.1

/** Node's own object of a socket. Parsers take what is read from it, so a socket that is paused is read on. */
interface Handle {
  /** False where Node itself reads no further. Over HTTP/2 it says nothing. */
  readonly reading: boolean
  readStart(): void
  readStop(): void
}

export interface ConnectionOptions {
  readonly overload: Overload
  readonly intake: Intake
  readonly raw: Socket
  /** What counts as one address. */
  readonly address: string
  readonly reserved: boolean
  /** Its user is known. @throws StatusError TooManyRequests if the user has too many */
  readonly identified: (connection: Connection, user: string) => void
  /** It was ended for what came over it. */
  readonly broke: (connection: Connection) => void
}

export class Connection implements Inlet, BodyObserver {
  readonly overload: Overload
  readonly #intake: Intake
  readonly address: string
  readonly remoteAddress: string
  readonly reserved: boolean
  readonly #identified: ConnectionOptions['identified']
  readonly #broke: ConnectionOptions['broke']
  readonly #raw: Socket
  #tls: TLSSocket | undefined
  #session: ServerHttp2Session | undefined
  #certificate: ApiRequest['clientCertificate'] | 'unknown' = 'unknown'
  #user: string | undefined
  #flow: string
  readonly #exchanges = new LinkedList<Followed>()
  readonly #inOrder = new OneAtATime((bound) => this.breakOff(bound))
  /** Since when it is in the state that it is in, and what it had read then. */
  #sinceMs: number
  #sinceRead = 0
  #headersSinceMs: number | undefined
  #isSilent = true
  #isLeaving = false
  #hasLeft = false
  #requests = 0
  #looked = { atMs: 0, requests: 0, read: 0, written: 0 }
  /** Since the last look. */
  #receivedBytes = 0
  #resets = 0
  /** What the requests under way may still bring before it is read, and did not bring before the last look. */
  #outstandingBytes = 0

  constructor({ overload, intake, raw, address, reserved, identified, broke }: ConnectionOptions) {
    this.#intake = intake
    this.#identified = identified
    this.#broke = broke
    this.reserved = reserved
    this.remoteAddress = raw.remoteAddress ?? ''
    this.overload = overload
    this.#raw = raw
    this.address = address
    this.#flow = `address ${address}`
    this.#sinceMs = overload.sweeper.nowMs
  }

  /** Asked for with each piece of a body, so it is put together once. */
  get flow(): string {
    return this.#flow
  }

  get user(): string | undefined {
    return this.#user
  }

  get isHttp2(): boolean {
    return this.#session !== undefined
  }

  get closed(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#raw.destroyed) resolve()
      else this.#raw.once('close', () => resolve())
    })
  }

  /** It ends with the requests under way: the next answer says so. */
  get isLeaving(): boolean {
    return this.#isLeaving
  }

  /** Nothing is lost if it is closed: no request has come yet, or none is under way. */
  get isIdle(): boolean {
    for (const exchange of this.#exchanges) if (!exchange.isOver) return false
    return true
  }

  /** The peer's certificate does not change during a connection: looked at once. */
  get clientCertificate(): ApiRequest['clientCertificate'] {
    if (this.#certificate === 'unknown') {
      const der = this.#tls?.getPeerX509Certificate()?.raw
      this.#certificate = der === undefined ? undefined : { der, rejected: this.#tls?.authorized !== true }
    }
    return this.#certificate
  }

  /** The handshake is over. */
  secured(tls: TLSSocket): void {
    this.#tls = tls
    this.#enter(this.overload.sweeper.nowMs)
    const left = (): void => this.#left()
    tls.prependListener('end', left)
    // A connection that breaks has no `end`, and its `close` comes when all sockets have been read: Node destroys it
    // where it reads that.
    const destroy = tls.destroy.bind(tls)
    const end = (error?: Error): TLSSocket => {
      left()
      return destroy(error)
    }
    tls.destroy = end
  }

  speaksHttp2(session: ServerHttp2Session): void {
    this.#session = session
    // Node and nghttp2 end some floods by themselves. A peer that leaves is an error of the system.
    session.on('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall === undefined) this.#broke(this)
    })
  }

  /** @throws StatusError TooManyRequests if the user has too many connections; this one is closed then */
  identify(user: string): void {
    if (this.#user !== undefined) return
    this.#identified(this, user)
    this.#user = user
    this.#flow = flowOf(user)
  }

  /** A request over HTTP/1.1 has come: `begin` is called when those before it are answered. */
  beginInOrder(response: ServerResponse, body: IncomingBody | undefined, begin: () => void): void {
    if (this.#raw.destroyed) return
    this.#intake.came(this)
    this.#inOrder.add(response, body, begin)
  }

  /** Of requests over HTTP/1.1, the next one if the one before it is answered. Answers whether it did. */
  beginNext(): boolean {
    return this.#inOrder.beginNext()
  }

  /** A request is begun. Over HTTP/1.1 the one before it is answered. */
  begin(exchange: Followed, hasBody: boolean): void {
    if (this.#session === undefined) this.#exchanges.clear()
    else {
      this.#intake.came(this)
      if (hasBody) this.#receivedBytes += unreadBodyBytes
    }
    this.#exchanges.add(exchange)
    this.#requests++
    this.#isSilent = false
  }

  /** Only of HTTP/2: over HTTP/1.1 the next one takes its place. */
  end(exchange: Followed): void {
    this.#exchanges.remove(exchange)
  }

  /** Of a body, whether it is read yet or not. */
  received(bytes: number): void {
    this.#receivedBytes += bytes
    this.#intake.came(this)
    if (this.#session === undefined) this.#inOrder.limit()
  }

  /** Nothing comes any more, because of whomever. */
  #left(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    let underWay = 1
    for (const exchange of this.#exchanges) if (!exchange.isOver) underWay++
    this.#intake.left(this, underWay * endMs)
  }

  stopReading(): void {
    this.#handle?.readStop()
  }

  goOnReading(): void {
    const handle = this.#hasLeft ? undefined : this.#handle
    if (this.#session !== undefined || handle?.reading) handle?.readStart()
  }

  /** Undefined once it is closed. */
  get #handle(): Handle | undefined {
    return ((this.#tls ?? this.#raw) as unknown as { readonly _handle?: Handle | null })._handle ?? undefined
  }

  /** A peer cancelled a request before it was answered, or made us cancel it. (CVE-2023-44487, CVE-2025-8671) */
  cancelled(): void {
    const session = this.#session
    if (session === undefined || session.destroyed) return
    if (++this.#resets > this.overload.limits.http2.resets) this.#calm('http2_resets')
  }

  /** A peer goes on to ask, however many of its requests are refused. */
  hangUp(): void {
    this.breakOff('refused_flood')
  }

  /** Ended for what came over it. */
  breakOff(bound: Bound): void {
    if (this.#raw.destroyed) return
    if (this.#session !== undefined) return this.#calm(bound)
    this.overload.incidents.happened(bound, this.flow)
    this.#broke(this)
    this.destroy()
  }

  /** What waits for the peer to read it. */
  get unreadBytes(): number {
    let bytes = this.#tls?.writableLength ?? 0
    if (this.#session !== undefined) for (const exchange of this.#exchanges) bytes += exchange.unreadBytes
    return bytes
  }

  /** Goes on after each answer that was cut off: to end a stream takes some 0.06 ms, and there may be hundreds. */
  *cutUnread(): Generator<void> {
    for (const exchange of [...this.#exchanges]) {
      if (exchange.unreadBytes === 0) continue
      exchange.cut('unread_memory')
      yield
    }
    if (this.unreadBytes > 0) this.destroy()
  }

  look(nowMs: number): void {
    const tls = this.#tls
    const { deadlines } = this.overload.limits
    if (tls === undefined) {
      if (nowMs - this.#sinceMs >= deadlines.handshakeMs) this.#close('handshake_deadline')
      return
    }
    if (this.#session !== undefined) this.#findFlood(tls, nowMs)
    for (const exchange of this.#exchanges) {
      if (exchange.isOver) this.#exchanges.remove(exchange)
      else exchange.look(nowMs)
    }
    const isBusy = !this.#exchanges.isEmpty || this.#requests !== this.#looked.requests
    this.#looked = { atMs: nowMs, requests: this.#requests, read: tls.bytesRead, written: tls.bytesWritten }
    this.#resets = 0
    this.#receivedBytes = 0
    if (isBusy) this.#enter(nowMs)
    else this.#lookAtIdle(tls, nowMs)
  }

  /** Lets the requests under way end, and the connection with them. */
  leave(): void {
    this.#isLeaving = true
    if (this.#session !== undefined) this.#session.close()
    else if (this.isIdle) this.#raw.destroy()
  }

  /** What was handed over is sent before. */
  destroySoon(): void {
    this.#session?.destroy()
    ;(this.#tls ?? this.#raw).destroySoon()
  }

  destroy(): void {
    this.#session?.destroy()
    ;(this.#tls ?? this.#raw).destroy()
  }

  #enter(nowMs: number): void {
    this.#sinceMs = nowMs
    this.#sinceRead = this.#tls?.bytesRead ?? 0
    this.#headersSinceMs = undefined
  }

  #lookAtIdle(tls: TLSSocket, nowMs: number): void {
    const { headersMs, idleMs } = this.overload.limits.deadlines
    const quietMs = nowMs - this.#sinceMs
    if (this.#isSilent) {
      if (quietMs >= headersMs) this.#close('headers_deadline')
      return
    }
    if (this.#session === undefined && tls.bytesRead > this.#sinceRead) {
      this.#headersSinceMs ??= nowMs
      if (nowMs - this.#headersSinceMs >= headersMs) this.#close('headers_deadline')
      return
    }
    if (quietMs >= idleMs + goodbyeMs) this.destroy()
    else if (quietMs >= idleMs && !this.#isLeaving) {
      this.overload.incidents.happened('idle_deadline', this.flow)
      this.leave()
    }
  }

  #findFlood(tls: TLSSocket, nowMs: number): void {
    const { atMs, requests, read, written } = this.#looked
    const seconds = Math.max(1, (nowMs - atMs) / 1000)
    const asked = (this.#requests - requests) * requestBytes + this.#receivedBytes + this.#outstandingBytes
    const acknowledged = (tls.bytesWritten - written) * acknowledgedShare
    const overhead = tls.bytesRead - read - asked - acknowledged
    let open = 0
    for (const exchange of this.#exchanges) if (!exchange.isOver) open++
    this.#outstandingBytes = Math.min(Math.max(0, -overhead), open * unreadBodyBytes)
    if (overhead > this.overload.limits.http2.overheadBytes * seconds) this.#calm('http2_flood')
  }

  #calm(bound: Bound): void {
    this.overload.incidents.happened(bound, this.flow)
    this.#session?.destroy(new Error(bounds[bound]), constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  #close(bound: Bound): void {
    this.overload.incidents.happened(bound, this.flow)
    // A client whose headers do not end may still listen for why. Over HTTP/2 GOAWAY says it.
    if (bound === 'headers_deadline' && this.#session === undefined && this.#tls?.alpnProtocol !== 'h2') {
      this.#tls?.write('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
      this.#isLeaving = true
      this.destroySoon()
    } else this.destroy()
  }
}
