/**
 * Connections to the members of an etcd cluster: which member to ask, deadlines, TLS, moving on when one fails.
 *
 * It knows methods and members, not keys. One channel per endpoint; the one that answered last is asked first.
 * A request that changes something is sent once: when its connection breaks, it is unknown whether it was applied, and
 * the caller hears `unavailable`. Reads are asked again, of every member, until one answers or time is up; a member
 * that takes long for one (it is paused, cut off, overloaded) is not waited for as long as there are others.
 */
import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'
import { checkServerIdentity } from 'node:tls'
import type { ChannelOptions } from '@grpc/grpc-js'
import { Client, connectivityState, credentials, Metadata } from '@grpc/grpc-js'
import type { Clock } from '../../base/clock.ts'
import { isStorageError, StorageError } from '../storage.ts'
import { isLate, isTransient, toStorageError } from './errors.ts'
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
  readonly client: Client
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
        const metadata = this.#login ? await this.#metadata(member, this.#login, untilMs) : new Metadata()
        const extras = { metadata, slow: member.slow }
        const answer = await unary(member.client, method, request, untilMs, options.signal, extras)
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
    const metadata = this.#login ? await this.#metadata(member, this.#login, loginUntilMs) : new Metadata()
    // A member cut off from its cluster ends the stream instead of staying silent for ever.
    metadata.set('hasleader', 'true')
    const call = member.client.makeBidiStreamRequest(
      watchMethod.path,
      watchMethod.serialize,
      watchMethod.deserialize,
      metadata,
    )
    const cancel = (): void => call.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    // The stream may fail between two reads of the loop; the loop hears of it at the next one.
    call.on('error', () => undefined)
    try {
      if (signal.aborted) return
      call.write(request)
      for await (const response of call as AsyncIterable<WatchResponse>) {
        this.#newest.check()
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
      member.client.close()
    }
  }

  /** @throws what the login met with */
  async #metadata(member: Member, login: Login, deadlineMs: number): Promise<Metadata> {
    const metadata = new Metadata()
    const token = await login.token(async (name, password) => {
      const answer = await unary(member.client, authenticateMethod, { name, password }, deadlineMs, undefined)
      return answer.token
    })
    if (token !== undefined) metadata.set('token', token)
    return metadata
  }

  #newMember(endpoint: string, tls: EtcdTls): Member {
    const client = newClient(endpoint, tls)
    const ask = async (timeoutMs: number): Promise<MemberStatus | 'silent'> => {
      try {
        return await unary(client, statusMethod, undefined, this.#clock.now() + timeoutMs, undefined)
      } catch (error) {
        if (isLate(error)) return 'silent'
        throw error
      }
    }
    const member: Member = {
      endpoint,
      client,
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
        await this.#connect(member, Math.min(deadlineMs, this.#clock.now() + patienceMs), signal)
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

  async #connect(member: Member, deadlineMs: number, signal: AbortSignal | undefined): Promise<void> {
    const channel = member.client.getChannel()
    for (;;) {
      signal?.throwIfAborted()
      const state = channel.getConnectivityState(true)
      if (state === connectivityState.READY) return
      if (state === connectivityState.TRANSIENT_FAILURE) {
        // The channel does not tell why; a request that can't be sent does.
        await unary(member.client, statusMethod, undefined, deadlineMs, signal)
        return
      }
      await new Promise<void>((resolve, reject) => {
        channel.watchConnectivityState(state, deadlineMs, (error) => {
          if (error) reject(new Error('no connection in time', { cause: error }))
          else resolve()
        })
      })
    }
  }
}

function newClient(endpoint: string, tls: EtcdTls): Client {
  const url = URL.parse(endpoint)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '' || url.pathname !== '/') {
    throw new StorageError('invalid', `an etcd endpoint is http://host:port or https://host:port, not ${endpoint}`)
  }
  const options: ChannelOptions = {
    // Lists and watch batches are as long as they are; etcd bounds what one request writes.
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    // A silent connection is found dead within 9 s; etcd refuses pings more often than every 5 s.
    'grpc.keepalive_time_ms': 6_000,
    'grpc.keepalive_timeout_ms': 3_000,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 1_000,
    // What is sent twice is decided here, not by the channel.
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_http_proxy': 0,
  }
  const address = `${url.hostname}:${url.port || '2379'}`
  if (url.protocol === 'http:') return new Client(address, credentials.createInsecure(), options)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const expected = tls.serverName ?? host
  // Node sends no IP address as a TLS server name and throws when gRPC asks it to. Members are told apart by address,
  // not by that name; what their certificate must say is checked against the address.
  options['grpc.ssl_target_name_override'] = isIP(expected) === 0 ? expected : 'etcd'
  const verify = { checkServerIdentity: (_name: string, cert: PeerCertificate) => checkServerIdentity(expected, cert) }
  return new Client(
    address,
    credentials.createSsl(asBuffer(tls.ca), asBuffer(tls.key), asBuffer(tls.cert), verify),
    options,
  )
}

function asBuffer(bytes: Uint8Array | undefined): Buffer | null {
  return bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : null
}

interface UnaryExtras {
  readonly metadata?: Metadata
  /** Watches over it, and may give it up. */
  readonly slow?: SlowRequests
}

function unary<Request, Response extends Answer>(
  client: Client,
  method: Method<Request, Response>,
  request: Request,
  deadlineMs: number,
  signal: AbortSignal | undefined,
  { metadata = new Metadata(), slow }: UnaryExtras = {},
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const cancel = (): void => call.cancel()
    const outstanding = slow?.begin((error) => {
      reject(error)
      cancel()
    })
    const call = client.makeUnaryRequest(
      method.path,
      method.serialize,
      method.deserialize,
      request,
      metadata,
      { deadline: deadlineMs },
      (error, response) => {
        signal?.removeEventListener('abort', cancel)
        if (outstanding) slow?.end(outstanding, response?.term ?? 0)
        if (error) reject(error)
        else resolve(response as Response)
      },
    )
    signal?.addEventListener('abort', cancel, { once: true })
  })
}
