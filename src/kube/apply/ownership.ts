/** Questions about who owns what in an object, for code that corrects drift and for messages. */
import type { KubeObject } from '../types.ts'
import { type FieldSet, pathsOf } from './field-set.ts'
import { type ManagerId, readStored } from './managed-fields.ts'
import { showPath } from './path-element.ts'

export interface OwnedFields extends ManagerId {
  /** RFC3339; when this manager last changed something. */
  readonly time: string | undefined
  readonly fields: FieldSet
}

/** All entries; an optional manager name leaves only its own (it may have several: apply, update, sub-resources). */
export function ownedBy(object: KubeObject, manager?: string): readonly OwnedFields[] {
  return readStored(object.metadata.managedFields)
    .filter((m) => manager === undefined || m.manager === manager)
    .map(({ entry: _, ...owned }) => owned)
}

/** Has this manager applied the object, through any endpoint? */
export function hasAppliedBy(object: KubeObject, manager: string): boolean {
  return (object.metadata.managedFields ?? []).some((m) => m.manager === manager && m.operation === 'Apply')
}

/**
 * Field path as in conflicts (`.spec.hard.pods`, `.metadata.finalizers[="x"]`) → who owns it. Only exact paths: the
 * owner of an atomic value is found at its root.
 */
export function ownersByPath(object: KubeObject): ReadonlyMap<string, readonly ManagerId[]> {
  const owners = new Map<string, ManagerId[]>()
  for (const { manager, operation, apiVersion, subresource, fields } of ownedBy(object)) {
    for (const path of pathsOf(fields)) {
      const text = showPath(path)
      const known = owners.get(text)
      const id: ManagerId = { manager, operation, apiVersion, subresource }
      if (known) known.push(id)
      else owners.set(text, [id])
    }
  }
  return owners
}
