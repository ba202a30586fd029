/** Replicas of the control plane on one simulated etcd: started, killed, stopped, reached by clients. */
import { defaultConfig } from '../../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../../src/app/control-plane.ts'
import { type Log, silentLog } from '../../../src/base/log.ts'
import type { Client } from '../../../src/client/client.ts'
import { Random } from '../../fuzz/random.ts'
import { EtcdCluster } from '../etcd/cluster.ts'
import type { EtcdMvcc } from '../etcd/mvcc.ts'
import { Network } from '../etcd/network.ts'
import { configurationOf, SimulatedKms } from '../kms/kms.ts'
import { SimulatedMachine } from '../machine.ts'
import { simulated } from '../runtime/simulated-process.ts'
import type { Scheduler } from '../scheduler.ts'

export interface ReplicaOptions {
  readonly historyMs: number
  readonly checksums: boolean
  /** Values are encrypted, with keys of a key management service. */
  readonly encrypts?: boolean
}

/** What a server warns of stands in the trace. */
export function logOf(name: string, scheduler: Scheduler): Log {
  const tell = (level: string) => (fields: object, message: string) => {
    const { error } = fields as { readonly error?: unknown }
    scheduler.tell(`${name} ${level}: ${message}${error instanceof Error ? ` (${error.message})` : ''}`)
  }
  return { ...silentLog, warn: tell('warns'), error: tell('says') }
}

/** Nothing is known of what was asked. */
export class GoneError extends Error {}

/** One place for a process; after a crash another process takes it, with a new name on the network. */
export class Replica {
  readonly name: string
  readonly #world: ReplicaWorld
  #machine: SimulatedMachine
  #plane: ControlPlane | undefined
  #gone = Promise.withResolvers<never>()
  #starts = 0

  constructor(world: ReplicaWorld, name: string) {
    this.#world = world
    this.name = name
    this.#machine = world.machine(`${name}x0`)
    this.#gone.promise.catch(() => undefined)
  }

  get isServing(): boolean {
    return this.#plane !== undefined
  }

  get machine(): SimulatedMachine {
    return this.#machine
  }

  /** Tries until it serves, as a supervisor does. */
  async start(): Promise<void> {
    const { scheduler } = this.#world
    const start = ++this.#starts
    while (this.#plane === undefined && start === this.#starts) {
      const machine = this.#world.machine(`${this.name}x${this.#world.nextProcess()}`)
      this.#machine = machine
      try {
        const plane = await this.#unlessGone(createControlPlane(this.#world.configOf(machine)))
        this.#plane = plane
        scheduler.tell(`${this.name} serves`)
      } catch (error) {
        if (error instanceof GoneError) return
        scheduler.tell(`${this.name} does not start: ${String(error)}`)
        this.#world.network.kill(machine.name)
        await this.#world.pause(500)
      }
    }
  }

  /** As `kill -9`, or a machine that loses its power. */
  kill(): void {
    this.#starts++
    this.#world.scheduler.tell(`${this.name} is killed`)
    this.#world.network.kill(this.#machine.name)
    this.#plane = undefined
    const gone = this.#gone
    this.#gone = Promise.withResolvers<never>()
    this.#gone.promise.catch(() => undefined)
    gone.reject(new GoneError('the process is gone'))
  }

  async stop(): Promise<void> {
    const plane = this.#plane
    // Another process may take the place before this one has ended.
    const { name } = this.#machine
    this.#plane = undefined
    this.#starts++
    if (plane === undefined) return
    this.#world.scheduler.tell(`${this.name} stops`)
    try {
      await this.#unlessGone(plane[Symbol.asyncDispose]() as Promise<void>)
    } catch (error) {
      // It was killed meanwhile.
      if (error instanceof GoneError) return
      throw error
    }
    this.#world.network.kill(name)
    this.#world.scheduler.tell(`${this.name} has stopped`)
  }

  /** undefined: no process serves here. */
  client(user?: Parameters<ControlPlane['client']>[0]): Client | undefined {
    return this.#plane?.client(user)
  }

  /** As a client hears it: an answer, or a connection that broke. */
  ask<T>(work: Promise<T>): Promise<T> {
    return this.#unlessGone(work)
  }

  #unlessGone<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#gone.promise])
  }
}

export class ReplicaWorld {
  readonly scheduler: Scheduler
  readonly cluster: EtcdCluster
  readonly network: Network
  readonly replicas: readonly Replica[]
  readonly kms: SimulatedKms
  /** Keys of the store whose values could not be read for a while. */
  readonly damaged: Set<string> = new Set()
  readonly #seed: number
  readonly #options: ReplicaOptions
  #processes = 0

  constructor(
    scheduler: Scheduler,
    seed: number,
    store: EtcdMvcc,
    { replicas, ...options }: ReplicaOptions & { readonly replicas: number },
  ) {
    this.scheduler = scheduler
    this.#seed = seed
    this.#options = options
    const random = new Random(seed, 2)
    this.cluster = new EtcdCluster(scheduler, random, store, 3)
    this.network = new Network(scheduler, random, this.cluster)
    simulated.network = this.network
    this.kms = new SimulatedKms(new Random(seed, 9))
    simulated.kms = this.kms
    this.replicas = Array.from({ length: replicas }, (_, i) => new Replica(this, `r${i}`))
  }

  get targets(): readonly Replica[] {
    return this.replicas
  }

  nextProcess(): number {
    return ++this.#processes
  }

  machine(name: string): SimulatedMachine {
    const machine = new SimulatedMachine(name, this.scheduler, new Random(this.#seed, 3, this.#processes))
    this.network.add(machine)
    return machine
  }

  configOf({ name, clock, ids }: SimulatedMachine): Parameters<typeof createControlPlane>[0] {
    const { historyMs, checksums, encrypts = false } = this.#options
    const path = `/etc/${name}/encryption.json`
    if (encrypts) simulated.secretFiles.set(path, configurationOf(name))
    const endpoints = this.cluster.members.map((member) => `${name}.${member.name}:2379`)
    return {
      ...defaultConfig,
      storage: { engine: 'etcd', endpoints, prefix: '', checksums },
      ...(encrypts ? { encryption: { path, automaticReload: false } } : {}),
      history: { ...defaultConfig.history, ageMs: historyMs },
      clock,
      ids,
      log: logOf(name, this.scheduler),
    }
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.scheduler.after(ms, resolve))
  }

  async startAll(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.start()))
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop()))
  }

  /** What servers hold of what they could not read is read again. */
  restartAll(): void {
    for (const replica of this.replicas) {
      replica.kill()
      void replica.start()
    }
  }

  /** The etcd and the network are whole; processes that are gone start. */
  async heal(): Promise<void> {
    this.cluster.full = 'no'
    this.kms.heal()
    for (const member of this.cluster.members) {
      if (member.isLearner) member.promote(0)
      member.up = true
      member.joined = true
      member.lagMs = 3
    }
    for (const link of this.network.links) {
      link.slowMs = 0
      link.mend()
    }
    await Promise.all(this.replicas.map(async (replica) => (replica.isServing ? undefined : replica.start())))
  }
}
