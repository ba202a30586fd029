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

interface GrowingNode extends FoundObject {
  readonly owned: GrowingNode[]
}

/** A chain of owners may be as long as a tenant likes: what is deeper stands beside the last that is not. */
const deepest = 20

/**
 * An object whose owner is not among `found` stands at the top: it is not lost because its owner is not shown. It takes
 * as many steps as there are owner references, whatever these are.
 */
export function treeOf(found: readonly FoundObject[]): readonly TreeGroup[] {
  const owners = ownersOf(found)
  const owned = Map.groupBy(
    found.filter((f) => owners.has(f)),
    (f) => owners.get(f),
  )
  const grow = (root: FoundObject): TreeNode => {
    const grown: GrowingNode = { ...root, owned: [] }
    const queue = [{ f: root, place: grown.owned, depth: 1 }]
    for (const { f, place, depth } of queue) {
      for (const child of (owned.get(f) ?? []).sort(byKindAndName)) {
        const node: GrowingNode = { ...child, owned: [] }
        place.push(node)
        queue.push({ f: child, place: depth < deepest ? node.owned : place, depth: depth + 1 })
      }
    }
    return grown
  }
  const roots = found.filter((f) => !owners.has(f)).sort(byKindAndName)
  const groups = Map.groupBy(roots, ({ object }) => object.metadata.labels?.[templateNameLabel] ?? '')
  return [...groups]
    .sort(([a], [b]) => (a === '' ? 1 : b === '' ? -1 : a < b ? -1 : 1))
    .map(([template, list]) => ({ template, roots: list.map(grow) }))
}

/** The first owner that is there, for each object. Clients write owner references: a circle of them has no owners. */
function ownersOf(found: readonly FoundObject[]): ReadonlyMap<FoundObject, FoundObject> {
  const byUid = new Map(found.map((f) => [f.object.metadata.uid, f]))
  const owners = new Map<FoundObject, FoundObject>()
  for (const f of found) {
    const known = f.object.metadata.ownerReferences?.map(({ uid }) => byUid.get(uid))
    const owner = known?.find((o) => o !== undefined && o !== f)
    if (owner !== undefined) owners.set(f, owner)
  }
  const seen = new Set<FoundObject>()
  for (const f of found) {
    const way = new Set<FoundObject>()
    let at: FoundObject | undefined = f
    for (; at !== undefined && !seen.has(at); at = owners.get(at)) {
      seen.add(at)
      way.add(at)
    }
    // Back on its own way: the rest of a circle is cut, member by member.
    while (at !== undefined && way.has(at)) {
      const next = owners.get(at)
      owners.delete(at)
      at = next
    }
  }
  return owners
}

/** The first `most` objects of a tree, in the order in which it is read. */
export function firstOf(tree: readonly TreeGroup[], most: number): readonly TreeGroup[] {
  let left = most
  const cut = (nodes: readonly TreeNode[]): readonly TreeNode[] => {
    const kept: TreeNode[] = []
    for (const node of nodes) {
      if (left === 0) break
      left--
      kept.push({ ...node, owned: cut(node.owned) })
    }
    return kept
  }
  return tree.flatMap(({ template, roots }) => (left === 0 ? [] : [{ template, roots: cut(roots) }]))
}

const sortKey = ({ kind, object }: FoundObject): string => `${kind.kind} ${object.metadata.name ?? ''}`
const byKindAndName = (a: FoundObject, b: FoundObject): number => (sortKey(a) < sortKey(b) ? -1 : 1)
