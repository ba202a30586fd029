/** Replicas on one store that are cut off in the middle of what they write; another takes the place of each. */
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import type { Client } from '../../src/client/client.ts'
import type { Storage } from '../../src/storage/storage.ts'
import type { StorageChoice } from '../../src/storage/storage-choice.ts'
import { type Line, lineTo } from '../population/enforcement/killable-storage.ts'

interface Replica {
  readonly plane: ControlPlane
  readonly line: Line
  readonly store: Storage
}

export class MortalReplicas implements AsyncDisposable {
  readonly #choice: StorageChoice
  readonly #open: () => Promise<Storage>
  readonly #replicas: Replica[]

  private constructor(choice: StorageChoice, open: () => Promise<Storage>, replicas: Replica[]) {
    this.#choice = choice
    this.#open = open
    this.#replicas = replicas
  }

  /** `open`: a connection of its own for each. */
  static async start(choice: StorageChoice, open: () => Promise<Storage>, count: number): Promise<MortalReplicas> {
    const replicas = await Promise.all(Array.from({ length: count }, () => startReplica(choice, open)))
    return new MortalReplicas(choice, open, replicas)
  }

  /** Of whichever replica stands in the place now. */
  client(i: number, username: string): Client {
    const user = { username, groups: ['system:masters', 'system:authenticated'] }
    const now = (): Client => this.#at(i).plane.client(user)
    return new Proxy(now(), {
      get(_, property) {
        const client = now()
        const value: unknown = Reflect.get(client, property, client)
        return typeof value === 'function' ? value.bind(client) : value
      },
    })
  }

  /** After so many more commits, of which the last is not answered. */
  async kill(i: number, commits: number): Promise<void> {
    const { plane, line, store } = this.#at(i)
    line.cutAfter(commits)
    await plane[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
    this.#replicas[i % this.#replicas.length] = await startReplica(this.#choice, this.#open)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { plane, store } of this.#replicas) {
      await plane[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    }
  }

  #at(i: number): Replica {
    const replica = this.#replicas[i % this.#replicas.length]
    if (replica === undefined) throw new Error('no replicas')
    return replica
  }
}

async function startReplica(storage: StorageChoice, open: () => Promise<Storage>): Promise<Replica> {
  const store = await open()
  const line = lineTo(store)
  const plane = await createControlPlane({ ...defaultConfig, storage }, { opened: Promise.resolve(line.storage) })
  return { plane, line, store }
}
