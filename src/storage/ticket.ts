/**
 * Tickets of the embedded engines: what a transaction left behind, for those that follow it before it is durable.
 *
 * The outcome hangs on the ticket object itself, so it lives exactly as long as a caller may still name it.
 */
import type { Expect, Revision, Ticket, Transaction } from './storage.ts'
import { StorageError } from './storage.ts'

/** What a key must be, with tickets resolved. `never`: the transaction it follows has failed. */
export type Settled = Revision | 'absent' | 'never'

interface Left {
  readonly key: string
  readonly as: Settled
}

export class QueuedTicket implements Ticket {
  readonly id: number
  /** The storage object that issued it. */
  readonly issuer: object
  /** undefined = not known yet. Per named key the state right after the transaction; few, so looked for one by one. */
  #outcome: readonly Left[] | 'failed' | undefined
  #transaction: Transaction | undefined

  constructor(id: number, issuer: object, transaction: Transaction) {
    this.id = id
    this.issuer = issuer
    this.#transaction = transaction
  }

  names(key: string): boolean {
    const { guards, writes } = this.#transaction ?? {}
    if (guards && writes) return writes.some((w) => w.key === key) || guards.some((g) => g.key === key)
    return this.#outcome === 'failed' || this.#outcome?.some((left) => left.key === key) === true
  }

  /** undefined while the outcome is unknown. */
  leftAs(key: string): Settled | undefined {
    return this.#outcome === 'failed' ? 'never' : this.#outcome?.findLast((left) => left.key === key)?.as
  }

  committed(firstRevision: Revision): void {
    const { guards = [], writes = [] } = this.#transaction ?? {}
    const outcome: Left[] = []
    // Resolved now, not when asked: a chain of followers must not keep all its ancestors alive.
    for (const { key, expect } of guards) outcome.push({ key, as: settle(key, expect) ?? 'never' })
    let revision = firstRevision
    for (const { key, value } of writes) {
      outcome.push({ key, as: value === undefined ? 'absent' : revision })
      revision++
    }
    this.#outcome = outcome
    this.#transaction = undefined
  }

  failed(): void {
    this.#outcome = 'failed'
    this.#transaction = undefined
  }
}

/** What `expect` means for `key` now; undefined while it hangs on a transaction whose outcome is unknown. */
export function settle(key: string, expect: Expect): Settled | undefined {
  return typeof expect === 'object' ? (expect.asLeftBy as QueuedTicket).leftAs(key) : expect
}

/**
 * @throws StorageError code=invalid for a ticket of another storage object, or of a transaction that does not name the
 * key.
 */
export function checkTickets(transaction: Transaction, issuer: object): void {
  for (const { key, expect } of transaction.guards) checkTicket(key, expect, issuer)
  for (const { key, expect } of transaction.writes) checkTicket(key, expect, issuer)
}

function checkTicket(key: string, expect: Expect, issuer: object): void {
  if (typeof expect !== 'object') return
  const ticket = expect.asLeftBy
  if (!(ticket instanceof QueuedTicket) || ticket.issuer !== issuer) {
    throw new StorageError('invalid', `the ticket expected for ${key} is not of this storage`)
  }
  if (!ticket.names(key)) throw new StorageError('invalid', `transaction ${ticket.id} neither wrote nor guarded ${key}`)
}
