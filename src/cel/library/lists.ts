/**
 * Lists: Kubernetes' own functions, those of CEL's extension, and sets.
 * @see k8s.io/apiserver/pkg/cel/library/lists.go v0.36, cel-go ext/lists.go (version 3), ext/sets.go
 */
import type { Budget } from '../budget.ts'
import { compare, equal } from '../equality.ts'
import { fn, type Library, method } from '../functions.ts'
import { ArrayList, CelError, CelList, type CelValue, Duration, keyText, Optional, Uint } from '../values.ts'

const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']

const order = (a: CelValue, b: CelValue): number => compare(a, b) ?? 0

function extreme(list: CelList, name: string, budget: Budget, wanted: 1 | -1): CelValue {
  if (list.size === 0) throw new CelError(`${name} called on empty list`)
  let best = list.at(0)
  for (const item of list) {
    budget.work(1)
    if (order(item, best) * wanted > 0) best = item
  }
  return best
}

function isSorted(list: CelList, budget: Budget): boolean {
  for (let i = 1; i < list.size; i++) {
    budget.work(1)
    if (order(list.at(i - 1), list.at(i)) > 0) return false
  }
  return true
}

const add = (a: CelValue, b: CelValue): CelValue => {
  if (typeof a === 'bigint' && typeof b === 'bigint') {
    if (BigInt.asIntN(64, a + b) !== a + b) throw new CelError('return error for overflow')
    return a + b
  }
  if (typeof a === 'number' && typeof b === 'number') return a + b
  if (a instanceof Uint && b instanceof Uint) {
    if (BigInt.asUintN(64, a.value + b.value) !== a.value + b.value) throw new CelError('return error for overflow')
    return new Uint(a.value + b.value)
  }
  if (a instanceof Duration && b instanceof Duration) return new Duration(a.nanos + b.nanos)
  throw new CelError('no such overload')
}

const sum =
  (zero: CelValue) =>
  (list: CelList, budget: Budget): CelValue => {
    let total = zero
    for (const item of list) {
      budget.work(1)
      total = add(total, item)
    }
    return total
  }

function indexOf(list: CelList, value: CelValue, budget: Budget, backwards: boolean): bigint {
  for (let n = 0; n < list.size; n++) {
    const i = backwards ? list.size - 1 - n : n
    if (equal(list.at(i), value, budget)) return BigInt(i)
  }
  return -1n
}

const kubernetes: Library = [
  ...comparable.flatMap((t) => [
    method(`list_${t}_is_sorted_bool`, 'isSorted', [`list(${t})`, 'bool'], isSorted),
    method(`list_${t}_min_${t}`, 'min', [`list(${t})`, t], (l: CelList, b: Budget) => extreme(l, 'min', b, -1)),
    method(`list_${t}_max_${t}`, 'max', [`list(${t})`, t], (l: CelList, b: Budget) => extreme(l, 'max', b, 1)),
  ]),
  method('list_int_sum_int', 'sum', ['list(int)', 'int'], sum(0n)),
  method('list_uint_sum_uint', 'sum', ['list(uint)', 'uint'], sum(new Uint(0n))),
  method('list_double_sum_double', 'sum', ['list(double)', 'double'], sum(0)),
  method('list_duration_sum_duration', 'sum', ['list(duration)', 'duration'], sum(new Duration(0n))),
  method('list_a_index_of_int', 'indexOf', ['list(A), A', 'int'], (l: CelList, v: CelValue, b: Budget) =>
    indexOf(l, v, b, false),
  ),
  method('list_a_last_index_of_int', 'lastIndexOf', ['list(A), A', 'int'], (l: CelList, v: CelValue, b: Budget) =>
    indexOf(l, v, b, true),
  ),
]

const contains = (list: CelList, value: CelValue, budget: Budget): boolean => {
  for (const item of list) if (equal(item, value, budget)) return true
  return false
}

function containsAll(a: CelList, b: CelList, budget: Budget): boolean {
  for (const item of b) {
    budget.charge(a.size)
    if (!contains(a, item, budget)) return false
  }
  return true
}

