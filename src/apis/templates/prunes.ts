/** Where a version of a template would delete something: asked before anything is. */
import type { KubeObject } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { identityOfApplied } from './applied-records.ts'
import { isDisabled, isOptedOut, type Matcher } from './match.ts'
import type { PopulatedIndex } from './populated-index.ts'
import { identityOf, substituteTokens } from './render.ts'

/** Namespaces that hold something of the template which `version` does not give them. */
export function namespacesToPrune(
  version: Matcher,
  index: PopulatedIndex,
  findNamespace: (name: string) => Namespace | undefined,
): string[] {
  if (isDisabled(version.template)) return []
  const template = version.template.metadata.name ?? ''
  const pruned: string[] = []
  for (const name of index.holdings.namespacesOf(template)) {
    const namespace = findNamespace(name)
    if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined || isOptedOut(namespace)) continue
    if (!version.selects(namespace) || holdsMore(version, index, namespace)) pruned.push(name)
  }
  return pruned
}

function holdsMore({ template }: Matcher, index: PopulatedIndex, namespace: Namespace): boolean {
  const wanted = new Set(
    (template.spec?.templates ?? []).map((o) => substituteTokens(identityOf(o as Partial<KubeObject>), namespace)),
  )
  return index
    .claimsIn(namespace.metadata.name ?? '')
    .some((o) => o.template === template.metadata.name && !wanted.has(identityOfApplied(o)))
}
