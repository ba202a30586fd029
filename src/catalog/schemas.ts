/**
 * Schemas of built-in types, made from the generated catalogue and the fact tables, each when it is first asked for.
 * A node is made once and lives as long as the process; nodes refer to each other and may form cycles.
 *
 * Every node is nullable: Go decodes null as an absent value. OpenAPI's 'required' is kept apart (`alwaysPrinted`): it
 * says what is always printed, not what must be sent.
 */
import type { Schema } from '../kube/schema/schema.ts'
import type { JsonValue } from '../kube/types.ts'
import { alwaysByValue, byValueFields } from './facts/by-value.ts'
import { extensionFields, extensionTypes } from './facts/extensions.ts'
import { mergeFacts } from './facts/merge.ts'
import { quantityFields } from './facts/quantities.ts'
import type { GeneratedCatalog } from './generated-catalog.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type FieldPart = Partial<
  Pick<Schema, 'byValue' | 'mapType' | 'listType' | 'listMapKeys' | 'patchStrategy' | 'patchMergeKey'>
>

/** Defaults that belong to the keys of map lists: an item without it is the item with it. */
const keyDefaults: Readonly<Record<string, Readonly<Record<string, JsonValue>>>> = {
  'io.k8s.api.core.v1.ContainerPort': { protocol: 'TCP' },
  'io.k8s.api.core.v1.ServicePort': { protocol: 'TCP' },
}

const scalars: Readonly<Record<string, Schema>> = {
  s: { type: 'string', nullable: true },
  y: { type: 'string', format: 'byte', nullable: true },
  i: { type: 'integer', format: 'int32', nullable: true },
  l: { type: 'integer', format: 'int64', nullable: true },
  d: { type: 'number', format: 'double', nullable: true },
  b: { type: 'boolean', nullable: true },
  t: { type: 'string', format: 'date-time', nullable: true },
  u: { type: 'string', format: 'micro-time', nullable: true },
  x: { type: 'intOrString', format: 'int-or-string', nullable: true },
  '*': { type: 'any', nullable: true },
}
const quantity: Schema = { type: 'quantity', nullable: true }

function parseMergeFact(fact: string): Writable<FieldPart> {
  const part: Writable<FieldPart> = {}
  if (fact === '') return part
  for (const word of fact.split(' ')) {
    const [name, value = ''] = word.split(':', 2)
    if (name === 'set') part.listType = 'set'
    else if (name === 'atomic') part.mapType = 'atomic'
    else if (name === 'map') {
      part.listType = 'map'
      part.listMapKeys = value.split(',')
    } else {
      const [strategies = '', key] = value.split('/', 2)
      part.patchStrategy = strategies.split(',') as NonNullable<Schema['patchStrategy']>
      if (key) part.patchMergeKey = key
    }
  }
  return part
}

interface Field {
  readonly name: string
  readonly alwaysPrinted: boolean
  readonly expression: string
}

function parseFields(text: string): Field[] {
  if (text === '') return []
  return text.split(' ').map((member) => {
    const colon = member.lastIndexOf(':')
    const alwaysPrinted = member[colon - 1] === '!'
    return {
      name: member.slice(0, alwaysPrinted ? colon - 1 : colon),
      alwaysPrinted,
      expression: member.slice(colon + 1),
    }
  })
}

const noFields: ReadonlyMap<string, Schema> = new Map()

/** From now on they are read without a call: every request that holds an object reads some. */
function keepProperties(schema: Schema, properties: ReadonlyMap<string, Schema>): ReadonlyMap<string, Schema> {
  Object.defineProperty(schema, 'properties', { value: properties })
  return properties
}

/** A named type; its fields are made when first read. */
class TypeSchema implements Schema {
  readonly type = 'object'
  readonly nullable = true
  readonly typeName: string
  readonly mapType?: 'atomic'
  #make: (() => ReadonlyMap<string, Schema>) | undefined

  constructor(typeName: string, atomic: boolean, make: () => ReadonlyMap<string, Schema>) {
    this.typeName = typeName
    if (atomic) this.mapType = 'atomic'
    this.#make = make
  }

  get properties(): ReadonlyMap<string, Schema> {
    const made = this.#make?.() ?? noFields
    this.#make = undefined
    return keepProperties(this, made)
  }
}