const sets: Library = [
  fn('list_sets_contains_list', 'sets.contains', ['list(A), list(A)', 'bool'], containsAll),
  fn(
    'list_sets_equivalent_list',
    'sets.equivalent',
    ['list(A), list(A)', 'bool'],
    (a: CelList, b: CelList, budget: Budget) => {
      return containsAll(a, b, budget) && containsAll(b, a, budget)
    },
  ),
  fn(
    'list_sets_intersects_list',
    'sets.intersects',
    ['list(A), list(A)', 'bool'],
    (a: CelList, b: CelList, budget: Budget) => {
      for (const item of b) {
        budget.charge(a.size)
        if (contains(a, item, budget)) return true
      }
      return false
    },
  ),
]

/** Upstream's bound on what `lists.range` makes, so that a number does not become memory. */
const maxRange = 1_000_000n

function slice(list: CelList, from: bigint, to: bigint, budget: Budget): CelList {
  if (from < 0n || to < 0n) throw new CelError(`cannot slice(${from}, ${to}), negative indexes not supported`)
  if (from > to) throw new CelError(`cannot slice(${from}, ${to}), start index must be less than or equal to end index`)
  if (to > list.size) throw new CelError(`cannot slice(${from}, ${to}), list is length ${list.size}`)
  budget.charge(Number(to - from))
  return new ArrayList(Array.from({ length: Number(to - from) }, (_, i) => list.at(Number(from) + i)))
}

function flatten(list: CelList, depth: bigint, budget: Budget): CelList {
  if (depth < 0n) throw new CelError('level must be non-negative')
  const out: CelValue[] = []
  const visit = (of: CelList, left: bigint): void => {
    for (const item of of) {
      budget.charge(1)
      if (item instanceof CelList && left > 0n) visit(item, left - 1n)
      else out.push(item)
    }
  }
  visit(list, depth)
  return new ArrayList(out)
}

function distinct(list: CelList, budget: Budget): CelList {
  const out: CelValue[] = []
  const keys = new Set<string>()
  for (const item of list) {
    budget.charge(1)
    if (typeof item !== 'object') {
      const key = keyText(item)
      if (keys.has(key)) continue
      keys.add(key)
    } else {
      budget.charge(out.length)
      if (out.some((o) => equal(o, item, budget))) continue
    }
    out.push(item)
  }
  return new ArrayList(out)
}

function sortBy(list: CelList, keys: CelList, budget: Budget): CelList {
  budget.charge(Math.ceil(list.size * Math.log2(list.size + 2)))
  const pairs = [...list].map((item, i) => [keys.at(i), item] as const)
  pairs.sort(([a], [b]) => order(a, b))
  return new ArrayList(pairs.map(([, item]) => item))
}

const extension: Library = [
  method('list_slice', 'slice', ['list(A), int, int', 'list(A)'], slice),
  method('list_flatten', 'flatten', ['list(list(A))', 'list(A)'], (l: CelList, b: Budget) => flatten(l, 1n, b)),
  method('list_flatten_int', 'flatten', ['list(dyn), int', 'list(dyn)'], flatten),
  fn('lists_range', 'lists.range', ['int', 'list(int)'], (n: bigint, budget: Budget) => {
    if (n > maxRange) throw new CelError(`range size exceeds limit: ${maxRange}`)
    budget.charge(Number(n < 0n ? 0n : n))
    return new ArrayList(Array.from({ length: Number(n < 0n ? 0n : n) }, (_, i) => BigInt(i)))
  }),
  method('list_distinct', 'distinct', ['list(A)', 'list(A)'], distinct),
  method('list_reverse', 'reverse', ['list(A)', 'list(A)'], (l: CelList, budget: Budget) => {
    budget.charge(l.size)
    return new ArrayList([...l].reverse())
  }),
  ...comparable.map((t) =>
    method(`list_${t}_sort`, 'sort', [`list(${t})`, `list(${t})`], (l: CelList, b: Budget) => sortBy(l, l, b)),
  ),
  ...comparable.map((t) =>
    method(`list_${t}_sortByAssociatedKeys`, '@sortByAssociatedKeys', [`list(T), list(${t})`, 'list(T)'], sortBy),
  ),
  method('list_first', 'first', ['list(A)', 'optional_type(A)'], (l: CelList) => {
    return l.size === 0 ? Optional.none : new Optional(l.at(0))
  }),
  method('list_last', 'last', ['list(A)', 'optional_type(A)'], (l: CelList) => {
    return l.size === 0 ? Optional.none : new Optional(l.at(l.size - 1))
  }),
]

export const listsLibrary: Library = [...kubernetes, ...sets, ...extension]
