/** What is wrong with how a kind of ours is declared: what clients read in discovery, OpenAPI and tables is whole. */
import type { TypeDeclaration } from '../../src/catalog/catalog.ts'
import type { Column } from '../../src/kube/resource-type.ts'
import type { Schema } from '../../src/kube/schema/schema.ts'

const types = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'intOrString', 'quantity', 'any']
const formats = ['int32', 'int64', 'double', 'byte', 'date-time', 'micro-time']
const columnTypes = ['integer', 'number', 'string', 'boolean', 'date']

/** Each as `where: what`; empty = nothing. */
export function declarationFaults({ description, kind, properties, columns = [] }: TypeDeclaration): string[] {
  const whole: Schema = { type: 'object', properties: new Map(Object.entries(properties)) }
  return [
    ...(kind === '' ? ['kind: is empty'] : []),
    ...(isSentence(description) ? [] : ['description: is no sentence']),
    ...schemaFaults('', whole),
    ...columns.flatMap((column) => columnFaults(column, whole)),
  ]
}

const isSentence = (text: string | undefined): boolean => text !== undefined && /^\S.*\S$/s.test(text)

function schemaFaults(at: string, schema: Schema): string[] {
  const { type, format, description, properties, items, additionalProperties, listType } = schema
  const faults: string[] = []
  const fault = (what: string): void => void faults.push(`${at}: ${what}`)
  if (!types.includes(type)) fault(`has type ${JSON.stringify(type)}`)
  if (format !== undefined && !formats.includes(format)) fault(`has format ${JSON.stringify(format)}`)
  if (description !== undefined && !isSentence(description)) fault('has an empty description')
  for (const key of ['enum', 'required', 'listMapKeys'] as const) {
    const list: readonly unknown[] | undefined = schema[key]
    if (list !== undefined && (list.length === 0 || list.includes(''))) fault(`has nothing in ${key}`)
  }
  for (const key of schema.required ?? []) if (!properties?.has(key)) fault(`requires ${key}, which it has not`)
  for (const key of schema.listMapKeys ?? []) {
    if (!items?.properties?.has(key)) fault(`has items by ${key}, which they have not`)
  }
  if (type === 'array' && !['atomic', 'set', 'map'].includes(listType ?? '')) fault('is a list of no kind')
  if ((type === 'array') !== (items !== undefined)) fault('is a list without items, or has items and is none')
  if ((listType === 'map') !== (schema.listMapKeys !== undefined))
    fault('is a map without keys, or has keys and is none')
  for (const [name, of] of properties ?? []) faults.push(...schemaFaults(at === '' ? name : `${at}.${name}`, of))
  if (items !== undefined) faults.push(...schemaFaults(`${at}[]`, items))
  if (typeof additionalProperties === 'object') faults.push(...schemaFaults(`${at}{}`, additionalProperties))
  return faults
}

function columnFaults({ name, type, jsonPath = '', description }: Column, whole: Schema): string[] {
  const faults: string[] = []
  if (name === '') faults.push('column: has no name')
  if (!columnTypes.includes(type)) faults.push(`column ${name}: has type ${JSON.stringify(type)}`)
  if (!isSentence(description)) faults.push(`column ${name}: has no description`)
  const [root, first = '', ...rest] = (/^[^[]*/.exec(jsonPath)?.[0] ?? '').split('.')
  if (root !== '' || first === '') faults.push(`column ${name}: shows nothing`)
  let shown = whole.properties?.get(first)
  for (const field of rest) shown = shown?.properties?.get(field)
  // Metadata is every kind's.
  if (first !== 'metadata' && shown === undefined) faults.push(`column ${name}: shows ${jsonPath}, which is no field`)
  return faults
}
