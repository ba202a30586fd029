/**
 * Groups of transactions on their way to the writer, and outcomes on their way back, in the main thread.
 */
import type { Expect, Revision, Transaction } from '../storage.ts'
import { type QueuedTicket, settle } from '../ticket.ts'
import { expectAbsent, expectNever, type PackedGroup, type PackedOutcomes, ValuePacker } from './messages.ts'
import { errorOf } from './sqlite-faults.ts'

export type Outcome =
  | { readonly type: 'committed'; readonly revision: Revision }
  /** Places in the guards followed by the writes. */
  | { readonly type: 'lost'; readonly places: readonly number[] }
  | { readonly type: 'fault'; readonly error: Error }

/** Arrays of their own, to be handed over with the message. */
export interface OwnedGroup extends PackedGroup {
  readonly numbers: Float64Array<ArrayBuffer>
  readonly values: Uint8Array<ArrayBuffer>
}

export function packGroup(
  group: readonly { readonly transaction: Transaction; readonly ticket: QueuedTicket }[],
  settledThrough: number,
): OwnedGroup {
  const numbers: number[] = []
  const keys: string[] = []
  let sizeBytes = 0
  for (const { transaction } of group) for (const { value } of transaction.writes) sizeBytes += value?.byteLength ?? 0
  const values = new ValuePacker(sizeBytes)
  for (const { transaction, ticket } of group) {
    numbers.push(ticket.id, transaction.guards.length, transaction.writes.length)
    for (const { key, expect } of transaction.guards) {
      keys.push(key)
      numbers.push(packExpect(key, expect))
    }
    for (const { key, value, expect } of transaction.writes) {
      keys.push(key)
      numbers.push(packExpect(key, expect), value?.byteLength ?? -1)
      if (value) values.add(value)
    }
  }
  return { type: 'commit', settledThrough, numbers: Float64Array.from(numbers), keys, values: values.take() }
}

/** A ticket is named only while its outcome is unknown here: the writer forgets what is settled. */
function packExpect(key: string, expect: Expect): number {
  const settled = settle(key, expect)
  if (settled === undefined) return typeof expect === 'object' ? -1 - expect.asLeftBy.id : expectNever
  if (settled === 'absent') return expectAbsent
  // A revision of 0 or less matches nothing, but would read as one of the marks.
  return settled === 'never' || settled <= 0 ? expectNever : settled
}

export function* outcomesOf({ numbers, faults }: PackedOutcomes): Generator<Outcome> {
  const errors = faults.map(errorOf)
  let n = 0
  const take = (): number => numbers[n++] as number
  while (n < numbers.length) {
    const first = take()
    if (first > 0) yield { type: 'committed', revision: first }
    else if (first < 0) yield { type: 'fault', error: errors[take()] as Error }
    else yield { type: 'lost', places: Array.from({ length: take() }, take) }
  }
}
