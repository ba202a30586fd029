/**
 * Fields that an apply wants to change although another manager owns them, and the answer that says so.
 * @see k8s.io/apimachinery/pkg/util/managedfields/internal/conflict.go v0.36
 */
import type { Slice } from '../../base/turns.ts'
import { StatusError } from '../status-error.ts'
import type { Changes } from './compare.ts'
import { takingFields } from './comparing.ts'
import { difference, type FieldSet, isEmpty, type Sizes, shownMembers } from './field-set.ts'
import { intersecting } from './large-sets.ts'
import { type Managed, managerText, showManager } from './managed-fields.ts'
import { pausing, type Steps, stepsOf } from './steps.ts'

const membersAtOnce = 1024

export interface Conflict {
  readonly owner: Managed
  readonly fields: FieldSet
}

/** What was added or modified although its owner is another one. Sorted as upstream sorts managers. */
export function* conflictsWith(
  others: readonly Managed[],
  changes: ReadonlyMap<Managed, Changes>,
  slice: Slice | undefined,
): Steps<readonly Conflict[]> {
  const taken = new Map<Changes, FieldSet>()
  const found: Conflict[] = []
  for (const owner of others) {
    const ofVersion = changes.get(owner)
    if (ofVersion === undefined) continue
    const known = taken.get(ofVersion)
    const fields = known ?? (yield* stepsOf(takingFields(ofVersion), slice))
    if (known === undefined) taken.set(ofVersion, fields)
    found.push({ owner, fields: yield* stepsOf(intersecting(owner.fields, fields), slice) })
    yield* pausing(slice)
  }
  return keepReal(found)
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

/**
 * Of all that is told of fields: one that lies 900 levels down has a path of 1,800 characters, and 28,000 of them are
 * 50 MB. Ours: upstream tells all.
 */
const maxTold = 128 * 1024

interface Found {
  readonly owner: string
  readonly paths: readonly string[]
  readonly count: number
}

/** 409 with one cause per field and owner, as far as `maxTold` goes. */
export function* conflictError(conflicts: readonly Conflict[], slice: Slice | undefined): Steps<StatusError> {
  const found: Found[] = []
  let left = maxTold
  for (const { owner, fields } of conflicts) {
    const paths: string[] = []
    let count = 0
    for (const path of shownMembers(fields)) {
      count++
      if (count % membersAtOnce === 0) yield* pausing(slice)
      if (left <= 0) continue
      // A text that is put together is only made when it is told.
      left -= path.length
      paths.push(path)
    }
    found.push({ owner: showManager(owner), paths, count })
    yield* pausing(slice)
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

function message(found: readonly Found[]): string {
  const total = found.reduce((sum, { count }) => sum + count, 0)
  if (total === 1) return `1 conflict: conflict with ${found[0]?.owner}: ${found[0]?.paths[0]}`
  const blocks = found.flatMap(({ owner, paths, count }) => [
    `conflicts with ${owner}:`,
    ...paths.map((path) => `- ${path}`),
    ...(count > paths.length ? [`and ${count - paths.length} more`] : []),
  ])
  return `${total} conflicts: ${blocks.join('\n')}`
}
