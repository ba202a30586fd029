/**
 * Stands in for `@grpc/grpc-js`, as far as the engine uses it: channels, calls and streams over the simulated network.
 * An address is `<machine>.<member>:2379`, so that each process has its own ways to the members.
 */
import { simulated } from '../runtime/simulated-process.ts'
import { EtcdRefusal } from './mvcc.ts'
import type { Connection, Link } from './network.ts'

export const status = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  PERMISSION_DENIED: 7,
  DATA_LOSS: 15,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const

export const connectivityState = { IDLE: 0, CONNECTING: 1, READY: 2, TRANSIENT_FAILURE: 3, SHUTDOWN: 4 } as const
type State = (typeof connectivityState)[keyof typeof connectivityState]

export const credentials = {
  createInsecure: (): object => ({}),
  createSsl(): never {
    throw new Error('the simulated network has no TLS')
  },
}

export class Metadata {
  set(): void {
    // Every watch of the simulated cluster asks for a leader.
  }
}

class CallError extends Error {
  readonly code: number
  readonly details: string
  constructor(code: number, details: string) {
    super(`${code}: ${details}`)
    this.code = code
    this.details = details
  }
}

const errorOf = (refusal: EtcdRefusal): CallError => new CallError(refusal.code, refusal.message)

const connectTimeoutMs = 20_000
const firstBackoffMs = 100
const lastBackoffMs = 1_000

interface Waiter {
  readonly from: State
  readonly done: (error?: Error) => void
}

class Channel {
  readonly link: Link
  #state: State = connectivityState.IDLE
  #waiters: Waiter[] = []
  #backoffMs = firstBackoffMs
  connection: Connection | undefined

  constructor(link: Link) {
    this.link = link
  }

  getConnectivityState(connect: boolean): State {
    if (connect && this.#state === connectivityState.IDLE) this.#connect()
    return this.#state
  }

  watchConnectivityState(from: State, deadline: number, done: (error?: Error) => void): void {
    if (this.#state !== from) return done()
    const timer = afterUntil(this.link, deadline, () => {
      this.#waiters = this.#waiters.filter((each) => each !== waiter)
      done(new Error('Deadline passed without connectivity state change'))
    })
    const waiter: Waiter = {
      from,
      done: () => {
        timer?.cancel()
        done()
      },
    }
    this.#waiters.push(waiter)
  }

  close(): void {
    this.connection?.close()
    this.#become(connectivityState.SHUTDOWN)
  }

  #become(state: State): void {
    this.#state = state
    const waiting = this.#waiters
    this.#waiters = []
    for (const waiter of waiting) if (this.link.machine.isAlive) waiter.done()
  }

  #connect(): void {
    const { link } = this
    const { scheduler } = link.network
    this.#become(connectivityState.CONNECTING)
    const began = scheduler.now
    const look = (): void => {
      if (this.#state !== connectivityState.CONNECTING || !link.machine.isAlive) return
      const isCut = link.isCut('there') || link.isCut('back')
      if (isCut && scheduler.now - began < connectTimeoutMs) {
        scheduler.after(200, look)
      } else if (isCut || !link.member.isUp) this.#failed()
      else {
        this.#backoffMs = firstBackoffMs
        const connection = link.open()
        connection.onBreak(() => {
          this.connection = undefined
          if (this.#state === connectivityState.READY) this.#become(connectivityState.IDLE)
        })
        this.connection = connection
        this.#become(connectivityState.READY)
      }
    }
    scheduler.after(2 * link.delayMs(), look)
  }

  #failed(): void {
    this.#become(connectivityState.TRANSIENT_FAILURE)
    this.link.network.scheduler.after(this.#backoffMs, () => {
      if (this.#state === connectivityState.TRANSIENT_FAILURE) this.#become(connectivityState.IDLE)
    })
    this.#backoffMs = Math.min(2 * this.#backoffMs, lastBackoffMs)
  }
}

/** By the wall clock of the process that waits. */
function afterUntil(link: Link, deadline: number, run: () => void): { cancel(): void } | undefined {
  if (deadline === Number.POSITIVE_INFINITY) return undefined
  return link.machine.clock.after(Math.max(0, deadline - link.machine.clock.now()), run)
}

interface UnaryCall {
  cancel(): void
}

export class Client {
  readonly #channel: Channel

  constructor(address: string) {
    const [machine = '', member = ''] = address.replace(/:\d+$/, '').split('.')
    this.#channel = new Channel(simulated.network.link(machine, member))
  }

