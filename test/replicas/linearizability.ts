/**
 * Checks what clients were told about one key against what the store says happened to it.
 *
 * The store's history gives the total order (the resourceVersion of each change); so there is nothing to search: what a
 * client was told is linearizable if it fits that order, and that order fits the clients' clocks. Five rules:
 *
 *   1. Every acknowledged write is in the history, at the revision and with the value that its answer named.
 *   2. Every change in the history was asked for by somebody, once.
 *   3. A change was made to the version that its writer expected: no update is lost.
 *   4. What ended before another began comes before it: a read, a write or a refusal that began after an answer is not
 *      older than that answer.
 *   5. Nobody saw, or was refused by, a change that had not been asked for yet.
 */

/** Times are of one clock, the test's. */
interface Timed {
  readonly began: number
  readonly ended: number
}

/** What one client did to the key and heard. Writes have ids, unique in the whole run. */
export type Operation = Timed &
  (
    | { readonly type: 'read'; readonly revision: number | 'absent' }
    /**
     * `expected`: the version that was to be replaced; `absent` = a create. `ended` is Infinity where nothing was
     * heard.
     */
    | {
        readonly type: 'write' | 'delete'
        readonly id: string
        readonly expected: number | 'absent'
        readonly outcome: 'acknowledged' | 'refused' | 'unknown'
        /** Of an acknowledged write. Deletes are not told theirs. */
        readonly revision?: number
      }
  )

/** One change of the key, in order. */
export interface Version {
  readonly revision: number
  /** Of the write; undefined = deleted. */
  readonly id: string | undefined
}

/** What is wrong, in words; empty = linearizable. */
export function violations(history: readonly Version[], operations: readonly Operation[]): string[] {
  const problems: string[] = []
  const writes = new Map(operations.flatMap((o) => (o.type === 'write' ? [[o.id, o] as const] : [])))
  const indexOf = new Map(history.map((version, i) => [version.revision, i]))
  /** The state before the first change is at -1. A state lasts until the next. */
  const stateAfter = (expected: number | 'absent'): number | undefined =>
    expected === 'absent' ? undefined : indexOf.get(expected)

  const began: number[] = []
  const seenIds = new Set<string>()
  for (const [i, { revision, id }] of history.entries()) {
    const before = history[i - 1]
    if (id === undefined) {
      const deleters = operations.filter(
        (o) => o.type === 'delete' && o.outcome !== 'refused' && o.expected === before?.revision,
      )
      if (deleters.length === 0) problems.push(`${revision}: a deletion that nobody asked for`)
      if (deleters.filter((o) => o.type === 'delete' && o.outcome === 'acknowledged').length > 1)
        problems.push(`${revision}: one deletion acknowledged to two`)
      began[i] = Math.min(...deleters.map((o) => o.began))
      continue
    }
    const write = writes.get(id)
    if (!write || write.type !== 'write' || write.outcome === 'refused' || seenIds.has(id)) {
      problems.push(`${revision}: ${id} is there, but ${write ? 'was refused, or is there twice' : 'nobody wrote it'}`)
      began[i] = Number.NEGATIVE_INFINITY
      continue
    }
    seenIds.add(id)
    began[i] = write.began
    const stood = before === undefined || before.id === undefined ? 'absent' : before.revision
    if (write.expected !== stood) problems.push(`${revision}: ${id} replaced ${stood}, and expected ${write.expected}`)
    if (write.outcome === 'acknowledged' && write.revision !== revision)
      problems.push(`${revision}: ${id} was acknowledged as ${write.revision}`)
  }
  for (const o of operations) {
    if (o.type === 'write' && o.outcome === 'acknowledged' && !seenIds.has(o.id))
      problems.push(`${o.id} was acknowledged as ${o.revision} and is lost`)
    if (o.type === 'delete' && o.outcome === 'acknowledged') {
      const i = stateAfter(o.expected)
      const next = i === undefined ? undefined : history[i + 1]
      if (next === undefined || next.id !== undefined)
        problems.push(`the deletion of ${o.expected} was acknowledged and is lost`)
    }
  }
  return [...problems, ...orderViolations(history, operations, began, stateAfter)]
}

/** Rules 4 and 5: every answer says which states it can have come from; time must be able to pass through them. */
function orderViolations(
  history: readonly Version[],
  operations: readonly Operation[],
  began: readonly number[],
  stateAfter: (expected: number | 'absent') => number | undefined,
): string[] {
  const problems: string[] = []
  const answered = operations.filter((o) => Number.isFinite(o.ended)).sort((a, b) => a.began - b.began)
  /** States of which somebody had heard at a time: the newest one, as steps. */
  const known: { readonly at: number; readonly state: number }[] = []
  const byEnd = answered
    .flatMap((o) => {
      const state = provenBy(o, history, stateAfter)
      return state === undefined ? [] : [{ at: o.ended, state }]
    })
    .sort((a, b) => a.at - b.at)
  for (const step of byEnd) if (step.state > (known.at(-1)?.state ?? -2)) known.push(step)
  const floorAt = (time: number): number => known.findLast((k) => k.at < time)?.state ?? -1

  for (const o of answered) {
    const possible = possibleStates(o, history, stateAfter)
    const floor = floorAt(o.began)
    const fits = possible.some((state) => state >= floor && (began[state] ?? Number.NEGATIVE_INFINITY) <= o.ended)
    if (possible.length > 0 && fits) continue
    const what = o.type === 'read' ? `a read of ${o.revision}` : `${o.type} of ${o.expected} (${o.outcome})`
    const past = history[floor]
    problems.push(
      `${what} from ${o.began} to ${o.ended} does not fit: ${past?.revision ?? 'the beginning'} was known before`,
    )
  }
  return problems
}

/** The state that had come when this answer was given; undefined where it does not say. */
function provenBy(
  o: Operation,
  history: readonly Version[],
  stateAfter: (expected: number | 'absent') => number | undefined,
): number | undefined {
  if (o.type === 'read') return o.revision === 'absent' ? undefined : stateAfter(o.revision)
  if (o.outcome !== 'acknowledged') return undefined
  if (o.type === 'write') return o.revision === undefined ? undefined : stateAfter(o.revision)
  const state = stateAfter(o.expected)
  return state === undefined || state + 1 >= history.length ? undefined : state + 1
}

/** Indices of the states that the key can have been in when this was answered. */
function possibleStates(
  o: Operation,
  history: readonly Version[],
  stateAfter: (expected: number | 'absent') => number | undefined,
): number[] {
  const all = Array.from({ length: history.length + 1 }, (_, i) => i - 1)
  const isAbsent = (state: number): boolean => history[state]?.id === undefined
  if (o.type === 'read') {
    if (o.revision === 'absent') return all.filter(isAbsent)
    const state = stateAfter(o.revision)
    return state === undefined ? [] : [state]
  }
  if (o.outcome === 'acknowledged') {
    const state = provenBy(o, history, stateAfter)
    return state === undefined ? [] : [state]
  }
  if (o.outcome === 'unknown') return all
  // Refused: it was not as expected.
  if (o.expected === 'absent') return all.filter((state) => !isAbsent(state))
  const expected = stateAfter(o.expected)
  return all.filter((state) => state !== expected)
}
