/**
 * Which columns a type's table has. Built-in kinds have theirs in code, custom resources (and kinds of ours that
 * declare columns) by JSONPath, the rest a name and a time.
 *
 * Compiling JSONPaths costs something: the answer is kept for as long as the type lives.
 */
import { humanDuration } from '../../kube/duration.ts'
import { printGoValue } from '../../kube/go-quote.ts'
import { qualifiedResource } from '../../kube/gvk.ts'
import { findByJsonPath, type JsonPath, parseJsonPath } from '../../kube/json-path.ts'
import { isExactNumber, isJsonObject } from '../../kube/json-value.ts'
import type { Column, ResourceType } from '../../kube/resource-type.ts'
import type { ColumnDefinition, TableColumns } from '../../kube/table.ts'
import { parseTime } from '../../kube/time.ts'
import type { JsonValue, KubeObject } from '../../kube/types.ts'
import { ageOf, column, nameColumn, nameOf } from './cell-text.ts'
import { builtInKinds } from './kinds.ts'

/** Roles, limit ranges, CRDs and the like: upstream gives them no printer. */
const createdAt: TableColumns = {
  definitions: [nameColumn, column('Created At', 'date', 'When the object was created.')],
  cells: (o) => [nameOf(o), o.metadata.creationTimestamp ?? null],
}

const nameAndAge: TableColumns = {
  definitions: [nameColumn, column('Age', 'date', 'The time since the object was created.')],
  cells: (o, now) => [nameOf(o), ageOf(o, now)],
}

const known = new WeakMap<ResourceType, TableColumns>()

export function columnsOf(type: ResourceType): TableColumns {
  let columns = known.get(type)
  if (!columns) {
    columns = findColumns(type)
    known.set(type, columns)
  }
  return columns
}

function findColumns(type: ResourceType): TableColumns {
  if (type.columns && type.columns.length > 0) return declaredColumns(type.columns)
  if (type.custom) return nameAndAge
  return builtInKinds[qualifiedResource(type)]?.columns ?? createdAt
}

interface DeclaredColumn {
  readonly definition: ColumnDefinition
  readonly path: JsonPath
  readonly textOf: Column['textOf']
}

function declare(c: Column): DeclaredColumn {
  const jsonPath = c.jsonPath ?? ''
  const description = c.description || `Custom resource definition column (in JSONPath format): ${jsonPath}`
  return {
    definition: { name: c.name, type: c.type, format: c.format ?? '', description, priority: c.priority ?? 0 },
    path: parseJsonPath(jsonPath),
    textOf: c.textOf,
  }
}

/** @throws JsonPathError if a path can't be read: declared paths are checked before. */
function declaredColumns(declared: readonly Column[]): TableColumns {
  const columns = declared.map(declare)
  return {
    definitions: [nameColumn, ...columns.map((c) => c.definition)],
    cells: (o, now) => [nameOf(o), ...columns.map((c) => cellOf(o, c, now))],
  }
}

function cellOf(object: KubeObject, { definition, path, textOf }: DeclaredColumn, nowMs: number): unknown {
  const value = findByJsonPath(path, object as unknown as JsonValue)[0]
  if (value === undefined) return null
  return textOf?.(value) ?? cellForValue(definition.type, value, nowMs)
}

/** What does not fit its column is left out. */
function cellForValue(type: string, value: JsonValue, nowMs: number): unknown {
  switch (type) {
    case 'string':
      return printValue(value)
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : isExactNumber(value) ? value : null
    case 'number':
      return typeof value === 'number' || isExactNumber(value) ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? printDate(value, nowMs) : null
    default:
      return null
  }
}

function printValue(value: JsonValue): string {
  if (value === null) return '<no value>'
  if (Array.isArray(value) || isJsonObject(value)) return JSON.stringify(value)
  return printGoValue(value)
}

function printDate(text: string, nowMs: number): string {
  if (text === '') return '<unknown>'
  const ms = parseTime(text)
  return ms === undefined ? '<invalid>' : humanDuration(nowMs - ms)
}
