/**
 * Schemas as declared types: what `self` is to the checker, how its JSON becomes values, and how large it can be at
 * most, from which costs are estimated.
 * @see k8s.io/apiserver/pkg/cel/common/schemas.go, pkg/cel/escaping.go, pkg/cel/limits.go v0.36
 */
import type { Schema } from '../kube/schema/schema.ts'
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  objectType,
  stringType,
  timestampType,
} from './types.ts'

export interface DeclaredType {
  readonly type: CelType
  /** Characters, items or entries at most; -1 = nothing is known of it. */
  readonly maxElements: number
  /** Bytes of the shortest JSON of it. */
  readonly minSize: number
  readonly items?: DeclaredType
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  /** Of a map. */
  readonly value?: DeclaredType
  /** Of an object, by the name that expressions use. */
  readonly fields?: ReadonlyMap<string, { readonly jsonName: string; readonly type: DeclaredType }>
  readonly byJsonName?: ReadonlyMap<string, DeclaredType>
}

/** Upstream's `MaxRequestSizeBytes`. */
const maxRequestBytes = 3 * 1024 * 1024
const nameMaxLength = 253

const scalar = (type: CelType, minSize: number, maxElements = -1): DeclaredType => ({ type, maxElements, minSize })

export const declaredDyn: DeclaredType = scalar(dynType, 1)
export const declaredString: DeclaredType = scalar(stringType, 2)
export const declaredBool: DeclaredType = scalar(boolType, 4)
export const declaredInt: DeclaredType = scalar(intType, 1)
export const declaredTimestamp: DeclaredType = scalar(timestampType, 21)

export function declaredList(items: DeclaredType, maxElements = -1): DeclaredType {
  return { type: listOf(items.type), maxElements, minSize: 2, items }
}

export function declaredMap(value: DeclaredType, maxElements = -1): DeclaredType {
  return { type: mapOf(stringType, value.type), maxElements, minSize: 2, value }
}

/** Fields whose names can't be written in an expression are left out. `spell` says how the others are written. */
export function declaredObject(
  name: string,
  fields: Readonly<Record<string, DeclaredType>> | ReadonlyMap<string, DeclaredType>,
  minSize = 2,
  spell: (name: string) => string | undefined = escapeName,
): DeclaredType {
  const byJsonName: ReadonlyMap<string, DeclaredType> =
    fields instanceof Map
      ? (fields as ReadonlyMap<string, DeclaredType>)
      : new Map(Object.entries(fields as Readonly<Record<string, DeclaredType>>))
  const escaped = [...byJsonName].flatMap(([jsonName, type]) => {
    const spelled = spell(jsonName)
    return spelled === undefined ? [] : [[spelled, { jsonName, type }] as const]
  })
  return {
    type: objectType(name, new Map(escaped.map(([spelled, { type }]) => [spelled, type.type]))),
    maxElements: -1,
    minSize,
    fields: new Map(escaped),
    byJsonName,
  }
}

const reserved: ReadonlySet<string> = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return ' +
    'var void while'
  ).split(' '),
)
const replacements: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** How a property's name is written in expressions; undefined if it can't be. */
export function escapeName(name: string): string | undefined {
  if (name === '' || /^\d/.test(name) || /[^\w./-]/.test(name)) return undefined
  if (reserved.has(name)) return `__${name}__`
  return name.replace(/__|[./-]/g, (found) => replacements[found] ?? found)
}

export interface DeclareOptions {
  /** The root of a resource: what every one of them has is there, whatever the schema says. */
  readonly isRoot: boolean
  readonly name: string
  /** Schemas around this one: one that contains itself ends there. */
  readonly around?: readonly Schema[]
}

