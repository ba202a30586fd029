/**
 * An etcd never goes back: what is asked after an answer is answered at that answer's revision or a later one. An etcd
 * that was restored from a snapshot does. What this process remembers is then of a history that is no more, and what
 * its clients hold too, so nothing more is asked or believed until it is started again.
 */
import { StorageError } from '../storage.ts'

interface Told {
  readonly revision?: number
}

export class NewestRevision {
  #newest = 0
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

  /** @throws StorageError code=unavailable if the answer is of an older time than `least` */
  take({ revision = 0 }: Told, least: number, endpoint: string): void {
    this.check()
    if (revision > 0 && revision < least) {
      this.#fault = new StorageError(
        'unavailable',
        `etcd at ${endpoint} has gone back from revision ${least} to ${revision}, as after a restore from a ` +
          'snapshot; nothing more is read or written: start every server of this store again',
      )
      throw this.#fault
    }
    this.#newest = Math.max(this.#newest, revision)
  }
}