  getChannel(): Channel {
    return this.#channel
  }

  close(): void {
    this.#channel.close()
  }

  makeUnaryRequest<Request, Response>(
    path: string,
    serialize: (request: Request) => Buffer,
    deserialize: (bytes: Buffer) => Response,
    request: Request,
    _metadata: Metadata,
    { deadline }: { readonly deadline: number },
    callback: (error: Error | null, response?: Response) => void,
  ): UnaryCall {
    const { link } = this.#channel
    const body = Buffer.from(serialize(request))
    let ended = false
    const end = (error: Error | null, response?: Response): void => {
      if (ended || !link.machine.isAlive) return
      ended = true
      timer?.cancel()
      forget()
      callback(error, response)
    }
    let forget: () => void = () => undefined
    const timer = afterUntil(link, deadline, () => end(new CallError(status.DEADLINE_EXCEEDED, 'Deadline exceeded')))
    const send = (connection: Connection): void => {
      forget = connection.onBreak((why) => end(new CallError(status.UNAVAILABLE, why)))
      connection.send('there', connection.lane(), () => {
        link.member.answer(path, body, (answer) => {
          connection.send('back', connection.lane(), () => {
            if (answer instanceof EtcdRefusal) end(errorOf(answer))
            else end(null, deserialize(answer))
          })
        })
      })
    }
    const begin = (): void => {
      if (ended) return
      const state = this.#channel.getConnectivityState(true)
      const { connection } = this.#channel
      if (connection !== undefined) send(connection)
      else if (state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN) {
        link.network.scheduler.after(0, () => end(new CallError(status.UNAVAILABLE, 'No connection established')))
      } else this.#channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, begin)
    }
    begin()
    return { cancel: () => link.network.scheduler.after(0, () => end(new CallError(status.CANCELLED, 'Cancelled'))) }
  }

  makeBidiStreamRequest<Request, Response>(
    _path: string,
    serialize: (request: Request) => Buffer,
    deserialize: (bytes: Buffer) => Response,
  ): WatchCall<Request, Response> {
    return new WatchCall(this.#channel, serialize, deserialize)
  }
}

/** A stream of a watch: one request, many answers. */
class WatchCall<Request, Response> {
  readonly #channel: Channel
  readonly #serialize: (request: Request) => Buffer
  readonly #deserialize: (bytes: Buffer) => Response
  readonly #received: Response[] = []
  #failure: Error | undefined
  #stop: () => void = () => undefined
  #wake: (() => void) | undefined

  constructor(channel: Channel, serialize: (request: Request) => Buffer, deserialize: (bytes: Buffer) => Response) {
    this.#channel = channel
    this.#serialize = serialize
    this.#deserialize = deserialize
  }

  on(): this {
    // Errors are told by the iteration.
    return this
  }

  write(request: Request): void {
    const { connection, link } = this.#channel
    if (connection === undefined) return this.#fail(new CallError(status.UNAVAILABLE, 'No connection established'))
    const body = Buffer.from(this.#serialize(request))
    const [there, back] = [connection.lane(), connection.lane()]
    let cancel: () => void = () => undefined
    let stopped = false
    const stop = (): void => {
      stopped = true
      cancel()
    }
    this.#stop = () => {
      forget()
      if (connection.isOpen) connection.send('there', there, stop)
      else stop()
    }
    const forget = connection.onBreak((why) => {
      stop()
      this.#fail(new CallError(status.UNAVAILABLE, why))
    })
    connection.send('there', there, () => {
      if (stopped) return
      cancel = link.member.watch(
        body,
        (message) => connection.send('back', back, () => this.#receive(message)),
        (refusal) => connection.send('back', back, () => this.#fail(errorOf(refusal))),
      )
    })
  }

  cancel(): void {
    this.#stop()
    this.#stop = () => undefined
    this.#fail(new CallError(status.CANCELLED, 'Cancelled on client'))
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Response> {
    for (;;) {
      const next = this.#received.shift()
      if (next !== undefined) yield next
      else if (this.#failure) throw this.#failure
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  #receive(message: Buffer): void {
    if (this.#failure) return
    this.#received.push(this.#deserialize(message))
    this.#wake?.()
  }

  #fail(error: Error): void {
    this.#failure ??= error
    if (this.#channel.link.machine.isAlive) this.#wake?.()
  }
}
