/**
 * An etcd never goes back, and stays the same: what is asked after an answer is answered at that answer's revision or a
 * later one, by its cluster. One that was restored from a snapshot goes back, or is another cluster that may have come
 * further. What this process remembers is then of a history that is no more, and what its clients hold too, so nothing
 * more is asked or believed until it is started again.
 */
import { StorageError } from '../storage.ts'

interface Told {
  readonly revision?: number
  readonly cluster?: number
}

export class NewestRevision {
  #newest = 0
  /** Of the first answer; 0: none has told it. */
  #cluster = 0
  #fault: StorageError | undefined

  /** To be asked before a request: the least revision of its answer. @throws StorageError code=unavailable */
  get(): number {
    this.check()
    return this.#newest
  }

  /** @throws StorageError code=unavailable once etcd has gone back */
  check(): void {
    if (this.#fault !== undefined) throw this.#fault
  }

  /** @throws StorageError code=unavailable if the answer is of another cluster, or an older time than `least` */
  take(told: Told, least: number, endpoint: string): void {
    this.takeCluster(told, endpoint)
    const { revision = 0 } = told
    if (revision > 0 && revision < least) {
      const back = `has gone back from revision ${least} to ${revision}`
      this.#fail(`${back}, as after a restore from a snapshot, or where it was filled anew`, endpoint)
    }
    this.#newest = Math.max(this.#newest, revision)
  }

  /** @throws StorageError code=unavailable if it is another one than answered before */
  takeCluster({ cluster = 0 }: Told, endpoint: string): void {
    this.check()
    if (cluster === 0 || cluster === this.#cluster) return
    if (this.#cluster !== 0) this.#fail('is of another cluster than the one that answered before', endpoint)
    this.#cluster = cluster
  }

  #fail(what: string, endpoint: string): never {
    const remedy = 'nothing more is read or written: start every server of this store again'
    this.#fault = new StorageError('unavailable', `etcd at ${endpoint} ${what}; ${remedy}`)
    throw this.#fault
  }
}
