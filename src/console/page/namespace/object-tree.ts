/** The objects of a namespace as a tree: under the template that keeps them, and below them what they own. */
import { templateNameLabel } from '../../../apis/templates/types.ts'
import type { ServedKind } from '../../../client/client.ts'
import type { KubeObject } from '../../../kube/types.ts'

export interface FoundObject {
  readonly kind: ServedKind
  readonly object: KubeObject
}

export interface TreeNode extends FoundObject {
  readonly owned: readonly TreeNode[]
}

export interface TreeGroup {
  /** '' = of no template. */
  readonly template: string
  readonly roots: readonly TreeNode[]
}

/** An object whose owner is not among `found` stands at the top: it is not lost because its owner is not shown. */
export function treeOf(found: readonly FoundObject[]): readonly TreeGroup[] {
  const byUid = new Map(found.map((f) => [f.object.metadata.uid, f]))
  const owned = new Map<string, FoundObject[]>()
  const roots: FoundObject[] = []
  for (const f of found) {
    const owner = f.object.metadata.ownerReferences?.find(({ uid }) => byUid.has(uid) && !isAbove(f, uid, byUid))
    if (owner === undefined) roots.push(f)
    else owned.set(owner.uid, [...(owned.get(owner.uid) ?? []), f])
  }
  const nodeOf = (f: FoundObject): TreeNode => ({
    ...f,
    owned: (owned.get(f.object.metadata.uid ?? '') ?? []).sort(byKindAndName).map(nodeOf),
  })
  const groups = new Map<string, FoundObject[]>()
  for (const root of roots) {
    const template = root.object.metadata.labels?.[templateNameLabel] ?? ''
    groups.set(template, [...(groups.get(template) ?? []), root])
  }
  return [...groups]
    .sort(([a], [b]) => (a === '' ? 1 : b === '' ? -1 : a < b ? -1 : 1))
    .map(([template, list]) => ({ template, roots: list.sort(byKindAndName).map(nodeOf) }))
}

/** Whether `f` is above the object of that uid: clients write owner references, and they may go round in a circle. */
function isAbove(f: FoundObject, uid: string, byUid: ReadonlyMap<string | undefined, FoundObject>): boolean {
  const seen = new Set<string>()
  for (const queue = [uid]; ; ) {
    const next = queue.pop()
    if (next === undefined) return false
    if (next === f.object.metadata.uid) return true
    if (seen.has(next)) continue
    seen.add(next)
    for (const owner of byUid.get(next)?.object.metadata.ownerReferences ?? []) queue.push(owner.uid)
  }
}

const sortKey = ({ kind, object }: FoundObject): string => `${kind.kind} ${object.metadata.name ?? ''}`
const byKindAndName = (a: FoundObject, b: FoundObject): number => (sortKey(a) < sortKey(b) ? -1 : 1)