/** A field that refers to a named type and has facts of its own. */
class FieldSchema implements Schema {
  readonly type = 'object'
  readonly nullable = true
  readonly typeName: string
  readonly mapType?: 'granular' | 'atomic'
  readonly patchStrategy?: NonNullable<Schema['patchStrategy']>
  readonly byValue?: boolean
  readonly #target: Schema

  constructor(target: Schema, part: FieldPart) {
    this.#target = target
    this.typeName = target.typeName ?? ''
    const mapType = part.mapType ?? target.mapType
    if (mapType) this.mapType = mapType
    if (part.patchStrategy) this.patchStrategy = part.patchStrategy
    if (part.byValue) this.byValue = true
  }

  get properties(): ReadonlyMap<string, Schema> {
    return keepProperties(this, this.#target.properties ?? noFields)
  }
}

export class Schemas {
  readonly #names: readonly string[]
  readonly #fields: Map<string, string>
  readonly #made = new Map<string, Schema>()

  /** Cheap: indexes type names, parses no type. */
  constructor(catalog: Pick<GeneratedCatalog, 'types'>) {
    this.#names = catalog.types.map(([name]) => name)
    this.#fields = new Map(catalog.types)
    for (const [name, fields] of Object.entries(extensionTypes)) this.#fields.set(name, fields)
    for (const [name, more] of Object.entries(extensionFields)) {
      const fields = this.#fields.get(name)
      if (fields === undefined) throw new Error(`extension of an unknown type ${name}`)
      this.#fields.set(name, `${fields} ${more}`)
    }
  }

  /** All type names, ascending within the generated ones, then ours. */
  names(): Iterable<string> {
    return this.#fields.keys()
  }

  nameOf(typeNumber: number): string {
    const name = this.#names[typeNumber]
    if (name === undefined) throw new Error(`no type number ${typeNumber} in the catalogue`)
    return name
  }

  find(typeName: string): Schema | undefined {
    const known = this.#made.get(typeName)
    if (known) return known
    const text = this.#fields.get(typeName)
    if (text === undefined) return undefined
    const facts = mergeFacts[typeName] ?? {}
    const schema = new TypeSchema(typeName, facts[''] === 'atomic', () => this.#makeProperties(typeName, text))
    this.#made.set(typeName, schema)
    return schema
  }

  /** @throws Error for a name that is not in the catalogue: a mistake in a table of ours. */
  get(typeName: string): Schema {
    const schema = this.find(typeName)
    if (!schema) throw new Error(`no type ${typeName} in the catalogue`)
    return schema
  }

  /** The fields that OpenAPI documents list as 'required'. */
  alwaysPrinted(typeName: string): string[] {
    return parseFields(this.#fields.get(typeName) ?? '')
      .filter((f) => f.alwaysPrinted)
      .map((f) => f.name)
  }

  #makeProperties(typeName: string, text: string): ReadonlyMap<string, Schema> {
    const facts = mergeFacts[typeName] ?? {}
    const quantities = new Set(quantityFields[typeName]?.split(' '))
    const byValue = new Set(byValueFields[typeName]?.split(' '))
    const defaults = keyDefaults[typeName] ?? {}
    const properties = new Map<string, Schema>()
    for (const { name, expression } of parseFields(text)) {
      let node = this.#parse(expression, quantities.has(name))
      const part = parseMergeFact(facts[name] ?? '')
      if (byValue.has(name) || (node.typeName !== undefined && alwaysByValue.has(name))) part.byValue = true
      node = decorate(node, part)
      const value = defaults[name]
      properties.set(name, value === undefined ? node : { ...node, default: value })
    }
    return properties
  }

  #parse(expression: string, isQuantity: boolean): Schema {
    const rest = expression.slice(1)
    switch (expression[0]) {
      case '[':
        return { type: 'array', nullable: true, items: this.#parse(rest, isQuantity) }
      case '{':
        return { type: 'object', nullable: true, additionalProperties: this.#parse(rest, isQuantity) }
      case '@':
        return this.get(/^\d+$/.test(rest) ? this.nameOf(Number(rest)) : rest)
      default: {
        const scalar = isQuantity ? quantity : scalars[expression]
        if (!scalar) throw new Error(`unknown type expression ${expression} in the catalogue`)
        return scalar
      }
    }
  }
}

function decorate(node: Schema, part: FieldPart): Schema {
  if (Object.keys(part).length === 0) return node
  return node.type === 'object' && node.typeName !== undefined ? new FieldSchema(node, part) : { ...node, ...part }
}
