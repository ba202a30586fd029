/**
 * A set of field paths as a trie, in the very shape of FieldsV1, so that reading and writing managedFields costs
 * nothing: an inner node maps path elements to nodes, `.` marks an inner node that is itself in the set, and `{}` is a
 * node that is in the set with nothing below it.
 *
 * Invariants: keys are canonical and in the order of `compareSiblings`; `.` never stands alone; no node exists without
 * a member at or below it. The root stands for the whole object, which has no owner: `{}` there is the empty set.
 *
 * Sets are immutable and share structure; an operation that changes nothing returns its argument.
 * @see sigs.k8s.io/structured-merge-diff/v6 fieldpath/set.go
 */
import type { Resumable } from '../../base/resumable.ts'
import {
  canonicalElement,
  compareSiblings,
  type PathElement,
  type Sibling,
  showElement,
  siblingOf,
} from './path-element.ts'

export interface FieldSet {
  readonly [element: PathElement]: FieldSet
}

export const emptySet: FieldSet = Object.freeze({})
/** A node in the set with nothing below. */
export const leaf: FieldSet = emptySet

/** Marks a node that is itself in the set. */
export const self = '.'

/** Beginning to go through a set of many members costs as much as going through all of them, so `.` is asked first. */
export function isEmpty(set: FieldSet): boolean {
  if (self in set) return false
  for (const _ in set) return false
  return true
}

/** Of a node below the root: is it in the set itself? */
export const isMember = (node: FieldSet): boolean => self in node || isEmpty(node)

export const hasChildren = (node: FieldSet): boolean => {
  for (const key in node) if (key !== self) return true
  return false
}

export const find = (set: FieldSet, element: PathElement): FieldSet | undefined => set[element]

/** The node, now in the set itself. */
export function withSelf(node: FieldSet | undefined): FieldSet {
  if (node === undefined || isMember(node)) return node ?? leaf
  return { [self]: leaf, ...node }
}

/** What lies below the node, as a node that is not in the set itself; undefined if nothing does. */
export function withoutSelf(node: FieldSet): FieldSet | undefined {
  if (!(self in node)) return isEmpty(node) ? undefined : node
  const { [self]: _, ...children } = node
  return children
}

/** Puts the elements in order; takes ownership of `node`. */
export function orderMembers(node: Record<PathElement, FieldSet>): FieldSet {
  const order = new OrderCheck()
  for (const key in node) if (!order.follows(key)) return sortMembers(node)
  return node
}

/** Whether elements stand in order, one after the other. */
export class OrderCheck {
  #previous: PathElement | undefined
  #sibling: Sibling | undefined

