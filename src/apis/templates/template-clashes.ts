/** What two templates would both give, or one sets and the other reads: judged when a template is written. */
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import { isDisabled, type Matcher } from './match.ts'
import { metadataClashes } from './metadata-rules.ts'
import { identityOf, titleOf } from './render.ts'
import { objectsOf, type TemplateObject } from './template-objects.ts'
import type { NamespaceTemplate } from './types.ts'

interface Matchers {
  /** All templates. */
  matchers(): Iterable<Matcher>
}

/** Labels and annotations of namespaces that another template sets, selects by or is given values by. */
export function keyClashes(template: NamespaceTemplate, { matchers }: Matchers): FieldError[] {
  return isInForce(template) ? metadataClashes(template, matchers(), selectsSame(template)) : []
}

/**
 * Objects that another template gives to the same namespaces, as far as that is certain now: both select alike, or one
 * selects everything. The rest shows when a namespace is matched by both: condition Conflict, the first keeps it.
 */
export function objectClashes(template: NamespaceTemplate, { matchers }: Matchers): FieldError[] {
  if (!isInForce(template)) return []
  const fields = new Map(unconditional(template).map(({ source, field }) => [identityOf(source), field]))
  const isSame = selectsSame(template)
  const errors: FieldError[] = []
  for (const { template: other } of matchers()) {
    if (other.metadata.name === template.metadata.name || !isInForce(other) || !isSame(other)) continue
    for (const { source } of unconditional(other)) {
      const field = fields.get(identityOf(source))
      if (field === undefined) continue
      const why = `template ${JSON.stringify(other.metadata.name)} gives it to the same namespaces`
      errors.push(fieldInvalid(field, titleOf(source), why))
    }
  }
  return errors
}

/** Objects with conditions may be alternatives. */
const unconditional = (template: NamespaceTemplate): TemplateObject[] =>
  objectsOf(template).filter(({ when }) => when === undefined)

const isInForce = (template: NamespaceTemplate): boolean =>
  !isDisabled(template) && template.metadata.deletionTimestamp === undefined

/** Whether another template certainly selects some of the same namespaces: both select alike, or one everything. */
function selectsSame(template: NamespaceTemplate): (other: NamespaceTemplate) => boolean {
  const selection = selectionOf(template)
  return (other) => {
    const theirs = selectionOf(other)
    return selection === theirs || selection === everything || theirs === everything
  }
}

const everything = ''

/** Equal texts select equally; `everything` selects all. */
function selectionOf({ spec }: NamespaceTemplate): string {
  const { labelSelector, nameSelector, creatorSelector } = spec?.namespaces ?? {}
  const labels = [Object.entries(labelSelector?.matchLabels ?? {}).sort(), labelSelector?.matchExpressions ?? []]
  const names = [nameSelector?.include ?? [], nameSelector?.exclude ?? []]
  const isAll = creatorSelector === undefined && [...labels, ...names].every((part) => part.length === 0)
  return isAll ? everything : JSON.stringify([labels, names, creatorSelector ?? null])
}
