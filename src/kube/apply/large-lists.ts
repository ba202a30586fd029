/** Nodes of large lists, with pauses. To put the elements of 29,000 items in order alone takes 20 ms. */
import type { Slice } from '../../base/turns.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonValue } from '../types.ts'
import { type FieldSet, inOrder, OrderCheck, orderMembers } from './field-set.ts'
import { compareSiblings, type PathElement, type Sibling, siblingOf } from './path-element.ts'
import { addItems, type ItemIndex, type Items } from './shape.ts'
import { inParts, inWeighedParts, pausing, type Steps } from './steps.ts'

type Node = Record<PathElement, FieldSet>

const sortedAtOnce = 2048

/** What makes the nodes of items. */
export interface ItemNodes {
  weigh(found: Items): number
  nodeOf(found: Items): FieldSet
  /** Of one that is large. */
  makingNode(found: Items): Steps<FieldSet>
}

/** `indexList`. */
export function* indexing(schema: Schema, list: readonly JsonValue[], slice: Slice | undefined): Steps<ItemIndex> {
  const index: ItemIndex = new Map()
  yield* inParts(list, (part) => addItems(index, schema, part), slice)
  return index
}

/** A node for each item, into `node`. */
export function* makingItemNodes(
  schema: Schema,
  list: readonly JsonValue[],
  { weigh, nodeOf, makingNode }: ItemNodes,
  slice: Slice | undefined,
  node: Node = {},
): Steps<FieldSet> {
  const index = yield* indexing(schema, list, slice)
  yield* inWeighedParts(
    [...index],
    {
      weigh: ([, found]) => weigh(found),
      some: (part) => {
        for (const [element, found] of part) node[element] = nodeOf(found)
      },
      *large([element, found]) {
        node[element] = yield* makingNode(found)
      },
    },
    slice,
  )
  return yield* orderingMembers(node, slice)
}

/** `orderMembers`. */
export function* orderingMembers(node: Node, slice: Slice | undefined): Steps<FieldSet> {
  const elements = Object.keys(node)
  if (slice === undefined || elements.length <= sortedAtOnce) return orderMembers(node)
  if (yield* areInOrder(elements, slice)) return node
  let runs: (readonly PathElement[])[] = []
  yield* inParts(elements, (part) => runs.push(inOrder([...part])), slice)
  while (runs.length > 1) {
    const longer: (readonly PathElement[])[] = []
    for (let i = 0; i < runs.length; i += 2) longer.push(yield* merging(runs[i] ?? [], runs[i + 1] ?? [], slice))
    runs = longer
  }
  const ordered: Node = {}
  yield* inParts(
    runs[0] ?? [],
    (part) => {
      for (const element of part) ordered[element] = node[element] as FieldSet
    },
    slice,
  )
  return ordered
}

function* areInOrder(elements: readonly PathElement[], slice: Slice): Steps<boolean> {
  const order = new OrderCheck()
  for (let i = 0; i < elements.length; i++) {
    if (!order.follows(elements[i] as PathElement)) return false
    if ((i + 1) % sortedAtOnce === 0) yield* pausing(slice)
  }
  return true
}

function* merging(
  some: readonly PathElement[],
  others: readonly PathElement[],
  slice: Slice,
): Steps<readonly PathElement[]> {
  const merged: PathElement[] = []
  let [left, right] = [headOf(some, 0), headOf(others, 0)]
  for (let [i, j] = [0, 0]; left !== undefined || right !== undefined; ) {
    if (right === undefined || (left !== undefined && compareSiblings(left, right) <= 0)) {
      merged.push((left as Sibling).element)
      left = headOf(some, ++i)
    } else {
      merged.push(right.element)
      right = headOf(others, ++j)
    }
    if (merged.length % sortedAtOnce === 0) yield* pausing(slice)
  }
  return merged
}

function headOf(elements: readonly PathElement[], at: number): Sibling | undefined {
  const element = elements[at]
  return element === undefined ? undefined : siblingOf(element)
}
