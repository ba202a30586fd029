/** What is wrong with a template by itself: its selectors, limits and ends, and the shape of its objects. */
import { append } from '../../base/append.ts'
import { type FieldError, fieldDuplicate, fieldInvalid, fieldRequired, fieldTooLong } from '../../kube/field-error.ts'
import { validateLabelSelector } from '../../kube/label-selector.ts'
import { labelValueMaxLength } from '../../kube/names.ts'
import type { KubeObject } from '../../kube/types.ts'
import { templateExpiryErrors } from '../expiry/bounds.ts'
import type { AuthorRightsDeps } from './author-rights.ts'
import { entryErrors } from './object-entries.ts'
import { shapeErrors } from './object-shape.ts'
import { identityOf, titleOf } from './render.ts'
import { rolloutErrors } from './rollout-limits.ts'
import { objectsOf } from './template-objects.ts'
import type { NamespaceTemplate } from './types.ts'

/** What population does with an object. Reviews and bindings of pods are kinds too, and know only create. */
const keepingVerbs = ['list', 'watch', 'patch', 'delete'] as const

export function templateErrors(
  template: NamespaceTemplate,
  { findKind }: Pick<AuthorRightsDeps, 'findKind'>,
): FieldError[] {
  const errors: FieldError[] = []
  const { name } = template.metadata
  if (name !== undefined && name.length > labelValueMaxLength) {
    errors.push(fieldTooLong('metadata.name', labelValueMaxLength))
  }
  const { spec } = template
  append(errors, validateLabelSelector(spec?.namespaces?.labelSelector ?? {}, 'spec.namespaces.labelSelector'))
  append(errors, rolloutErrors(spec?.rollout ?? {}))
  append(errors, templateExpiryErrors(spec?.expiry ?? {}))
  const seen = new Set<string>()
  append(errors, entryErrors(spec?.objects ?? []))
  for (const { field, source: object, when } of objectsOf(template)) {
    const misshapen = shapeErrors(object, field)
    append(errors, misshapen)
    if (misshapen.length > 0) continue
    const { apiVersion, kind, metadata } = object as Partial<KubeObject>
    if (!apiVersion) errors.push(fieldRequired(`${field}.apiVersion`))
    if (!kind) errors.push(fieldRequired(`${field}.kind`))
    if (!metadata?.name) errors.push(fieldRequired(`${field}.metadata.name`))
    if (metadata?.namespace) {
      errors.push(
        fieldInvalid(`${field}.metadata.namespace`, metadata.namespace, 'must be empty: every namespace gets one'),
      )
    }
    // A kind that is not served may come later, with its definition.
    const served = apiVersion && kind ? findKind(apiVersion, kind) : undefined
    if (served?.namespaced === false) {
      errors.push(fieldInvalid(`${field}.kind`, kind, 'does not live in namespaces'))
    } else if (served !== undefined && keepingVerbs.some((verb) => !served.verbs.includes(verb))) {
      errors.push(
        fieldInvalid(`${field}.kind`, kind, 'is only asked and never kept: its API knows no patch and delete'),
      )
    }
    // Objects with conditions may be alternatives.
    if (when !== undefined) continue
    const identity = identityOf(object)
    if (seen.has(identity)) errors.push(fieldDuplicate(field, titleOf(object)))
    seen.add(identity)
  }
  return errors
}