/** Undefined where expressions can't see: nothing is known of the value. */
export function declareSchema(schema: Schema, options: DeclareOptions): DeclaredType | undefined {
  const { isRoot, name, around = [] } = options
  if (around.includes(schema)) return undefined
  const within = [...around, schema]
  if (schema.type === 'intOrString') {
    const maxElements = schema.maxLength === undefined ? maxRequestBytes - 2 : Math.max(0, schema.maxLength) * 4
    return { type: dynType, maxElements, minSize: 1 }
  }
  switch (schema.type) {
    case 'array':
      return declareArray(schema, name, within)
    case 'object':
      return declareObjectSchema(schema, { isRoot, name, around: within })
    case 'string':
    case 'quantity':
      return declareText(schema)
    case 'boolean':
      return declaredBool
    case 'number':
      return scalar(doubleType, 1)
    case 'integer':
      return declaredInt
    default:
      return undefined
  }
}

function declareArray(schema: Schema, name: string, around: readonly Schema[]): DeclaredType | undefined {
  const { items, maxItems, listType, listMapKeys } = schema
  const of = items && declareSchema(items, { isRoot: items.embeddedResource === true, name: `${name}.@idx`, around })
  if (!of) return undefined
  const most = maxItems === undefined ? Math.floor((maxRequestBytes - 2) / (of.minSize + 1)) : Math.max(0, maxItems)
  return { ...declaredList(of, most), ...(listType ? { listType } : {}), ...(listMapKeys ? { listMapKeys } : {}) }
}

function declareObjectSchema(given: Schema, { isRoot, name, around = [] }: DeclareOptions): DeclaredType | undefined {
  const schema = isRoot ? withObjectMeta(given) : given
  const { additionalProperties, maxProperties, properties = new Map<string, Schema>(), required } = schema
  if (typeof additionalProperties === 'object') {
    const isEmbedded = additionalProperties.embeddedResource === true
    const of = declareSchema(additionalProperties, { isRoot: isEmbedded, name: `${name}.@elem`, around })
    if (!of) return undefined
    const most =
      maxProperties === undefined ? Math.floor((maxRequestBytes - 2) / (of.minSize + 6)) : Math.max(0, maxProperties)
    return declaredMap(of, most)
  }
  const fields = new Map<string, DeclaredType>()
  let minSize = 2
  for (const [key, child] of properties) {
    const of = declareSchema(child, { isRoot: child.embeddedResource === true, name: `${name}.${key}`, around })
    if (!of) continue
    fields.set(key, of)
    if (required?.includes(key) && child.default === undefined) minSize += key.length + of.minSize + 4
  }
  return declaredObject(name, fields, minSize)
}

function withObjectMeta(schema: Schema): Schema {
  const metadata = schema.properties?.get('metadata')
  const text = (name: string, most: number): Schema => ({
    type: 'string',
    maxLength: Math.min(metadata?.properties?.get(name)?.maxLength ?? most, most),
  })
  return {
    ...schema,
    properties: new Map<string, Schema>([
      ...(schema.properties ?? []),
      ['kind', { type: 'string' }],
      ['apiVersion', { type: 'string' }],
      [
        'metadata',
        {
          type: 'object',
          properties: new Map([
            ['name', text('name', nameMaxLength)],
            ['generateName', text('generateName', nameMaxLength - 1)],
          ]),
        },
      ],
    ]),
  }
}

function declareText(schema: Schema): DeclaredType {
  const { format, maxLength, enum: allowed } = schema
  switch (format) {
    case 'byte':
      return scalar(bytesType, 2, maxLength === undefined ? maxRequestBytes - 2 : Math.max(0, maxLength))
    case 'duration':
      return scalar(durationType, 3, 32)
    case 'date':
      return scalar(timestampType, 12, 12)
    case 'date-time':
    case 'micro-time':
      return scalar(timestampType, 21, 32)
    default:
  }
  if (maxLength !== undefined) return scalar(stringType, 2, Math.max(0, maxLength) * 4)
  if (!allowed || allowed.length === 0) return scalar(stringType, 2, maxRequestBytes - 2)
  const lengths = allowed.map((v) => (typeof v === 'string' ? Buffer.byteLength(v) : 0))
  return scalar(
    stringType,
    2,
    lengths.reduce((a, b) => Math.max(a, b)),
  )
}

/** How often a value of this type can be in an object at most, where nothing else bounds it. */
export const maxCardinality = (type: DeclaredType): number => Math.floor(maxRequestBytes / (type.minSize + 1))
