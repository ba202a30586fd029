/** The algebra of field sets (`field-set.ts`) with places for a pause: an object may have 29,000 fields. */
import type { Resumable } from '../../base/resumable.ts'
import { emptySet, type FieldSet, inOrder, isEmpty, isMember, leaf, self, withSelf } from './field-set.ts'
import type { PathElement } from './path-element.ts'

const membersAtOnce = 1024

/** Members of both. */
export function* intersecting(a: FieldSet, b: FieldSet): Resumable<FieldSet> {
  return (yield* common(a, b, false)) ?? emptySet
}

/** Undefined if nothing is. `isSelf`: the node itself is in both. */
function* common(a: FieldSet, b: FieldSet, isSelf: boolean): Resumable<FieldSet | undefined> {
  const result: Record<PathElement, FieldSet> = isSelf ? { [self]: leaf } : {}
  let kept = 0
  let passed = 0
  for (const key in a) {
    if (++passed % membersAtOnce === 0) yield
    const right = b[key]
    if (right === undefined || key === self) continue
    const left = a[key] as FieldSet
    const node =
      isEmpty(left) || isEmpty(right)
        ? commonLeaf(left, right)
        : yield* common(left, right, self in left && self in right)
    if (node === undefined) continue
    result[key] = node
    kept++
  }
  return kept > 0 ? result : isSelf ? leaf : undefined
}

/** Of two nodes of which one has nothing below it. */
const commonLeaf = (a: FieldSet, b: FieldSet): FieldSet | undefined => (isMember(a) && isMember(b) ? leaf : undefined)

/** `union` with places for a pause. */
export function* uniting(a: FieldSet, b: FieldSet): Resumable<FieldSet> {
  if (a === b || isEmpty(b)) return a
  return isEmpty(a) ? b : yield* merging(a, b)
}

function* merging(a: FieldSet, b: FieldSet): Resumable<FieldSet> {
  const changed: Record<PathElement, FieldSet> = {}
  const added: PathElement[] = []
  let hasChanged = false
  let passed = 0
  for (const key in b) {
    if (++passed % membersAtOnce === 0) yield
    const left = a[key]
    const right = b[key] as FieldSet
    if (left === undefined) added.push(key)
    let node = right
    if (left !== undefined && left !== right) {
      // In place: sets are as deep as what they are of, and each level is one call within another.
      if (isEmpty(right)) node = withSelf(left)
      else node = isEmpty(left) ? withSelf(right) : yield* merging(left, right)
    }
    if (node === left) continue
    changed[key] = node
    hasChanged = true
  }
  if (!hasChanged) return a
  yield
  const elements = added.length === 0 ? Object.keys(a) : inOrder([...Object.keys(a), ...added])
  yield
  const result: Record<PathElement, FieldSet> = {}
  for (const key of elements) {
    if (++passed % membersAtOnce === 0) yield
    result[key] = changed[key] ?? (a[key] as FieldSet)
  }
  return result
}

/** `unionOf` with places for a pause. */
export function* unitingAll(sets: readonly FieldSet[]): Resumable<FieldSet> {
  if (sets.length <= 2) return yield* uniting(sets[0] ?? emptySet, sets[1] ?? emptySet)
  const half = sets.length >>> 1
  const some = yield* unitingAll(sets.slice(0, half))
  return yield* uniting(some, yield* unitingAll(sets.slice(half)))
}
