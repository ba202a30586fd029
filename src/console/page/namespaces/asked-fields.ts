/**
 * What a new namespace must give: the parameters of the templates that would select it, and what the server asked for
 * in refusals. A user who may not read templates is asked by the server alone. Pure.
 */
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { selectTemplates } from '../../../apis/templates/match.ts'
import { allowedFor, fieldOf } from '../../../apis/templates/parameters.ts'
import { creatorKey, type NamespaceTemplate, type TemplateParameter } from '../../../apis/templates/types.ts'
import { findStatusError } from '../../../kube/status-error.ts'
import { matcherOf } from '../templates/matcher.ts'
import { keyAt } from './draft.ts'

export interface AskedField {
  /** `metadata.labels[example.com/size]` */
  readonly place: string
  /** The name of the parameter; of what the server asked for, the key. */
  readonly title: string
  /** What must be chosen from; undefined = any text that is allowed. */
  readonly choices?: readonly string[]
  readonly preset: string
  readonly isRequired: boolean
  /** One for each template that asks. */
  readonly hints: readonly string[]
}

/** Templates that would select the namespace if this user created it. */
export function selecting(
  templates: readonly NamespaceTemplate[],
  namespace: Namespace,
  creator: string,
): readonly NamespaceTemplate[] {
  const { metadata } = namespace
  // A namespace without a name is selected by every name.
  if (metadata.name === '') return []
  const annotations = { [creatorKey]: creator, ...metadata.annotations }
  return selectTemplates(templates.map(matcherOf), { metadata: { ...metadata, annotations } })
}

/** Two templates may ask for one key: then only what both allow is offered. */
export function askedBy(templates: readonly NamespaceTemplate[]): readonly AskedField[] {
  const fields = new Map<string, AskedField>()
  for (const { metadata, spec } of templates) {
    for (const parameter of spec?.parameters ?? []) {
      const asked = fieldFor(parameter, metadata.name ?? '')
      const before = fields.get(asked.place)
      fields.set(asked.place, before === undefined ? asked : both(before, asked))
    }
  }
  return [...fields.values()]
}

function fieldFor(parameter: TemplateParameter, template: string): AskedField {
  const { name, enum: choices, default: preset = '', required = false } = parameter
  return {
    place: fieldOf(parameter),
    title: name,
    ...(choices === undefined ? {} : { choices }),
    preset,
    isRequired: required,
    hints: [`${allowedFor(parameter)} (template ${template})`],
  }
}

function both(a: AskedField, b: AskedField): AskedField {
  const choices = a.choices?.filter((choice) => b.choices?.includes(choice) ?? true) ?? b.choices
  return {
    place: a.place,
    title: a.title === b.title ? a.title : `${a.title}, ${b.title}`,
    ...(choices === undefined ? {} : { choices }),
    preset: a.preset || b.preset,
    isRequired: a.isRequired || b.isRequired,
    hints: [...a.hints, ...b.hints],
  }
}

/** A field for a label or an annotation that a refusal named. */
export const askedByServer = (place: string): AskedField => ({
  place,
  title: keyAt(place)?.key ?? place,
  preset: '',
  isRequired: false,
  hints: ['the server asks for it'],
})

/** The server's words by the field that they are about. */
export function faultsIn(error: unknown): ReadonlyMap<string, readonly string[]> {
  const faults = new Map<string, string[]>()
  for (const { field = '', message = '' } of findStatusError(error)?.details?.causes ?? []) {
    if (field !== '') faults.set(field, [...(faults.get(field) ?? []), message])
  }
  return faults
}
