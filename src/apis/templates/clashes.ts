/** Templates that would give one object twice, as far as that shows when they are written. */
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { isDisabled, type Matcher } from './match.ts'
import { identityOf, titleOf } from './render.ts'
import { objectsOf, type TemplateObject } from './template-objects.ts'
import type { NamespaceTemplate } from './types.ts'

/**
 * Objects that another template gives to the same namespaces, as far as that is certain now: both select alike, or one
 * selects everything. The rest shows when a namespace is matched by both: condition Conflict, the first keeps it.
 */
export function clashes(template: NamespaceTemplate, matchers: Iterable<Matcher>): FieldError[] {
  if (isDisabled(template) || template.metadata.deletionTimestamp !== undefined) return []
  const fields = new Map(unconditional(template).map(({ source, field }) => [identityOf(source), field]))
  const selection = selectionOf(template)
  const errors: FieldError[] = []
  for (const { template: other } of matchers) {
    if (other.metadata.name === template.metadata.name) continue
    if (isDisabled(other) || other.metadata.deletionTimestamp !== undefined) continue
    const theirs = selectionOf(other)
    if (selection !== theirs && selection !== everything && theirs !== everything) continue
    for (const { source } of unconditional(other)) {
      const field = fields.get(identityOf(source))
      if (field === undefined) continue
      const why = `template ${JSON.stringify(other.metadata.name)} gives it to the same namespaces`
      errors.push(fieldInvalid(field, titleOf(source), why))
    }
  }
  return errors
}

const unconditional = (template: NamespaceTemplate): TemplateObject[] =>
  objectsOf(template).filter(({ when }) => when === undefined)

const everything = ''

/** Equal texts select equally; `everything` selects all. */
function selectionOf({ spec }: NamespaceTemplate): string {
  const { labelSelector, nameSelector, creatorSelector } = spec?.namespaces ?? {}
  const labels = [Object.entries(labelSelector?.matchLabels ?? {}).sort(), labelSelector?.matchExpressions ?? []]
  const names = [nameSelector?.include ?? [], nameSelector?.exclude ?? []]
  const isAll = creatorSelector === undefined && [...labels, ...names].every((part) => part.length === 0)
  return isAll ? everything : JSON.stringify([labels, names, creatorSelector ?? null])
}
