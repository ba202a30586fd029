/**
 * One connection to a member of etcd: HTTP/2, found dead when a ping is not answered. Made once; where it ends, its
 * channel makes another.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type SecureClientSessionOptions } from 'node:http2'
import type { Clock, Timer } from '../../base/clock.ts'

export interface GrpcTarget {
  /** `http://host:port` or `https://host:port`. */
  readonly origin: string
  readonly tls?: Pick<SecureClientSessionOptions, 'ca' | 'cert' | 'key' | 'servername' | 'checkServerIdentity'>
}

/** As long as a connection may take to be made. */
const connectMs = 20_000
/** A silent connection is found dead within 9 s; etcd refuses pings more often than every 5 s. */
const pingAfterMs = 6_000
const pingMs = 3_000
/** Of a stream, and of all together: what may be on its way while nothing says how much was read. */
const streamWindowBytes = 1024 * 1024
const sessionWindowBytes = 4 * streamWindowBytes

export class GrpcSession {
  readonly #session: ClientHttp2Session
  readonly #clock: Clock
  #calls = 0
  #isPingDue = false
  #pinging: Timer | undefined

  private constructor(session: ClientHttp2Session, clock: Clock) {
    this.#session = session
    this.#clock = clock
    session.setLocalWindowSize(sessionWindowBytes)
    session.unref()
    session.once('close', () => this.#pinging?.cancel())
  }

  /** Rejects with what stood against it. `signal`: it is not wanted any more. */
  static connect({ origin, tls }: GrpcTarget, clock: Clock, signal: AbortSignal): Promise<GrpcSession> {
    return new Promise((resolve, reject) => {
      const session = connect(origin, {
        ...tls,
        settings: { initialWindowSize: streamWindowBytes, enablePush: false },
        // Etcd bounds what it sends. At its limit Node refuses streams.
        maxSessionMemory: Number.MAX_SAFE_INTEGER,
        maxSendHeaderBlockLength: Number.MAX_SAFE_INTEGER,
      })
      const giveUp = (why: Error): unknown => session.destroy(why)
      const timer = clock.after(connectMs, () => giveUp(new Error(`no connection within ${connectMs / 1000} s`)))
      const abandon = (): unknown => giveUp(new Error('the connection is not wanted any more'))
      signal.addEventListener('abort', abandon, { once: true })
      let failure: Error | undefined
      session.on('error', (error: Error) => {
        failure ??= error
      })
      // Only then does it speak HTTP/2.
      session.once('remoteSettings', () => {
        timer.cancel()
        resolve(new GrpcSession(session, clock))
      })
      session.once('close', () => {
        timer.cancel()
        signal.removeEventListener('abort', abandon)
        reject(failure ?? new Error('the connection was closed'))
      })
    })
  }

  /** Takes calls: neither lost nor about to be closed by the member. */
  get isUsable(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  get isLost(): boolean {
    return this.#session.destroyed
  }

  onClose(listener: () => void): void {
    this.#session.once('close', listener)
  }

  /** @throws Error where it is not usable */
  begin(headers: Record<string, string>): ClientHttp2Stream {
    const stream = this.#session.request(headers)
    if (++this.#calls === 1) {
      this.#session.ref()
      if (this.#isPingDue) this.#ping()
      else this.#pinging ??= this.#clock.after(pingAfterMs, () => this.#due())
    }
    stream.once('close', () => {
      if (--this.#calls === 0 && !this.#session.destroyed) this.#session.unref()
    })
    return stream
  }

  destroy(why?: Error): void {
    this.#session.destroy(why)
  }

  /** A connection without calls is left alone. */
  #due(): void {
    this.#pinging = undefined
    if (this.#calls > 0) this.#ping()
    else this.#isPingDue = true
  }

  #ping(): void {
    if (!this.isUsable) return
    this.#isPingDue = false
    this.#pinging?.cancel()
    this.#pinging = this.#clock.after(pingMs, () => this.destroy(new Error(`no answer to a ping within ${pingMs} ms`)))
    const isSent = this.#session.ping((error) => {
      if (error !== null) return this.destroy(error)
      this.#pinging?.cancel()
      this.#pinging = this.#clock.after(pingAfterMs, () => this.#due())
    })
    if (!isSent) this.destroy(new Error('a ping could not be sent'))
  }
}
