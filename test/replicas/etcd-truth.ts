/** What an etcd says happened: a watch of its own, beside the replicas. */
import { EtcdStorage } from '../../src/storage/etcd/etcd-storage.ts'
import { type Change, prefixSpan } from '../../src/storage/storage.ts'
import { recordedSpans } from './recorded-load.ts'

export class EtcdTruth implements AsyncDisposable {
  readonly changes: Change[] = []
  readonly #storage: EtcdStorage
  readonly #stop = new AbortController()
  readonly #following: Promise<void>

  /** Follows from now on. */
  static async open(endpoints: readonly string[]): Promise<EtcdTruth> {
    const storage = await EtcdStorage.open({ endpoints })
    return new EtcdTruth(storage, await storage.currentRevision())
  }

  private constructor(storage: EtcdStorage, after: number) {
    this.#storage = storage
    this.#following = this.#follow(after)
  }

  /** Resolves when everything up to now has been seen. */
  async catchUp(): Promise<void> {
    const revision = await this.#storage.currentRevision()
    while (this.#seen < revision) await new Promise((resolve) => setTimeout(resolve, 20))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#following
    await this.#storage[Symbol.asyncDispose]()
  }

  #seen = 0

  async #follow(start: number): Promise<void> {
    const { signal } = this.#stop
    for (let after = start; !signal.aborted; ) {
      try {
        for await (const batch of this.#storage.watch(prefixSpan('/registry/'), after, signal)) {
          if (batch.type === 'progress') this.#seen = batch.revision
          else {
            for (const change of batch.changes) {
              after = change.revision
              if (recordedSpans.some((span) => change.key.startsWith(span))) this.changes.push(change)
            }
          }
        }
      } catch {
        // Resumed where it stopped: what matters is that nothing is missing at the end.
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }
}
