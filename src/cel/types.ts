/**
 * The types of CEL: of declared variables, of functions' parameters, and what the checker finds for each expression.
 * Plain data without behaviour of values; `values.ts` says which value is of which type.
 * @see https://github.com/google/cel-spec/blob/master/doc/langdef.md
 */

export type Kind =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'list'
  | 'map'
  | 'object'
  | 'opaque'
  | 'type'
  | 'param'

export interface CelType {
  readonly kind: Kind
  /** Of objects, opaque types and type parameters; else the kind's own. */
  readonly name: string
  /**
   * Of a list its items, of a map key and value, of an opaque type its parameters, of `type` what it is the type of.
   */
  readonly params: readonly CelType[]
  /** Of objects. */
  readonly fields?: ReadonlyMap<string, CelType>
  /** Of objects that may have any field, with any value. */
  readonly isOpen?: boolean
}

/** Finds a type that an expression names. */
export interface TypeNames {
  get(name: string): CelType | undefined
}

const simple = (kind: Kind, name: string = kind): CelType => ({ kind, name, params: [] })

export const boolType: CelType = simple('bool')
export const intType: CelType = simple('int')
export const uintType: CelType = simple('uint')
export const doubleType: CelType = simple('double')
export const stringType: CelType = simple('string')
export const bytesType: CelType = simple('bytes')
export const nullType: CelType = simple('null', 'null_type')
export const timestampType: CelType = simple('timestamp', 'google.protobuf.Timestamp')
export const durationType: CelType = simple('duration', 'google.protobuf.Duration')
export const dynType: CelType = simple('dyn')
export const errorType: CelType = simple('error', '!error!')

export const listOf = (item: CelType): CelType => ({ kind: 'list', name: 'list', params: [item] })
export const mapOf = (key: CelType, value: CelType): CelType => ({ kind: 'map', name: 'map', params: [key, value] })
export const typeOf = (of: CelType): CelType => ({ kind: 'type', name: 'type', params: [of] })
export const opaque = (name: string, params: readonly CelType[] = []): CelType => ({ kind: 'opaque', name, params })
export const optionalOf = (of: CelType): CelType => opaque('optional_type', [of])
export const typeParam = (name: string): CelType => ({ kind: 'param', name, params: [] })
export const objectType = (name: string, fields: ReadonlyMap<string, CelType>): CelType => ({
  kind: 'object',
  name,
  params: [],
  fields,
})
export const openObjectType = (name: string): CelType => ({ kind: 'object', name, params: [], isOpen: true })

export const isOptional = (type: CelType): boolean => type.kind === 'opaque' && type.name === 'optional_type'

const named: Readonly<Record<string, CelType>> = {
  bool: boolType,
  int: intType,
  uint: uintType,
  double: doubleType,
  string: stringType,
  bytes: bytesType,
  null_type: nullType,
  timestamp: timestampType,
  duration: durationType,
  dyn: dynType,
}

/** `map(K, list(string))`, `optional_type(net.IP)`: one capital is a type parameter, an unknown name an opaque type. */
export function parseType(text: string): CelType {
  const m = /^([\w.]+)(?:\((.*)\))?$/.exec(text.trim())
  if (!m) throw new Error(`not a type: ${text}`)
  const [, name = '', inner] = m
  if (inner === undefined) return named[name] ?? (/^[A-Z]$/.test(name) ? typeParam(name) : opaque(name))
  const params = splitParams(inner).map(parseType)
  const first = params[0] ?? dynType
  if (name === 'list') return listOf(first)
  if (name === 'map') return mapOf(first, params[1] ?? dynType)
  if (name === 'type') return typeOf(first)
  return opaque(name, params)
}

function splitParams(text: string): string[] {
  const out: string[] = []
  let depth = 0
  let start = 0
  for (let i = 0; i <= text.length; i++) {
    const c = text[i]
    if (c === '(') depth++
    else if (c === ')') depth--
    else if (c === undefined || (c === ',' && depth === 0)) {
      if (text.slice(start, i).trim() !== '') out.push(text.slice(start, i))
      start = i + 1
    }
  }
  return out
}

/** As upstream's compiler prints a type in its messages. */
export function printType(type: CelType): string {
  switch (type.kind) {
    case 'null':
    case 'timestamp':
    case 'duration':
      return type.kind
    default:
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(printType).join(', ')})`
  }
}

export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false
  return a.params.every((p, i) => sameType(p, b.params[i] ?? dynType))
}
