/** Values that may be missing. @see cel-go cel/library.go (OptionalTypes) */
import type { Budget } from '../budget.ts'
import { findAt } from '../evaluate.ts'
import { fn, type Library, method } from '../functions.ts'
import { ArrayList, CelError, CelList, CelMap, CelObject, type CelValue, Duration, Optional, Uint } from '../values.ts'

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0 || value === 0n) return true
  if (value instanceof Uint) return value.value === 0n
  if (value instanceof Uint8Array) return value.byteLength === 0
  if (value instanceof Duration) return value.nanos === 0n
  if (value instanceof CelList || value instanceof CelMap || value instanceof CelObject) return value.size === 0
  return value instanceof Optional && value.value === undefined
}

const at = (container: CelValue, key: CelValue): Optional => {
  if (container instanceof Optional) return container.value === undefined ? container : at(container.value, key)
  const found = findAt(container, key)
  return found === undefined ? Optional.none : new Optional(found)
}

function unwrap(list: CelList, budget: Budget): CelList {
  const out: CelValue[] = []
  for (const item of list) {
    budget.work(1)
    if (!(item instanceof Optional)) throw new CelError('no such overload')
    if (item.value !== undefined) out.push(item.value)
  }
  return new ArrayList(out)
}

export const optionalLibrary: Library = [
  fn('optional_of', 'optional.of', ['A', 'optional_type(A)'], (v: CelValue) => new Optional(v)),
  fn('optional_ofNonZeroValue', 'optional.ofNonZeroValue', ['A', 'optional_type(A)'], (v: CelValue) => {
    return isZero(v) ? Optional.none : new Optional(v)
  }),
  fn('optional_none', 'optional.none', ['', 'optional_type(A)'], () => Optional.none),
  fn('optional_unwrap', 'optional.unwrap', ['list(optional_type(A))', 'list(A)'], unwrap),
  method('optional_unwrapOpt', 'unwrapOpt', ['list(optional_type(A))', 'list(A)'], unwrap),
  method('optional_value', 'value', ['optional_type(A)', 'A'], ({ value }: Optional) => {
    if (value === undefined) throw new CelError('optional.none() dereference')
    return value
  }),
  method('optional_hasValue', 'hasValue', ['optional_type(A)', 'bool'], ({ value }: Optional) => value !== undefined),
  method(
    'optional_or_optional',
    'or',
    ['optional_type(A), optional_type(A)', 'optional_type(A)'],
    (a: Optional, b: Optional) => {
      return a.value === undefined ? b : a
    },
  ),
  method(
    'optional_orValue_value',
    'orValue',
    ['optional_type(A), A', 'A'],
    (a: Optional, b: CelValue) => a.value ?? (a.value === null ? null : b),
  ),
  fn('list_optindex_optional_int', '_[?_]', ['list(A), int', 'optional_type(A)'], at),
  fn('optional_list_optindex_optional_int', '_[?_]', ['optional_type(list(A)), int', 'optional_type(A)'], at),
  fn('map_optindex_optional_value', '_[?_]', ['map(A, B), A', 'optional_type(B)'], at),
  fn('optional_map_optindex_optional_value', '_[?_]', ['optional_type(map(A, B)), A', 'optional_type(B)'], at),
]
