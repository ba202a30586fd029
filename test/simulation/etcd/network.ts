/**
 * The network between replicas and members of etcd, as TCP makes it: what is sent on one connection arrives in order,
 * late, or never; not twice. A way that is cut holds back what is sent until it is mended, or until keepalive finds the
 * connection dead. Each way of a link is cut by itself.
 */
import type { Clock } from '../../../src/base/clock.ts'
import type { Random } from '../../fuzz/random.ts'
import type { Scheduler } from '../scheduler.ts'
import type { EtcdCluster, EtcdMember } from './cluster.ts'

/** gRPC's ping, and its patience with the answer. */
const keepaliveMs = 9_000

/** A machine that a replica runs on. */
export interface Machine {
  readonly name: string
  readonly clock: Clock
  /** False: its process was killed. Nothing of it happens any more. */
  isAlive: boolean
}

export class Network {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly #cluster: EtcdCluster
  readonly #machines = new Map<string, Machine>()
  readonly #links = new Map<string, Link>()

  constructor(scheduler: Scheduler, random: Random, cluster: EtcdCluster) {
    this.scheduler = scheduler
    this.random = random
    this.#cluster = cluster
  }

  add(machine: Machine): void {
    this.#machines.set(machine.name, machine)
  }

  machine(name: string): Machine {
    const found = this.#machines.get(name)
    if (found === undefined) throw new Error(`there is no machine ${name}`)
    return found
  }

  get links(): readonly Link[] {
    return [...this.#links.values()]
  }

  /** From one process to one member. */
  link(machine: string, member: string): Link {
    const name = `${machine}-${member}`
    const found = this.#links.get(name)
    if (found !== undefined) return found
    const there = this.#cluster.members.find((each) => each.name === member)
    if (there === undefined) throw new Error(`there is no member ${member}`)
    const link = new Link(name, this, this.machine(machine), there)
    this.#links.set(name, link)
    return link
  }

  linksOf(member: EtcdMember): readonly Link[] {
    return this.links.filter((link) => link.member === member)
  }

  /** The process is killed: its connections end, and members learn of it. */
  kill(machine: string): void {
    this.machine(machine).isAlive = false
    for (const link of this.links) if (link.machine.name === machine) link.break('the process is gone')
  }
}

export type Way = 'there' | 'back'

export class Link {
  readonly name: string
  readonly machine: Machine
  readonly member: EtcdMember
  readonly #network: Network
  readonly #connections = new Set<Connection>()
  readonly #cut: Record<Way, boolean> = { there: false, back: false }
  /** Added to each delay. */
  slowMs = 0
  #cuts = 0

  constructor(name: string, network: Network, machine: Machine, member: EtcdMember) {
    this.name = name
    this.#network = network
    this.machine = machine
    this.member = member
  }

  get network(): Network {
    return this.#network
  }

  isCut(way: Way): boolean {
    return this.#cut[way]
  }

  cut(...ways: readonly Way[]): void {
    for (const way of ways) this.#cut[way] = true
    const cut = ++this.#cuts
    this.#network.scheduler.after(keepaliveMs, () => {
      if (this.#cuts === cut) this.break('Keepalive timeout')
    })
  }

  mend(): void {
    this.#cuts++
    this.#cut.there = false
    this.#cut.back = false
    for (const connection of this.#connections) connection.flush()
  }

  break(why: string): void {
    const broken = [...this.#connections]
    this.#connections.clear()
    for (const connection of broken) connection.break(why)
  }

  open(): Connection {
    const connection = new Connection(this)
    this.#connections.add(connection)
    return connection
  }

  close(connection: Connection): void {
    this.#connections.delete(connection)
  }

  delayMs(): number {
    return 0.1 + this.#network.random.next() * 1.5 + this.slowMs * this.#network.random.next()
  }
}

/** One way of one stream: in order. */
interface Lane {
  lastDue: number
}

export class Connection {
  readonly #link: Link
  readonly #held: Record<Way, (() => void)[]> = { there: [], back: [] }
  readonly #onBreak = new Set<(why: string) => void>()
  isOpen = true

  constructor(link: Link) {
    this.#link = link
  }

  lane(): Lane {
    return { lastDue: 0 }
  }

  send(way: Way, lane: Lane, arrive: () => void): void {
    const { scheduler } = this.#link.network
    const due = Math.max(lane.lastDue, scheduler.now + this.#link.delayMs())
    lane.lastDue = due
    scheduler.after(due - scheduler.now, () => this.#arrive(way, arrive))
  }

  onBreak(listener: (why: string) => void): () => void {
    this.#onBreak.add(listener)
    return () => this.#onBreak.delete(listener)
  }

  /** What a cut held back arrives now, in order, and before what is sent from now on. */
  flush(): void {
    this.#link.network.scheduler.after(this.#link.delayMs(), () => {
      for (const way of ['there', 'back'] as const) {
        if (this.#link.isCut(way)) continue
        for (const arrive of this.#held[way].splice(0)) this.#deliver(way, arrive)
      }
    })
  }

  close(): void {
    this.#link.close(this)
    this.break('Connection closed')
  }

  break(why: string): void {
    if (!this.isOpen) return
    this.isOpen = false
    for (const listener of [...this.#onBreak]) listener(why)
    this.#onBreak.clear()
  }

  #arrive(way: Way, arrive: () => void): void {
    if (this.#link.isCut(way) || this.#held[way].length > 0) {
      // What was sent before the connection broke may still arrive; what a cut held back does not.
      if (this.isOpen) this.#held[way].push(arrive)
    } else this.#deliver(way, arrive)
  }

  #deliver(way: Way, arrive: () => void): void {
    if (way === 'there' || (this.isOpen && this.#link.machine.isAlive)) arrive()
  }
}
