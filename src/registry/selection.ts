/**
 * Which objects a list, watch or deletion of a collection means: selectors parsed once, and turned into a place to look
 * (namespace, single name) plus a test for the rest.
 */

import type { SelectableField, Strategy } from '../catalog/strategy.ts'
import {
  type FieldSelector,
  fieldMatcher,
  parseFieldSelector,
  refuseUnknownFields,
  requiredField,
} from '../kube/field-selector.ts'
import { holdsWithout, labelMatcher } from '../kube/label-matcher.ts'
import { type LabelSelector, parseLabelSelector } from '../kube/label-selector.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import type { KubeObject } from '../kube/types.ts'
import type { Matches } from '../watch/shared-events.ts'
import type { StoredObject } from '../watch/stored-object.ts'
import type { WatchScope } from '../watch/watch-scope.ts'

export interface Selection {
  readonly scope: WatchScope
  /** Absent = everything in scope. */
  readonly matches: Matches | undefined
  /** What `matches` asks of labels, among other things. */
  readonly labels: LabelSelector
}

export interface SelectionQuery {
  readonly namespace: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly visible?: (object: KubeObject) => boolean
}

type Selectable = Readonly<Record<string, SelectableField>>

const noFields: Selectable = {}
/** What is searched for in the bytes. Of more, few objects have the first and lack the others. */
const mostNeedles = 4

/** Parsing longer ones takes so long that they wait for their turn: a client may send many at once. */
const longCharacters = 4096

export const isLongSelection = ({ labelSelector = '', fieldSelector = '' }: Partial<SelectionQuery>): boolean =>
  labelSelector.length + fieldSelector.length > longCharacters

/** @throws StatusError BadRequest for selectors that do not parse or name an unknown field. */
export function selectionOf(type: ResourceType, strategy: Strategy, query: SelectionQuery): Selection {
  const labels = parseLabelSelector(query.labelSelector ?? '')
  const fields = parseFieldSelector(query.fieldSelector ?? '')
  const selectable = strategy.selectableFields ?? noFields
  if (fields.length > 0) refuseUnknownFields(fields, new Set(Object.keys(selectable)), type.custom)
  const namespace = query.namespace || (type.namespaced ? (requiredField(fields, 'metadata.namespace') ?? '') : '')
  const name = requiredField(fields, 'metadata.name') ?? ''
  const tests = [fieldTest(fields, selectable), labelTest(labels), visibleTest(query.visible)].filter(
    (t) => t !== undefined,
  )
  return { scope: { namespace, name }, matches: all(tests), labels }
}

function all(tests: readonly Matches[]): Matches | undefined {
  const [first, ...rest] = tests
  if (first === undefined || rest.length === 0) return first
  return (stored) => tests.every((test) => test(stored))
}

function fieldTest(fields: FieldSelector, selectable: Selectable): Matches | undefined {
  if (fields.length === 0) return undefined
  const holds = fieldMatcher(fields)
  const needles = fields
    .map((requirement) => needleOf(requirement, selectable))
    .filter((n) => n !== undefined)
    .slice(0, mostNeedles)
  return (stored) => {
    if (needles.length > 0 && isCheaper(stored) && !standIn(stored, needles)) return false
    return holds((field) => readField(stored, field, selectable))
  }
}

const plain = /^[\w.:/ -]+$/

/** What must stand in the stored bytes; undefined = that is not known. */
function needleOf({ field, operator, value }: FieldSelector[number], selectable: Selectable): Buffer | undefined {
  const { absent } = selectable[field] ?? {}
  if (operator !== '=' || absent === undefined || value === absent || !plain.test(value)) return undefined
  return Buffer.from(value)
}

/** To search the bytes: they are there, and the object is not. */
const isCheaper = (stored: StoredObject): boolean => stored.type.conversion === undefined && !stored.isAtHand

function standIn({ bytes }: StoredObject, needles: readonly Buffer[]): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return needles.every((needle) => text.includes(needle))
}

function readField(stored: StoredObject, field: string, selectable: Selectable): string {
  if (field === 'metadata.name') return stored.name
  if (field === 'metadata.namespace') return stored.namespace
  return selectable[field]?.(stored.object) ?? ''
}

/**
 * Labels are read from the beginning of the bytes where these would have to be copied. Elsewhere: a pair that must be
 * there, or the key of one, must stand in the bytes, compactly and unescaped (label characters need no escape).
 * Searching for it costs far less than parsing an object that will be rejected.
 */
function labelTest(labels: LabelSelector): Matches | undefined {
  if (labels.length === 0) return undefined
  const holds = labelMatcher(labels)
  const needles = labels
    .filter((requirement) => requirement.key !== '' && !holdsWithout(requirement))
    .slice(0, mostNeedles)
    .map(({ key, operator, values }) => {
      const isPair = values.length === 1 && (operator === '=' || operator === '==' || operator === 'in')
      return Buffer.from(`${JSON.stringify(key)}:${isPair ? JSON.stringify(values[0]) : ''}`)
    })
  return (stored) => {
    const { labelsAtHand } = stored
    if (labelsAtHand !== undefined) return holds(labelsAtHand)
    return (needles.length === 0 || standIn(stored, needles)) && holds(stored.metadata.labels)
  }
}

function visibleTest(visible: ((object: KubeObject) => boolean) | undefined): Matches | undefined {
  return visible === undefined ? undefined : (stored) => visible(stored.object)
}