  follows(key: PathElement): boolean {
    const previous = this.#previous
    this.#previous = key
    if (previous !== undefined && isPlainMember(key) && isPlainMember(previous)) {
      this.#sibling = undefined
      return withoutQuote(previous) <= withoutQuote(key)
    }
    if (isField(key) && (previous === undefined || isField(previous))) {
      this.#sibling = undefined
      return previous === undefined || previous <= key
    }
    const before = previous === undefined ? undefined : (this.#sibling ?? siblingOf(previous))
    this.#sibling = siblingOf(key)
    return before === undefined || compareSiblings(before, this.#sibling) <= 0
  }
}

function sortMembers(node: FieldSet): FieldSet {
  const result: Record<PathElement, FieldSet> = {}
  for (const element of inOrder(Object.keys(node))) result[element] = node[element] as FieldSet
  return result
}

const isField = (element: PathElement): boolean => element === self || element.startsWith('f:')

/** Sorts them where they are, or others. */
export function inOrder(elements: PathElement[]): readonly PathElement[] {
  // The order of fields is that of their texts, and maps of strings have many.
  if (elements.every(isField)) return elements.sort()
  // So is that of strings in a set, which end before their closing quote.
  const members = elements.filter((element) => element !== self)
  if (members.every(isPlainMember)) {
    const ordered = members.map(withoutQuote).sort().map(withQuote)
    return members.length === elements.length ? ordered : [self, ...ordered]
  }
  return elements
    .map(siblingOf)
    .sort(compareSiblings)
    .map(({ element }) => element)
}

/** `v:"text"` with nothing in it that JSON escapes. */
const isPlainMember = (element: PathElement): boolean => element.startsWith('v:"') && !element.includes('\\')
const withoutQuote = (element: PathElement): string => element.slice(0, -1)
const withQuote = (text: string): PathElement => `${text}"`

/** Pair by pair: one after the other, each would copy what those before it made. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 2) return union(sets[0] ?? emptySet, sets[1] ?? emptySet)
  const half = sets.length >>> 1
  return union(unionOf(sets.slice(0, half)), unionOf(sets.slice(half)))
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a
  if (isEmpty(a)) return b
  return merge(a, b)
}

function merge(a: FieldSet, b: FieldSet): FieldSet {
  let result: Record<PathElement, FieldSet> | undefined
  let grew = false
  for (const key in b) {
    const left = a[key]
    const right = b[key] as FieldSet
    const node = left === undefined ? right : unionNode(left, right)
    if (node === left) continue
    result ??= { ...a }
    result[key] = node
    grew ||= left === undefined
  }
  if (result === undefined) return a
  return grew ? orderMembers(result) : result
}

function unionNode(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  if (isEmpty(b)) return withSelf(a)
  if (isEmpty(a)) return withSelf(b)
  return merge(a, b)
}

/** The numbers of children of sets that are subtracted from many others. */
export type Sizes = Map<FieldSet, number>

/**
 * Members of `a` that are not members of `b`. Removing a parent leaves its children and the other way round.
 * `sizes` is for one large `b` that is subtracted from many small sets: each then costs its own size, not that of `b`.
 */
export function difference(a: FieldSet, b: FieldSet, sizes?: Sizes): FieldSet {
  return subtract(a, b, false, sizes) ?? emptySet
}

/** Members of `a` that are neither members of `b` nor below one. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, true) ?? emptySet
}

/** `difference` with places for a pause. */
export function* differing(a: FieldSet, b: FieldSet, sizes: Sizes): Resumable<FieldSet> {
  return (yield* subtracting(a, b, sizes)) ?? emptySet
}

const membersAtOnce = 1024

function* subtracting(a: FieldSet, b: FieldSet, sizes: Sizes): Resumable<FieldSet | undefined> {
  const changed = new Map<PathElement, FieldSet | undefined>()
  let passed = 0
  for (const key in smallerOf(a, b, sizes)) {
    if (++passed % membersAtOnce === 0) yield
    const left = key === self ? undefined : a[key]
    const right = b[key]
    if (left === undefined || right === undefined) continue
    const node =
      isEmpty(left) || sizeOf(right, sizes) === 0
        ? subtractNode(left, right, false, sizes)
        : remaining(yield* subtracting(left, right, sizes), self in right)
    if (node !== left) changed.set(key, node)
  }
  if (changed.size === 0) return a
  return yield* withChanged(a, changed)
}

function* withChanged(
  a: FieldSet,
  changed: ReadonlyMap<PathElement, FieldSet | undefined>,
): Resumable<FieldSet | undefined> {
  const result: Record<PathElement, FieldSet> = {}
  let kept = 0
  let passed = 0
  for (const key in a) {
    if (++passed % membersAtOnce === 0) yield
    const node = changed.has(key) ? changed.get(key) : a[key]
    if (node === undefined) continue
    result[key] = node
    kept++
  }
  return kept === 0 ? undefined : result
}

/** Undefined if nothing is left. */
function subtract(a: FieldSet, b: FieldSet, deep: boolean, sizes?: Sizes): FieldSet | undefined {
  const changed = new Map<PathElement, FieldSet | undefined>()
  for (const key in sizes === undefined ? b : smallerOf(a, b, sizes)) {
    const left = key === self ? undefined : a[key]
    const right = b[key]
    if (left === undefined || right === undefined) continue
    const node = subtractNode(left, right, deep, sizes)
    if (node !== left) changed.set(key, node)
  }
  if (changed.size === 0) return a
  const result: Record<PathElement, FieldSet> = {}
  let isNothing = true
  for (const key in a) {
    const node = changed.has(key) ? changed.get(key) : a[key]
    if (node === undefined) continue
    result[key] = node
    isNothing = false
  }
  return isNothing ? undefined : result
}

/** Below this it does not matter which is gone through. */
const fewChildren = 8

/** Asking a large object whether it has a member at all costs as much as counting them. */
function sizeOf(set: FieldSet, sizes: Sizes): number {
  let size = sizes.get(set)
  if (size === undefined) {
    size = Object.keys(set).length
    sizes.set(set, size)
  }
  return size
}

function smallerOf(a: FieldSet, b: FieldSet, sizes: Sizes): FieldSet {
  const size = sizeOf(b, sizes)
  if (size <= fewChildren) return b
  let ofA = 0
  for (const _ in a) if (++ofA > size) return b
  return a
}

function subtractNode(a: FieldSet, b: FieldSet, deep: boolean, sizes: Sizes | undefined): FieldSet | undefined {
  const removed = sizes === undefined ? isMember(b) : self in b || sizeOf(b, sizes) === 0
  if (removed && deep) return undefined
  if (isEmpty(a)) return removed ? undefined : a
  return remaining(subtract(a, b, deep, sizes), removed)
}

/** Of a node with something below it. */
function remaining(rest: FieldSet | undefined, removed: boolean): FieldSet | undefined {
  if (rest === undefined) return undefined
  // Only `.` is left: the node is a member with nothing below.
  if (!hasChildren(rest)) return removed ? undefined : leaf
  return removed ? withoutSelf(rest) : rest
}

/** Also of what a client sent in place of a set. */
export function equalSets(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [left, right] = [a as FieldSet, b as FieldSet]
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  for (const key of keys) if (right[key] === undefined || !equalSets(left[key], right[key])) return false
  return true
}

export function has(set: FieldSet, path: readonly PathElement[]): boolean {
  let node: FieldSet | undefined = set
  for (const element of path) {
    node = node[element]
    if (node === undefined) return false
  }
  return path.length > 0 && isMember(node)
}

/**
 * The path of each member: the members among siblings first, then what is below each (upstream's order). With a stack
 * of its own: sets are as deep as what they are of.
 */
function* membersOf<P>(set: FieldSet, root: P, below: (path: P, element: PathElement) => P): Generator<P> {
  const stack: (readonly [FieldSet, P])[] = [[set, root]]
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [node, prefix] = top
    const inner: (readonly [FieldSet, P])[] = []
    for (const key in node) {
      if (key === self) continue
      const child = node[key] as FieldSet
      const path = below(prefix, key)
      const hasNothing = isEmpty(child)
      if (!hasNothing) inner.push([child, path])
      if (hasNothing || self in child) yield path
    }
    for (let next = inner.pop(); next !== undefined; next = inner.pop()) stack.push(next)
  }
}

export const pathsOf = (set: FieldSet): (readonly PathElement[])[] => [
  ...membersOf<readonly PathElement[]>(set, [], (path, element) => [...path, element]),
]

/** As `showPath` says them, one after the other: in all they may be far longer than the set. */
export const shownMembers = (set: FieldSet): Generator<string> =>
  membersOf(set, '', (path, element) => path + showElement(element))

export function setOf(paths: Iterable<readonly PathElement[]>): FieldSet {
  let set = emptySet
  for (const path of paths) {
    if (path.length === 0) continue
    set = union(
      set,
      path.reduceRight<FieldSet>((node, element) => ({ [element]: node }), leaf),
    )
  }
  return set
}

/**
 * Reads FieldsV1 that another program wrote: any order, any spelling of keys, elements of unknown kinds dropped. What
 * is in good order already is returned as it is.
 * @throws SyntaxError
 */
export function parseFieldSet(fields: unknown): FieldSet {
  return parseChildren(fields).children ?? emptySet
}

function parseChildren(fields: unknown): { readonly children: FieldSet | undefined; readonly member: boolean } {
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) throw new SyntaxError('not an object')
  const given = fields as Record<string, unknown>
  const result: Record<PathElement, FieldSet> = {}
  let asGiven = true
  let member = false
  for (const key in given) {
    if (key === self) {
      member = true
      continue
    }
    const element = canonicalElement(key)
    const child = parseChildren(given[key])
    if (element === undefined) {
      asGiven = false
      continue
    }
    const node = child.member ? withSelf(child.children) : (child.children ?? leaf)
    const earlier = result[element]
    result[element] = earlier === undefined ? node : unionNode(earlier, node)
    asGiven &&= element === key && (node === given[key] || (child.children === undefined && isBare(given[key])))
  }
  if (isEmpty(result)) return { children: undefined, member: true }
  const children = orderMembers(member ? { [self]: leaf, ...result } : result)
  return { children: asGiven && sameOrder(children, given) ? (given as FieldSet) : children, member }
}

/** A leaf is written `{}`; `{".":{}}` means the same and is not canonical. */
const isBare = (value: unknown): boolean => typeof value === 'object' && value !== null && isEmpty(value as FieldSet)

function sameOrder(a: object, b: object): boolean {
  const left = Object.keys(a)
  const right = Object.keys(b)
  return left.length === right.length && left.every((key, i) => key === right[i])
}
