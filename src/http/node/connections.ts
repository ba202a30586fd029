/**
 * All connections of one listener. Until a user authenticates on it a connection counts for its address, from
 * then on for its user: many users behind one address do not stand in each other's way.
 *
 * When there are too many, the one that has been without a user for longest makes room: a client that means it
 * authenticates within a second. When all have a user, the newest is turned away.
 */

import { readdirSync, readFileSync } from 'node:fs'
import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { unlessUnderWay } from '../../base/sweeper.ts'
import { type Slice, Turns } from '../../base/turns.ts'
import { tooManyRequests } from '../../kube/status-error.ts'
import { addressGroup } from '../address-group.ts'
import { flowOf } from '../flow-of.ts'
import type { Gathered } from '../gather.ts'
import type { Overload } from '../overload.ts'
import { whenGreeted } from './client-hello.ts'
import { Connection } from './connection.ts'
import { Intake } from './intake.ts'
import { LateHandshakes } from './late-handshakes.ts'

export class Connections {
  readonly #overload: Overload
  readonly #limit: number
  readonly #reserved: boolean
  /** By the peer's address and port: what stays the same when TLS takes over. */
  readonly #all = new Map<string, Connection>()
  /** In the order in which they came. */
  readonly #unknown = new Set<Connection>()
  readonly #byAddress = new Map<string, number>()
  readonly #byUser = new Map<string, number>()
  readonly #handshakes: LateHandshakes
  readonly #intake: Intake
  readonly #gathered: Gathered
  readonly #forget: () => void
  /** Of its own: a look comes to its end beside many long lists, whose slices would each go first. */
  readonly #turns = new Turns()

