/**
 * Fields that an apply wants to change although another manager owns them, and the answer that says so.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/conflict.go v0.36
 */
import { append } from '../../base/append.ts'
import type { Slice } from '../../base/turns.ts'
import { StatusError } from '../status-error.ts'
import { type Changes, takenFields } from './compare.ts'
import { difference, emptySet, type FieldSet, intersection, isEmpty, pathsOf, type Sizes } from './field-set.ts'
import { type Managed, managerText, showManager } from './managed-fields.ts'
import { showPath } from './path-element.ts'
import { inParts, pausing, type Steps } from './steps.ts'

export interface Conflict {
  readonly owner: Managed
  readonly fields: FieldSet
}

/** What was added or modified although its owner is another one. Sorted as upstream sorts managers. */
export function conflictsWith(others: readonly Managed[], changes: ReadonlyMap<Managed, Changes>): readonly Conflict[] {
  const taken = new Map<Changes, FieldSet>()
  const wanted = (owner: Managed): FieldSet => {
    const found = changes.get(owner)
    if (found === undefined) return emptySet
    let fields = taken.get(found)
    if (fields === undefined) {
      fields = takenFields(found)
      taken.set(found, fields)
    }
    return intersection(owner.fields, fields)
  }
  return keepReal(others.map((owner) => ({ owner, fields: wanted(owner) })))
}

export function allowedAside(conflicts: readonly Conflict[], allowed: FieldSet): readonly Conflict[] {
  const sizes: Sizes = new Map()
  return keepReal(conflicts.map(({ owner, fields }) => ({ owner, fields: difference(fields, allowed, sizes) })))
}

function keepReal(conflicts: readonly Conflict[]): readonly Conflict[] {
  return conflicts
    .filter((conflict) => !isEmpty(conflict.fields))
    .map((conflict) => ({ conflict, text: managerText(conflict.owner) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ conflict }) => conflict)
}

/** 409 with one cause per field and owner. */
export function* conflictError(conflicts: readonly Conflict[], slice: Slice | undefined): Steps<StatusError> {
  const found: Found[] = []
  for (const { owner, fields } of conflicts) {
    const paths: string[] = []
    const all = pathsOf(fields)
    yield* pausing(slice)
    yield* inParts(all, (part) => append(paths, part.map(showPath)), slice)
    found.push({ owner: showManager(owner), paths })
  }
  const text = message(found)
  yield* pausing(slice)
  return new StatusError(`Apply failed with ${text}`, {
    reason: 'Conflict',
    details: {
      causes: found.flatMap(({ owner, paths }) => {
        const told = `conflict with ${owner}`
        return paths.map((field) => ({ reason: 'FieldManagerConflict', message: told, field }))
      }),
    },
  })
}

interface Found {
  readonly owner: string
  readonly paths: readonly string[]
}

function message(found: readonly Found[]): string {
  const count = found.reduce((sum, { paths }) => sum + paths.length, 0)
  if (count === 1) return `1 conflict: conflict with ${found[0]?.owner}: ${found[0]?.paths[0]}`
  const blocks = found.flatMap(({ owner, paths }) => [`conflicts with ${owner}:`, ...paths.map((path) => `- ${path}`)])
  return `${count} conflicts: ${blocks.join('\n')}`
}
