/**
 * Connections to the members of an etcd cluster: which member to ask, deadlines, TLS, moving on when one fails.
 *
 * It knows methods and members, not keys. One channel per endpoint; the one that answered last is asked first.
 * A request that changes something is sent once: when its connection breaks, it is unknown whether it was applied, and
 * the caller hears `unavailable`. Reads are asked again, of every member, until one answers or time is up; a member
 * that takes long for one (it is paused, cut off, overloaded) is not waited for as long as there are others.
 */
import { isIP } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import type { Clock } from '../../base/clock.ts'
import { isStorageError, StorageError } from '../storage.ts'
import { isLate, isTransient, toStorageError } from './errors.ts'
import { type CallHeaders, GrpcChannel } from './grpc-channel.ts'
import { type EtcdUser, Login } from './login.ts'
import type { Answer, MemberStatus, Method, WatchCreateRequest, WatchResponse } from './messages.ts'
import { authenticateMethod, statusMethod, watchMethod } from './messages.ts'
import { NewestRevision } from './newest-revision.ts'
import { SlowRequests } from './slow-requests.ts'

export interface EtcdTls {
  /** PEM. Absent: the certificate authorities that Node trusts. */
  readonly ca?: Uint8Array
  /** PEM, both or none. */
  readonly cert?: Uint8Array
  readonly key?: Uint8Array
  /** The name to expect in the members' certificates, if it is not the host of the endpoint. */
  readonly serverName?: string
}

export interface EtcdConnectionOptions {
  /** `http://host:port` or `https://host:port`, all of one cluster. */
  readonly endpoints: readonly string[]
  readonly tls?: EtcdTls
  /** Absent: no user, or the one that the client certificate names. */
  readonly user?: EtcdUser
  readonly clock: Clock
  /** For a request, with all its attempts. */
  readonly requestTimeoutMs: number
  /** For one connection, where there are others to try. */
  readonly connectTimeoutMs: number
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** True for what changes nothing. */
  readonly repeatable: boolean
}

/** Part of a read's time that one member may take while another could be asked. */
const patiencePart = 0.25

interface Member {
  readonly endpoint: string
  readonly channel: GrpcChannel
  readonly slow: SlowRequests
}

export class EtcdConnection {
  readonly #members: readonly Member[]
  readonly #clock: Clock
  readonly #requestTimeoutMs: number
  readonly #connectTimeoutMs: number
  readonly #login: Login | undefined
  readonly #newest = new NewestRevision()
  /** Index of the member to ask first. */
  #preferred = 0
  #closed = false

  /** @throws StorageError code=invalid for an endpoint that is not a URL as described. */
  constructor(options: EtcdConnectionOptions) {
    if (options.endpoints.length === 0) throw new StorageError('invalid', 'etcd needs at least one endpoint')
    this.#clock = options.clock
    this.#login = options.user && new Login(options.user)
    this.#members = options.endpoints.map((endpoint) => this.#newMember(endpoint, options.tls ?? {}))
    this.#requestTimeoutMs = options.requestTimeoutMs
    this.#connectTimeoutMs = options.connectTimeoutMs
  }

  /**
   * @throws StorageError as `toStorageError` maps it, and as `NewestRevision` has it; the signal's reason when aborted.
   */
  async call<Request, Response extends Answer>(
    method: Method<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Response> {
    const deadlineMs = this.#clock.now() + this.#requestTimeoutMs
    let loggedInAnew = false
    for (let attempt = 1; ; attempt++) {
      options.signal?.throwIfAborted()
      const least = this.#newest.get()
      const member = await this.#choose(deadlineMs, options.signal)
      const isLast = !options.repeatable || attempt >= this.#members.length
      const patienceMs = isLast ? Number.POSITIVE_INFINITY : this.#requestTimeoutMs * patiencePart
      try {
        const untilMs = Math.min(deadlineMs, this.#clock.now() + patienceMs)
        const headers = this.#login && (await this.#headers(member, this.#login, untilMs))
        const extras = { headers, slow: member.slow }
        const answer = await unary(member.channel, method, request, untilMs, options.signal, extras)
        this.#newest.take(answer, least, member.endpoint)
        return answer
      } catch (error) {
        options.signal?.throwIfAborted()
        this.#newest.check()
        if (!loggedInAnew && this.#login?.refused(error)) {
          loggedInAnew = true
          continue
        }
        const another = isTransient(error) || isStorageError(error, 'unavailable')
        if (another) this.#leave(member)
        const mayRepeat = options.repeatable && another && attempt <= this.#members.length
        if (!mayRepeat || this.#closed || this.#clock.now() >= deadlineMs) {
          throw toStorageError(error, `etcd at ${member.endpoint}`)
        }
      }
    }
  }

  /**
   * The raw answers to one watch, until it breaks: this generator never connects a second time. It ends without an
   * error only when the signal aborts; if the reason is that etcd is `unavailable`, this member is asked last from now
   * on.
   */
  async *watch(request: WatchCreateRequest, signal: AbortSignal): AsyncGenerator<WatchResponse> {
    const member = await this.#choose(this.#clock.now() + this.#requestTimeoutMs, signal)
    const loginUntilMs = this.#clock.now() + this.#requestTimeoutMs
    const headers = this.#login && (await this.#headers(member, this.#login, loginUntilMs))
    if (signal.aborted) return
    // A member cut off from its cluster ends the stream instead of staying silent for ever.
    const call = member.channel.stream(watchMethod, request, { ...headers, hasleader: 'true' })
    const cancel = (): void => call.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      for await (const response of call) {
        this.#newest.takeCluster(response, member.endpoint)
        // It does not say whether the token is at fault; another one is had for the asking.
        if (response.canceled && response.compactRevision === 0) this.#login?.forget()
        yield response
      }
      throw new StorageError('unavailable', `etcd at ${member.endpoint} ended the watch`)
    } catch (error) {
      if (signal.aborted) {
        if (isStorageError(signal.reason, 'unavailable')) this.#leave(member)
        return
      }
      if (isTransient(error)) this.#leave(member)
      throw toStorageError(error, `etcd at ${member.endpoint}`)
    } finally {
      signal.removeEventListener('abort', cancel)
      call.cancel()
    }
  }

  close(): void {
    this.#closed = true
    for (const member of this.#members) {
      member.slow.close()
      member.channel.close()
    }
  }

  /** @throws what the login met with */
  async #headers(member: Member, login: Login, deadlineMs: number): Promise<CallHeaders | undefined> {
    const token = await login.token(async (name, password) => {
      const answer = await unary(member.channel, authenticateMethod, { name, password }, deadlineMs, undefined)
      return answer.token
    })
    return token === undefined ? undefined : { token }
  }

