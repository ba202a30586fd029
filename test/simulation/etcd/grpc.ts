/**
 * Stands in for `src/storage/etcd/grpc-channel.ts`: calls and streams over the simulated network. An address is
 * `<machine>.<member>:2379`, so that each process has its own ways to the members.
 */
import { GrpcError, grpcStatus } from '../../../src/storage/etcd/grpc-status.ts'
import type { Method } from '../../../src/storage/etcd/messages.ts'
import { simulated } from '../runtime/simulated-process.ts'
import { EtcdRefusal } from './mvcc.ts'
import type { Connection, Link } from './network.ts'

type State = 'idle' | 'connecting' | 'ready' | 'failed' | 'shut'

const errorOf = (refusal: EtcdRefusal): GrpcError => new GrpcError(refusal.code, refusal.message)
const noConnection = (): GrpcError => new GrpcError(grpcStatus.unavailable, 'No connection established')

const connectTimeoutMs = 20_000
const firstBackoffMs = 100
const lastBackoffMs = 1_000

interface Waiter {
  readonly from: State
  readonly done: (error?: Error) => void
}

class Channel {
  readonly link: Link
  #state: State = 'idle'
  #waiters: Waiter[] = []
  #backoffMs = firstBackoffMs
  connection: Connection | undefined

  constructor(link: Link) {
    this.link = link
  }

  getConnectivityState(connect: boolean): State {
    if (connect && this.#state === 'idle') this.#connect()
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
    this.#become('shut')
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
    this.#become('connecting')
    const began = scheduler.now
    const look = (): void => {
      if (this.#state !== 'connecting' || !link.machine.isAlive) return
      const isCut = link.isCut('there') || link.isCut('back')
      if (isCut && scheduler.now - began < connectTimeoutMs) {
        scheduler.after(200, look)
      } else if (isCut || !link.member.isUp) this.#failed()
      else {
        this.#backoffMs = firstBackoffMs
        const connection = link.open()
        connection.onBreak(() => {
          this.connection = undefined
          if (this.#state === 'ready') this.#become('idle')
        })
        this.connection = connection
        this.#become('ready')
      }
    }
    scheduler.after(2 * link.delayMs(), look)
  }

  #failed(): void {
    this.#become('failed')
    this.link.network.scheduler.after(this.#backoffMs, () => {
      if (this.#state === 'failed') this.#become('idle')
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

export class GrpcChannel {
  readonly #channel: Channel

  constructor({ origin }: { readonly origin: string }) {
    const [machine = '', member = ''] = new URL(origin).hostname.split('.')
    this.#channel = new Channel(simulated.network.link(machine, member))
  }

  close(): void {
    this.#channel.close()
  }

  async connect(deadline: number): Promise<void> {
    for (;;) {
      const state = this.#channel.getConnectivityState(true)
      if (state === 'ready') return
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const done = (error?: Error): void => (error === undefined ? resolve() : reject(error))
      const { link } = this.#channel
      if (state === 'failed') link.network.scheduler.after(0, () => link.machine.isAlive && done(noConnection()))
      else this.#channel.watchConnectivityState(state, deadline, done)
      await promise
    }
  }

  unary<Request, Response>(
    { path, serialize, deserialize }: Method<Request, Response>,
    request: Request,
    { deadlineMs: deadline }: { readonly deadlineMs: number },
    callback: (error: Error | undefined, response?: Response) => void,
  ): UnaryCall {
    const { link } = this.#channel
    const body = Buffer.from(serialize(request))
    let ended = false
    const end = (error: Error | undefined, response?: Response): void => {
      if (ended || !link.machine.isAlive) return
      ended = true
      timer?.cancel()
      forget()
      callback(error, response)
    }
    let forget: () => void = () => undefined
    const timer = afterUntil(link, deadline, () => end(new GrpcError(grpcStatus.deadlineExceeded, 'Deadline exceeded')))
    const send = (connection: Connection): void => {
      forget = connection.onBreak((why) => end(new GrpcError(grpcStatus.unavailable, why)))
      connection.send('there', connection.lane(), () => {
        link.member.answer(path, body, (answer) => {
          connection.send('back', connection.lane(), () => {
            if (answer instanceof EtcdRefusal) end(errorOf(answer))
            else end(undefined, deserialize(answer))
          })
        })
      })
    }
    const begin = (): void => {
      if (ended) return
      const state = this.#channel.getConnectivityState(true)
      const { connection } = this.#channel
      if (connection !== undefined) send(connection)
      else if (state === 'failed' || state === 'shut') {
        link.network.scheduler.after(0, () => end(noConnection()))
      } else this.#channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, begin)
    }
    begin()
    return {
      cancel: () => link.network.scheduler.after(0, () => end(new GrpcError(grpcStatus.cancelled, 'Cancelled'))),
    }
  }

  stream<Request, Response>(method: Method<Request, Response>, request: Request): WatchCall<Request, Response> {
    const call = new WatchCall(this.#channel, method)
    call.write(request)
    return call
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

  constructor(channel: Channel, { serialize, deserialize }: Method<Request, Response>) {
    this.#channel = channel
    this.#serialize = serialize
    this.#deserialize = deserialize
  }

  write(request: Request): void {
    const { connection, link } = this.#channel
    if (connection === undefined) return this.#fail(noConnection())
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
      this.#fail(new GrpcError(grpcStatus.unavailable, why))
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
    this.#fail(new GrpcError(grpcStatus.cancelled, 'Cancelled on client'))
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
