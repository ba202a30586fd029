/**
 * The five conditions of a terminating namespace: upstream's types, reasons and sentences, followed by the names of
 * what blocks (ours), up to a bound.
 */
import type { NamespaceCondition } from './types.ts'

/** One object that is still there after it was told to go. */
export interface Remaining {
  /** `configmaps`, `widgets.ex.io` */
  readonly resource: string
  readonly name: string
  readonly finalizers: readonly string[]
}

export interface DeletionState {
  /** Number of objects left per `resource.group`, core ones with the dot kept: `configmaps.` */
  readonly remaining: ReadonlyMap<string, number>
  /** Some of them by name. */
  readonly named: readonly Remaining[]
  /** Number of objects per finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
  /** What went wrong while deleting, one line each. */
  readonly failures: readonly string[]
}

/** Objects named in a message before it says how many more there are. */
export const namedObjects = 10

const sortedEntries = (m: ReadonlyMap<string, number>): [string, number][] =>
  [...m].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))

function names(named: readonly Remaining[], total: number): string {
  if (named.length === 0) return ''
  const shown = named.slice(0, namedObjects).map((r) => `${r.resource}/${r.name}`)
  const more = total - shown.length
  return `: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function condition(type: string, bad: { reason: string; message: string } | undefined, good: [string, string]) {
  const [reason, message] = good
  return bad ? { type, status: 'True' as const, ...bad } : { type, status: 'False' as const, reason, message }
}

export function deletionConditions(state: DeletionState): NamespaceCondition[] {
  const total = [...state.remaining.values()].reduce((a, b) => a + b, 0)
  const blocked = state.named.filter((r) => r.finalizers.length > 0)
  const blockedTotal = [...state.finalizers.values()].reduce((a, b) => Math.max(a, b), blocked.length)
  return [
    condition('NamespaceDeletionDiscoveryFailure', undefined, [
      'ResourcesDiscovered',
      'All resources successfully discovered',
    ]),
    condition('NamespaceDeletionGroupVersionParsingFailure', undefined, [
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ]),
    condition(
      'NamespaceDeletionContentFailure',
      state.failures.length === 0
        ? undefined
        : {
            reason: 'ContentDeletionFailed',
            message:
              `Failed to delete all resource types, ${state.failures.length} remaining: ` +
              `${[...state.failures].sort().join(', ')}`,
          },
      ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
    ),
    condition(
      'NamespaceContentRemaining',
      state.remaining.size === 0
        ? undefined
        : {
            reason: 'SomeResourcesRemain',
            message: `Some resources are remaining: ${sortedEntries(state.remaining)
              .map(([resource, n]) => `${resource} has ${n} resource instances`)
              .join(', ')}${names(state.named, total)}`,
          },
      ['ContentRemoved', 'All content successfully removed'],
    ),
    condition(
      'NamespaceFinalizersRemaining',
      state.finalizers.size === 0
        ? undefined
        : {
            reason: 'SomeFinalizersRemain',
            message: `Some content in the namespace has finalizers remaining: ${sortedEntries(state.finalizers)
              .map(([finalizer, n]) => `${finalizer} in ${n} resource instances`)
              .join(', ')}${names(blocked, blockedTotal)}`,
          },
      ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    ),
  ]
}

/**
 * `fresh` over `old`: other conditions stay, `lastTransitionTime` moves only when a status flips. Undefined if nothing
 * differs.
 */
export function mergeConditions(
  old: readonly NamespaceCondition[],
  fresh: readonly NamespaceCondition[],
  now: string,
): NamespaceCondition[] | undefined {
  const byType = new Map(old.map((c) => [c.type, c]))
  let changed = false
  for (const next of fresh) {
    const before = byType.get(next.type)
    if (before?.status === next.status && before.reason === next.reason && before.message === next.message) continue
    changed = true
    const flipped = before?.status !== next.status
    byType.set(next.type, { ...next, lastTransitionTime: flipped ? now : (before?.lastTransitionTime ?? now) })
  }
  return changed ? [...byType.values()] : undefined
}
