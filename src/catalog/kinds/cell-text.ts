/** How upstream's printers write what many kinds share: ages, containers, selectors, short lists. */
import { humanDuration } from '../../kube/duration.ts'
import { type LabelSelectorObject, labelSelectorOf, printLabelSelector } from '../../kube/label-selector.ts'
import { findQuantity, printQuantity } from '../../kube/quantity.ts'
import { StatusError } from '../../kube/status-error.ts'
import type { ColumnDefinition } from '../../kube/table.ts'
import { parseTime } from '../../kube/time.ts'
import { fieldAt, listAt, objectAt, textAt, textMapAt } from './field-access.ts'

export const column = (
  name: string,
  type: ColumnDefinition['type'],
  description: string,
  more: { readonly format?: string; readonly priority?: number } = {},
): ColumnDefinition => ({ name, type, format: more.format ?? '', description, priority: more.priority ?? 0 })

export const wide = (name: string, type: ColumnDefinition['type'], description: string): ColumnDefinition =>
  column(name, type, description, { priority: 1 })

export const nameColumn: ColumnDefinition = column('Name', 'string', 'The name of the object.', { format: 'name' })
export const ageColumn: ColumnDefinition = column('Age', 'string', 'The time since the object was created.')
export const containerColumns: readonly ColumnDefinition[] = [
  wide('Containers', 'string', 'The names of the containers in the template.'),
  wide('Images', 'string', 'The images of the containers in the template.'),
]
export const selectorColumn: ColumnDefinition = wide('Selector', 'string', 'The labels of the pods that belong to it.')

export const nameOf = (object: unknown): string => textAt(object, 'metadata', 'name')

/** `5m`, or `<unknown>` for a time that is not set. */
export function since(value: unknown, nowMs: number): string {
  const ms = typeof value === 'string' ? parseTime(value) : undefined
  return ms === undefined ? '<unknown>' : humanDuration(nowMs - ms)
}

export const ageOf = (object: unknown, nowMs: number): string =>
  since(fieldAt(object, 'metadata', 'creationTimestamp'), nowMs)

export const isDeleting = (object: unknown): boolean => textAt(object, 'metadata', 'deletionTimestamp') !== ''

/** Names and images of the containers of a pod spec. */
export function containersOf(podSpec: unknown): [names: string, images: string] {
  const containers = listAt(podSpec, 'containers')
  return [containers.map((c) => textAt(c, 'name')).join(','), containers.map((c) => textAt(c, 'image')).join(',')]
}

/** `a=1,b=2` */
function printLabels(labels: Readonly<Record<string, string>>): string {
  const keys = Object.keys(labels).sort()
  return keys.length === 0 ? '<none>' : keys.map((key) => `${key}=${labels[key]}`).join(',')
}

export const labelsAt = (object: unknown, ...path: readonly string[]): string => printLabels(textMapAt(object, ...path))

/** Undefined for a selector that can't be read. */
export function printSelectorObject(selector: unknown): string | undefined {
  try {
    return printLabelSelector(labelSelectorOf(selector as LabelSelectorObject | undefined))
  } catch (e) {
    if (e instanceof StatusError) return undefined
    throw e
  }
}

export function selectorAt(object: unknown, ...path: readonly string[]): string {
  const text = printSelectorObject(objectAt(object, ...path))
  return text === undefined ? '<error>' : text || '<none>'
}

/** The first three, and how many more there are. */
export function firstThree(items: readonly string[]): string {
  if (items.length === 0) return '<unset>'
  const shown = items.slice(0, 3).join(',')
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown || '<unset>'
}

/** How many entries a map has. */
export const entriesAt = (object: unknown, ...path: readonly string[]): number =>
  Object.keys(objectAt(object, ...path) ?? {}).length

/** Canonical form; `0` for none, as Go prints an empty quantity. */
export function quantityAt(object: unknown, ...path: readonly string[]): string {
  const value = fieldAt(object, ...path)
  if (value === undefined) return '0'
  const quantity = findQuantity(String(value))
  return quantity ? printQuantity(quantity) : String(value)
}

/** IntOrString, or the text for none. */
export const intOrStringAt = (object: unknown, none: string, ...path: readonly string[]): string => {
  const value = fieldAt(object, ...path)
  return value === undefined ? none : String(value)
}
