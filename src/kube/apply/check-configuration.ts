/**
 * Does an applied configuration fit the schema? Unknown fields, wrong types, items without a key and duplicate items
 * are refused, in upstream's words: clients and people read them.
 * @see sigs.k8s.io/structured-merge-diff/v6 typed/validate.go
 */
import { isExactNumber } from '../json-value.ts'
import type { Schema } from '../schema/schema.ts'
import type { JsonObject, JsonValue, KubeObject } from '../types.ts'
import { objectSchema } from './object-schema.ts'
import { fieldElement, type PathElement, showElement } from './path-element.ts'
import { elementOf, fieldSchema, isMap, itemSchema } from './shape.ts'

/** Ours, as in refusals by validation. */
const maxProblems = 100

/** What is wrong, or undefined. One error stands alone; several are listed below `errors:`. */
export function configurationProblem(schema: Schema, config: KubeObject): string | undefined {
  const problems: string[] = []
  check(objectSchema(schema), config as unknown as JsonValue, undefined, problems)
  if (problems.length <= 1) return problems[0]
  const told = problems.slice(0, maxProblems)
  if (told.length < problems.length) told.push(`and ${problems.length - told.length} more`)
  return ['errors:', ...told.map((problem) => `  ${problem}`)].join('\n')
}

/** Where in the configuration: made into text only for a problem. */
interface Place {
  readonly parent: Place | undefined
  readonly element: PathElement
}

const textOf = (place: Place | undefined): string =>
  place === undefined ? '' : textOf(place.parent) + showElement(place.element)

function check(schema: Schema, value: JsonValue, place: Place | undefined, problems: string[]): void {
  const report = (problem: string): void => {
    problems.push(place === undefined ? problem : `${textOf(place)}: ${problem}`)
  }
  if (value === null) return
  switch (schema.type) {
    case 'object':
      if (isMap(value)) checkMap(schema, value, place, problems)
      else report(`expected map, got ${goPointer(value)}`)
      return
    case 'array':
      if (Array.isArray(value)) checkList(schema, value, place, problems)
      else report(`expected list, got ${goPointer(value)}`)
      return
    case 'integer':
    case 'number':
      if (typeof value !== 'number' && !isExactNumber(value))
        report(`expected numeric (int or float), got ${goType(value)}`)
      return
    case 'string':
      if (typeof value !== 'string') report(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
      return
    case 'boolean':
      if (typeof value !== 'boolean') report(`expected boolean, got ${goPointer(value)}`)
      return
    case 'intOrString':
    case 'quantity':
      if (typeof value === 'object' && !isExactNumber(value)) report(`expected any scalar, got ${goPointer(value)}`)
      return
    case 'any':
      return
  }
}

function checkMap(schema: Schema, map: JsonObject, place: Place | undefined, problems: string[]): void {
  for (const name of Object.keys(map)) {
    const value = map[name]
    if (value === undefined) continue
    const field = fieldSchema(schema, name)
    const here = { parent: place, element: fieldElement(name) }
    if (field !== undefined) check(field, value, here, problems)
    else {
      problems.push(`${textOf(here)}: field not declared in schema`)
      // Upstream reads no further in this map.
      return
    }
  }
}

function checkList(schema: Schema, list: readonly JsonValue[], place: Place | undefined, problems: string[]): void {
  const keyed = schema.listType === 'set' || schema.listType === 'map'
  const seen = new Set<PathElement>()
  for (const [i, item] of list.entries()) {
    const element = keyed ? elementOf(schema, item) : `i:${i}`
    if (typeof element !== 'string') {
      problems.push(`${textOf(place)}: element ${i}: ${element.problem}`)
      // Without a key nothing below could be named.
      return
    }
    if (seen.has(element)) problems.push(`${textOf(place)}: duplicate entries for key ${showElement(element)}`)
    seen.add(element)
    check(itemSchema(schema), item, { parent: place, element }, problems)
  }
}

/** `%v` of a pointer to a Go value: `&{map[a:1]}`. */
const goPointer = (value: JsonValue): string => `&{${goText(value)}}`

function goText(value: JsonValue): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (isMap(value)) {
    return `map[${Object.keys(value)
      .sort()
      .map((name) => `${name}:${goText(value[name] ?? null)}`)
      .join(' ')}]`
  }
  return isExactNumber(value) ? value.rawJSON : String(value)
}

function goType(value: JsonValue): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (isMap(value)) return 'map[string]interface {}'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** `%#v` of a Go value. */
function goSyntax(value: JsonValue): string {
  if (value === null) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isMap(value)) return JSON.stringify(value)
  const fields = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${goSyntax(value[name] ?? null)}`)
  return `map[string]interface {}{${fields.join(', ')}}`
}