  /** `gathered`: where what connections bring takes turns. */
  constructor(overload: Overload, gathered: Gathered, limit: number, reserved: boolean) {
    this.#overload = overload
    this.#gathered = gathered
    this.#limit = limit
    this.#reserved = reserved
    this.#handshakes = new LateHandshakes(overload.clock)
    this.#intake = new Intake(
      (flow) => this.#ofFlow(flow),
      () => overload.clock.monotonic(),
    )
    this.#forget = overload.sweeper.add((nowMs) => this.#look(nowMs))
  }

  get size(): number {
    return this.#all.size
  }

  /** Undefined: there is no room for it, and it is closed. */
  admit(raw: Socket): Connection | undefined {
    const { incidents, limits, sweeper } = this.#overload
    // Gone before it was looked at.
    if (raw.remoteAddress === undefined) return void raw.destroy()
    const address = addressGroup(raw.remoteAddress)
    if ((this.#byAddress.get(address) ?? 0) >= limits.connections.perAddress) {
      incidents.happened('address_connections', `address ${address}`)
      return void raw.destroy()
    }
    if (this.#all.size >= this.#limit && !this.#makeRoom(address)) return void raw.destroy()
    sweeper.wake()
    const connection = new Connection({
      overload: this.#overload,
      intake: this.#intake,
      raw,
      address,
      reserved: this.#reserved,
      identified: (identified, user) => this.#identify(identified, user),
      broke: (broken) => this.#handshakes.broke(broken.address),
    })
    const key = keyOf(raw)
    this.#all.set(key, connection)
    this.#unknown.add(connection)
    count(this.#byAddress, address, 1)
    raw.once('close', () => this.#remove(key, connection))
    return connection
  }

  /**
   * Calls `handshake` when the client has begun its own and it is its flow's turn, late where its address floods the
   * server.
   */
  begin(connection: Connection, raw: Socket, handshake: () => void): void {
    // TLS listens once it has begun. What happens before shows in `close`.
    raw.on('error', () => {})
    const inTurn = (): void =>
      whenGreeted(raw, () =>
        this.#gathered.add(connection, () => {
          if (raw.destroyed) return false
          handshake()
          return true
        }),
      )
    raw.once('close', this.#handshakes.begin(connection.address, inTurn))
  }

  /** The handshake is over. Undefined: the peer has left meanwhile. */
  secured(tls: TLSSocket): Connection | undefined {
    const connection = this.#all.get(keyOf(tls))
    if (connection === undefined) return undefined
    this.#intake.came(connection)
    connection.secured(tls)
    return connection
  }

  /** Undefined: the peer has left meanwhile. */
  ofSession(session: ServerHttp2Session): Connection | undefined {
    const connection = this.#all.get(keyOf(session.socket))
    connection?.speaksHttp2(session)
    return connection
  }

  /** Resolves when every HTTP/2 session has sent the answers that it owes, and has ended by itself. */
  async endSessions(): Promise<void> {
    const sessions = [...this.#all.values()].filter(({ isHttp2 }) => isHttp2)
    await Promise.all(
      sessions.map((connection) => {
        connection.leave()
        return connection.closed
      }),
    )
  }

  /** Closes the connections that are left, `now` or behind the bytes that were handed over to be sent. */
  close(now: boolean): void {
    this.#forget()
    for (const connection of this.#all.values()) {
      if (now) connection.destroy()
      else connection.destroySoon()
    }
  }

  *#ofFlow(flow: string): Generator<Connection> {
    for (const connection of this.#all.values()) if (connection.flow === flow) yield connection
  }

  #makeRoom(address: string): boolean {
    const { incidents } = this.#overload
    for (const connection of this.#unknown) {
      if (!connection.isIdle) continue
      incidents.happened('connections', connection.flow)
      connection.destroy()
      return true
    }
    incidents.happened('connections', `address ${address}`)
    return false
  }

  /** @throws StatusError TooManyRequests */
  #identify(connection: Connection, user: string): void {
    const { incidents, limits } = this.#overload
    const flow = flowOf(user)
    if ((this.#byUser.get(flow) ?? 0) >= limits.connections.perUser) {
      incidents.happened('user_connections', flow)
      connection.leave()
      throw tooManyRequests('You have too many connections, please close some or try again later.', 1)
    }
    if (!this.#unknown.delete(connection)) return
    count(this.#byAddress, connection.address, -1)
    count(this.#byUser, flow, 1)
  }

  #remove(key: string, connection: Connection): void {
    // The port may be in use again.
    if (this.#all.get(key) === connection) this.#all.delete(key)
    if (this.#unknown.delete(connection)) count(this.#byAddress, connection.address, -1)
    else if (connection.user !== undefined) count(this.#byUser, connection.flow, -1)
  }

  #look(nowMs: number): boolean {
    this.#lookAtAll(nowMs)
    return this.#all.size > 0
  }

  /** In slices: thousands of watches may be open. */
  readonly #lookAtAll = unlessUnderWay(async (nowMs: number) => {
    const slice = this.#turns.slice()
    let unread = 0
    for (const connection of this.#all.values()) {
      connection.look(nowMs)
      unread += connection.unreadBytes
      const pause = slice.pause()
      if (pause) await pause
    }
    if (unread > this.#overload.budget.limits.flowBytes) await this.#cutUnread(unread, slice)
  })

  /** Of the flow that has most the connection that has most, and so on: until no flow, and not all, have too much. */
  async #cutUnread(unread: number, slice: Slice): Promise<void> {
    const { totalBytes, flowBytes } = this.#overload.budget.limits
    const flows = [...Map.groupBy(this.#all.values(), ({ flow }) => flow).values()].map((connections) => {
      const each = connections.map((connection) => ({ connection, bytes: connection.unreadBytes }))
      return {
        bytes: each.reduce((sum, { bytes }) => sum + bytes, 0),
        smallestFirst: each.sort((a, b) => a.bytes - b.bytes),
      }
    })
    let left = unread
    for (;;) {
      const largest = flows.reduce((a, b) => (b.bytes > a.bytes ? b : a))
      if (left <= totalBytes && largest.bytes <= flowBytes) return
      const cut = largest.smallestFirst.pop()
      if (cut === undefined) return
      for (const _ of cut.connection.cutUnread()) {
        const pause = slice.pause()
        if (pause) await pause
      }
      largest.bytes -= cut.bytes
      left -= cut.bytes
    }
  }
}

const keyOf = ({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string =>
  `${remoteAddress} ${remotePort}`

function count(counts: Map<string, number>, key: string, change: number): void {
  const next = (counts.get(key) ?? 0) + change
  if (next > 0) counts.set(key, next)
  else counts.delete(key)
}

/** Files that are kept free of connections: for the store, its journal, modules, and the address for administrators. */
const keptFiles = 64

/** How many connections the system lets this process have. Infinity where it can't be found out. */
export function connectionsByFiles(): number {
  let text: string
  try {
    text = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return Number.POSITIVE_INFINITY
  }
  const soft = /^Max open files +(\d+)/m.exec(text)?.[1]
  return soft === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Number(soft) - keptFiles - openFiles())
}

function openFiles(): number {
  return readdirSync('/proc/self/fd').length
}
