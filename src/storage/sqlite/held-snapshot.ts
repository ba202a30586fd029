/**
 * Makes what a connection reads in one turn of the event loop one reading of the file: to begin and end one for each
 * value takes three system calls that the value itself does not. It ends with the turn, so the writer's log is not kept
 * from being taken up into the file.
 *
 * What was told by a new head is in the file already, but perhaps not in a reading that began before: then another one
 * begins.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Revision } from '../storage.ts'

export class HeldSnapshot implements Disposable {
  readonly #database: DatabaseSync
  readonly #head: () => Revision
  readonly #begin: StatementSync
  readonly #end: StatementSync
  /** undefined: none is held. */
  #heldAt: Revision | undefined
  #endOfTurn: NodeJS.Immediate | undefined

  constructor(database: DatabaseSync, head: () => Revision) {
    this.#database = database
    this.#head = head
    this.#begin = database.prepare('BEGIN')
    // Not COMMIT: it tells again of a page that could not be read, and nothing was written.
    this.#end = database.prepare('ROLLBACK')
  }

  /** What is read until the end of this turn is of one state of the file, which holds all up to the head. */
  hold(): void {
    const head = this.#head()
    if (this.#heldAt === head) return
    this.#release()
    this.#begin.get()
    this.#heldAt = head
    this.#endOfTurn ??= setImmediate(() => {
      this.#endOfTurn = undefined
      this.#release()
    })
  }

  [Symbol.dispose](): void {
    clearImmediate(this.#endOfTurn)
    this.#endOfTurn = undefined
    if (this.#database.isOpen) this.#release()
  }

  #release(): void {
    this.#heldAt = undefined
    // SQLite ends it by itself when the disk can't be read.
    if (this.#database.isTransaction) this.#end.get()
  }
}
