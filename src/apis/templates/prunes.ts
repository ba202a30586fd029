/** Where a version of a template would delete something: asked before anything is. */
import type { Namespace } from '../namespaces/types.ts'
import { identityOfApplied } from './applied-records.ts'
import { isDisabled, isOptedOut, type Matcher } from './match.ts'
import type { PopulatedIndex } from './populated-index.ts'
import { wantedIn } from './render.ts'
import { limitOf } from './rollout-limits.ts'
import { confirmPruneAnnotation } from './types.ts'

/** Namespaces that hold something of the template which `version` does not give them. */
export function namespacesToPrune(
  version: Matcher,
  index: PopulatedIndex,
  findNamespace: (name: string) => Namespace | undefined,
): string[] {
  const { name: template = '', deletionTimestamp } = version.template.metadata
  const isDeleted = deletionTimestamp !== undefined
  if (isDisabled(version.template) && !isDeleted) return []
  const pruned: string[] = []
  for (const name of index.holdings.namespacesOf(template)) {
    const namespace = findNamespace(name)
    if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined || isOptedOut(namespace)) continue
    if (isDeleted || !version.selects(namespace) || holdsMore(version, index, namespace)) pruned.push(name)
  }
  return pruned
}

export interface PruneExcess {
  /** How many namespaces are allowed, and what says so. */
  readonly allowed: string
  /** What lets it happen all the same. */
  readonly confirmation: string
}

/**
 * Whether a version would delete objects in more namespaces than it may, unconfirmed; undefined = it may. `reached`:
 * namespaces that it selects or holds something in.
 */
export function excessOf({ template }: Matcher, pruned: number, reached: () => number): PruneExcess | undefined {
  const { name = '', annotations, generation } = template.metadata
  const { spec } = template
  // Orphaning destroys nothing.
  if (spec?.deletionPolicy === 'Orphan') return undefined
  if (annotations?.[confirmPruneAnnotation] === String(generation)) return undefined
  const { maxPrune } = spec?.rollout ?? {}
  const most = limitOf(maxPrune, reached)
  if (pruned <= most) return undefined
  return {
    allowed: `spec.rollout.maxPrune allows ${maxPrune ?? `${most} (the default)`}`,
    confirmation: `kubectl annotate --overwrite namespacetemplate ${name} ${confirmPruneAnnotation}=${generation}`,
  }
}

function holdsMore({ template }: Matcher, index: PopulatedIndex, namespace: Namespace): boolean {
  const wanted = wantedIn([template], namespace)
  return index
    .claimsIn(namespace.metadata.name ?? '')
    .some((o) => o.template === template.metadata.name && !wanted.has(identityOfApplied(o)))
}