  #newMember(endpoint: string, tls: EtcdTls): Member {
    const channel = newChannel(endpoint, tls, this.#clock)
    const ask = async (timeoutMs: number): Promise<MemberStatus | 'silent'> => {
      try {
        return await unary(channel, statusMethod, undefined, this.#clock.now() + timeoutMs, undefined)
      } catch (error) {
        if (isLate(error)) return 'silent'
        throw error
      }
    }
    const member: Member = {
      endpoint,
      channel,
      slow: new SlowRequests({ clock: this.#clock, ask, onSilent: () => this.#leave(member) }),
    }
    return member
  }

  #leave(member: Member): void {
    if (this.#members[this.#preferred] === member) this.#preferred = (this.#preferred + 1) % this.#members.length
  }

  /** The first member, from the preferred one on, that can be connected to. */
  async #choose(deadlineMs: number, signal: AbortSignal | undefined): Promise<Member> {
    const reasons: string[] = []
    let cause: unknown
    for (let i = 0; i < this.#members.length; i++) {
      if (this.#closed) throw new StorageError('closed', 'the storage is closed')
      const index = (this.#preferred + i) % this.#members.length
      const member = this.#members[index]
      if (!member) break
      try {
        // Without another endpoint there is no hurry.
        const patienceMs = this.#members.length > 1 ? this.#connectTimeoutMs : Number.POSITIVE_INFINITY
        signal?.throwIfAborted()
        await member.channel.connect(Math.min(deadlineMs, this.#clock.now() + patienceMs))
        this.#preferred = index
        return member
      } catch (error) {
        signal?.throwIfAborted()
        cause = error
        reasons.push(`${member.endpoint}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    throw new StorageError('unavailable', `no etcd endpoint can be reached (${reasons.join('; ')})`, { cause })
  }
}

function newChannel(endpoint: string, tls: EtcdTls, clock: Clock): GrpcChannel {
  const url = URL.parse(endpoint)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '' || url.pathname !== '/') {
    throw new StorageError('invalid', `an etcd endpoint is http://host:port or https://host:port, not ${endpoint}`)
  }
  const origin = `${url.protocol}//${url.hostname}:${url.port || '2379'}`
  if (url.protocol === 'http:') return new GrpcChannel({ origin }, clock)
  const { ca, cert, key, serverName } = tls
  const expected = serverName ?? url.hostname.replace(/^\[(.*)\]$/, '$1')
  const identity = {
    // No IP address may be a TLS server name. Members are told apart by address, not by that name; what their
    // certificate must say is checked against the address.
    servername: isIP(expected) === 0 ? expected : 'etcd',
    checkServerIdentity: (_name: string, given: PeerCertificate) => checkServerIdentity(expected, given),
  }
  const files = {
    ...(ca && { ca: asBuffer(ca) }),
    ...(cert && { cert: asBuffer(cert) }),
    ...(key && { key: asBuffer(key) }),
  }
  return new GrpcChannel({ origin, tls: { ...identity, ...files } }, clock)
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

interface UnaryExtras {
  readonly headers?: CallHeaders | undefined
  /** Watches over it, and may give it up. */
  readonly slow?: SlowRequests
}

function unary<Request, Response extends Answer>(
  channel: GrpcChannel,
  method: Method<Request, Response>,
  request: Request,
  deadlineMs: number,
  signal: AbortSignal | undefined,
  { headers, slow }: UnaryExtras = {},
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => call.cancel()
    const outstanding = slow?.begin((error) => {
      reject(error)
      cancel()
    })
    const call = channel.unary(method, request, { deadlineMs, headers }, (error, response) => {
      signal?.removeEventListener('abort', cancel)
      if (outstanding) slow?.end(outstanding, response?.term ?? 0)
      if (error) reject(error)
      else resolve(response as Response)
    })
    signal?.addEventListener('abort', cancel, { once: true })
  })
}
