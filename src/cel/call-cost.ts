/**
 * What a call costs, in upstream's units: so that what runs there runs here, and what is refused there is refused here.
 * @see cel-go interpreter/runtimecost.go, k8s.io/apiserver/pkg/cel/library/cost.go (CallCost) v0.36
 */
import { CelList, CelMap, CelObject, type CelValue, costSize, OpaqueValue } from './values.ts'

export const textFactor = 0.1
export const patternFactor = 0.25
export const listBaseCost = 10
export const mapBaseCost = 30
export const objectBaseCost = 40
export const authorizationCost = 350_000
/** Longest pattern behind a named format. */
export const formatPatternSize = 128

const text = (length: number, factor = 1): number => Math.ceil(length * textFactor * factor)

function traversal(value: CelValue): number {
  if (typeof value === 'string') return Math.floor(value.length * textFactor)
  if (value instanceof Uint8Array) return Math.floor(value.byteLength * textFactor)
  if (value instanceof CelList) {
    let cost = 0
    for (const item of value) cost += traversal(item)
    return cost
  }
  if (value instanceof CelMap || value instanceof CelObject) return value.size * 2
  return 1
}

type Cost = (args: readonly CelValue[], result: CelValue, id: string) => number

const size = (args: readonly CelValue[], i: number): number => costSize(args[i] ?? null)
const first: Cost = (args) => text(size(args, 0))
const constant = (): number => 1
const match: Cost = (args) => text(1 + size(args, 0)) * Math.ceil(size(args, 1) * patternFactor)
const comparison: Cost = (args) => Math.ceil(Math.min(size(args, 0), size(args, 1)) * textFactor)
const traversed: Cost = (args) => traversal(args[0] ?? null)

/** Half a requirement for each character, and each makes a list and an object. */
export const selectorCost = (length: number): number =>
  listBaseCost + text(length) + Math.ceil(Math.ceil(length * 0.5) * (listBaseCost + objectBaseCost))

const costs: Readonly<Record<string, Cost>> = {
  check: () => authorizationCost,
  fieldSelector: (args) => selectorCost(size(args, 1)),
  labelSelector: (args) => selectorCost(size(args, 1)),
  isSorted: traversed,
  sum: traversed,
  max: traversed,
  min: traversed,
  indexOf: traversed,
  lastIndexOf: traversed,
  url: first,
  lowerAscii: first,
  upperAscii: first,
  substring: first,
  trim: first,
  'jsonpatch.escapeKey': first,
  replace: (args) => text(size(args, 0), 2),
  split: (args) => text(size(args, 0), 2),
  join: (_, result) => text(costSize(result), 2),
  find: match,
  findAll: match,
  cidr: first,
  isIP: first,
  isCIDR: first,
  ip: (args, _, id) => (id === 'cidr_ip' ? 1 : text(size(args, 0))),
  'ip.isCanonical': (args) => text(size(args, 0), 2),
  containsIP: (args, _, id) => text(size(args, 0) * 2) + (id === 'cidr_contains_ip_string' ? text(size(args, 1)) : 0),
  containsCIDR: (args, _, id) =>
    text(size(args, 0) * 2) + text(size(args, 0)) + 1 + (id === 'cidr_contains_cidr_string' ? text(size(args, 1)) : 0),
  quantity: first,
  isQuantity: first,
  semver: first,
  isSemver: first,
  validate: (args) => text(1 + size(args, 1)) * Math.ceil(formatPatternSize * patternFactor),
  startsWith: (args) => text(size(args, 0)),
  endsWith: (args) => text(size(args, 0)),
  bytes: first,
  string: (args, _, id) => (id === 'bytes_to_string' || id === 'string_to_string' ? text(size(args, 0)) : 1),
  'strings.quote': first,
  format: first,
  '@in': (args, _, id) => (id === 'in_list' ? size(args, 1) : 1),
  matches: match,
  contains: (args) => text(size(args, 0)) * text(size(args, 1)),
  '_==_': (args) => (args[0] instanceof OpaqueValue ? 1 : comparison(args, null, '')),
  '_!=_': comparison,
  '_<_': comparison,
  '_<=_': comparison,
  '_>_': comparison,
  '_>=_': comparison,
  '_+_': (args, _, id) => (id === 'add_string' || id === 'add_bytes' ? text(size(args, 0) + size(args, 1)) : 1),
}

/** Asked once for each call in an expression, when it is compiled. */
export const costOfCalls = (name: string): Cost => (Object.hasOwn(costs, name) ? (costs[name] ?? constant) : constant)
