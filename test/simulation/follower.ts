/** A client that follows one selection by watches, from server to server, and writes down what it was sent. */
import type { Client } from '../../src/client/client.ts'
import type { GroupVersionResource } from '../../src/kube/gvk.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { KubeObject } from '../../src/kube/types.ts'
import type { Random } from '../fuzz/random.ts'
import { contentOf, type Seen, type Selection } from './checks/watches.ts'
import { configMaps, contested, namespaces, secrets, type Target } from './load.ts'
import type { Scheduler } from './scheduler.ts'

const initialEventsEnd = 'k8s.io/initial-events-end'
/** A watch that has ended, or could not be opened, is taken up again after this. */
const pauseMs = 200
const longestMs = 8_000

export interface FollowerOptions {
  readonly name: string
  readonly scheduler: Scheduler
  readonly random: Random
  readonly targets: readonly Target[]
  readonly resource: GroupVersionResource
  readonly selection: Selection
  /** Reads the state by the watch itself, not by a list. */
  readonly initialEvents: boolean
  /** How often it goes to another server as soon as it has seen something. */
  readonly hops?: number
}

export class Follower {
  readonly seen: Seen[] = []
  readonly #options: FollowerOptions
  /** Resumed after this; undefined = the state must be read. */
  #revision: number | undefined
  #isOver = false
  #stop: (() => void) | undefined

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  get selection(): Selection {
    return this.#options.selection
  }

  stop(): void {
    this.#isOver = true
    this.#stop?.()
  }

  async run(): Promise<void> {
    const { scheduler, random, targets, name } = this.#options
    while (!this.#isOver) {
      const target = random.pick(targets)
      const client = target.client()
      let hops = false
      try {
        if (client !== undefined) hops = (await this.#follow(target, client)) === 'hops'
      } catch (error) {
        const status = findStatusError(error)
        scheduler.tell(`${name} is cut off: ${status === undefined ? 'no answer' : `${status.code} ${status.message}`}`)
        if (status?.code === 410) this.#revision = undefined
      }
      if (!this.#isOver && !hops) await new Promise<void>((resolve) => void scheduler.after(pauseMs, resolve))
    }
  }

  async #follow(target: Target, client: Client): Promise<'hops' | undefined> {
    const { scheduler, random, resource, initialEvents, hops = 0 } = this.#options
    const stop = new AbortController()
    const timer = scheduler.after(longestMs * random.next(), () => stop.abort())
    this.#stop = () => stop.abort()
    try {
      if (this.#revision === undefined && !initialEvents) await this.#list(target, client, stop.signal)
      const reads = this.#revision === undefined
      const initial: KubeObject[] = []
      const from = reads ? { sendInitialEvents: true } : { resourceVersion: String(this.#revision) }
      scheduler.tell(`${this.name} watches ${target.name} after ${this.#revision ?? 'its initial events'}`)
      const stream = client.watch(resource, {
        ...this.#where(),
        ...from,
        allowWatchBookmarks: true,
        signal: stop.signal,
      })
      const events = stream[Symbol.asyncIterator]()
      const ended = new Promise<undefined>((resolve) => stop.signal.addEventListener('abort', () => resolve(undefined)))
      while (!stop.signal.aborted) {
        const next = await target.ask(Promise.race([events.next(), ended]))
        if (next === undefined || next.done) break
        const { type, object } = next.value
        if (this.#revision === undefined) {
          if (type === 'ADDED') initial.push(object)
          if (type === 'BOOKMARK' && object.metadata.annotations?.[initialEventsEnd] === 'true') {
            this.#sawState(Number(object.metadata.resourceVersion), initial)
          }
        } else {
          this.#saw(type, object)
          if (hops > 0 && random.chance(hops)) return 'hops'
        }
      }
      return undefined
    } finally {
      timer.cancel()
      stop.abort()
    }
  }

  #where(): { namespace?: string; labelSelector?: string } {
    const { namespace, label } = this.#options.selection
    return {
      ...(namespace === '' ? {} : { namespace }),
      ...(label === undefined ? {} : { labelSelector: label.join('=') }),
    }
  }

  async #list(target: Target, client: Client, signal: AbortSignal): Promise<void> {
    const list = await target.ask(client.list(this.#options.resource, { ...this.#where(), signal }))
    this.#sawState(Number(list.metadata.resourceVersion), list.items)
  }

  #sawState(revision: number, objects: readonly KubeObject[]): void {
    const { scheduler, name } = this.#options
    this.#revision = revision
    const items = objects.map((object) => [nameOf(object), Number(object.metadata.resourceVersion)] as const)
    this.seen.push({ type: 'state', at: scheduler.now, revision, items })
    scheduler.tell(`${name} sees ${items.length} at ${revision}`)
  }

  #saw(type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK', object: KubeObject): void {
    const { scheduler, name } = this.#options
    const revision = Number(object.metadata.resourceVersion)
    this.#revision = revision
    scheduler.tell(`${name} sees ${type} ${nameOf(object)} at ${revision}`)
    const at = scheduler.now
    if (type === 'BOOKMARK') this.seen.push({ type, at, revision })
    else this.seen.push({ type, at, revision, name: nameOf(object), content: contentOf(object) })
  }
}

const nameOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`

/** What is followed in every world. */
export const followed: readonly Pick<FollowerOptions, 'name' | 'resource' | 'selection' | 'initialEvents'>[] = [
  {
    name: 'w-contested',
    resource: configMaps,
    selection: { resource: 'configmaps', namespace: contested },
    initialEvents: false,
  },
  {
    name: 'w-red',
    resource: configMaps,
    selection: { resource: 'configmaps', namespace: '', label: ['color', 'red'] },
    initialEvents: true,
  },
  {
    name: 'w-namespaces',
    resource: namespaces,
    selection: { resource: 'namespaces', namespace: '' },
    initialEvents: false,
  },
  {
    name: 'w-secrets',
    resource: secrets,
    selection: { resource: 'secrets', namespace: 'limited' },
    initialEvents: true,
  },
]
