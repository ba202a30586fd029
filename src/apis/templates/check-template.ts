/**
 * What admission asks of a template: its selectors and objects must make sense, and its author can't grant through it
 * what they lack.
 */
import type { Attributes } from '../../admission/admission.ts'
import { append } from '../../base/append.ts'
import type { Resumable } from '../../base/resumable.ts'
import type { FieldError } from '../../kube/field-error.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { forbidden, invalid } from '../../kube/status-error.ts'
import type { JsonObject, KubeObject, StatusCause } from '../../kube/types.ts'
import type { UserInfo } from '../../kube/user.ts'
import {
  type AuthorRightsDeps,
  type Lack,
  lackingForHeld,
  lackingRights,
  lackingToLetGo,
  mayWiden,
} from './author-rights.ts'
import { type CloneLookups, findSource } from './clones.ts'
import { displacedWarnings, missingBypass } from './displaced.ts'
import type { Matcher } from './match.ts'
import { shapeErrors } from './object-shape.ts'
import { writtenErrors } from './parameter-admission.ts'
import { roleWarnings } from './role-warnings.ts'
import { keyClashes, objectClashes } from './template-clashes.ts'
import { templateErrors } from './template-errors.ts'
import { noveltyOf, objectsOf } from './template-objects.ts'
import type { NamespaceTemplate, TemplateParameter } from './types.ts'
import { checkAnswered, checkLacksKnown, type UnansweredKinds } from './unanswered-kinds.ts'
import { templateWarnings } from './unread-keys.ts'

export interface CheckTemplateDeps extends AuthorRightsDeps, UnansweredKinds {
  /** All templates, with their selectors parsed. */
  matchers(): Iterable<Matcher>
  /** The sources of clones, where they can be looked at without asking another server; then roles can be too. */
  readonly sources?: CloneLookups
  /**
   * What is wrong with an object of a kind that is served, as far as it shows without a namespace, if that can be told.
   */
  checkObject?(object: JsonObject, parameters: readonly TemplateParameter[]): Resumable<FoundInObject>
}

export interface FoundInObject {
  /** Fields count from the object. */
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
}

/** @throws StatusError Invalid; Forbidden if its author lacks what it gives; ServiceUnavailable if none can tell */
export function* checkTemplate(a: Attributes, deps: CheckTemplateDeps): Resumable<void> {
  const template = a.object as NamespaceTemplate
  const old = a.oldObject
  const asksAuthor = old === undefined || mayWiden(template, old)
  yield
  // Where no webhook answered when it was written it may be stored as it is, and must be disabled and let go still.
  const errors = [...(asksAuthor ? templateErrors(template, deps) : []), ...objectClashes(template, deps)]
  yield
  if (!jsonEqual(template.spec ?? {}, old?.spec ?? {})) append(errors, writtenErrors(a, template))
  yield
  if (asksAuthor && errors.length === 0) checkAnswered(a, { next: template, old }, deps)
  if (asksAuthor) {
    append(errors, yield* objectErrors(a, template, old, deps))
    append(errors, keyClashes(template, deps))
  }
  if (errors.length > 0) throw invalid(a.type, a.name, errors)
  for (const warning of templateWarnings(template, old)) a.warn(warning)
  const lacks = old === undefined ? [] : [...lackingToLetGo(deps, a.user, template, old)]
  if (asksAuthor) {
    append(lacks, lackingRights(deps, a.user, template, old))
    append(lacks, missingBypass(deps, a.user, template))
    if (lacks.length === 0 && old !== undefined)
      append(lacks, lackingForHeld(deps, a.user, heldBy(template, old, deps)))
  }
  if (lacks.length > 0) checkLacksKnown(a, { next: template, old }, deps, lacks)
  if (lacks.length > 0) throw forbidden(a.type, a.name, refusalOf(a.user, lacks), lacks.map(causeOf))
  if (!asksAuthor) return
  for (const warning of displacedWarnings(deps, template)) a.warn(warning)
  // Only now: whether a source is there is told to an author who may read it.
  if (deps.sources === undefined) return
  for (const warning of sourceWarnings(deps.sources, template)) a.warn(warning)
  for (const warning of roleWarnings((name) => deps.findClusterRole(name) !== undefined, template)) a.warn(warning)
}

function heldBy(next: NamespaceTemplate, old: NamespaceTemplate, { matchers }: Pick<CheckTemplateDeps, 'matchers'>) {
  const held = [...matchers()].find(({ template }) => template.metadata.uid === old.metadata.uid)?.held?.template
  return { next, old, held }
}

/** Of sources that no namespace may have. */
function sourceWarnings(sources: CloneLookups, template: NamespaceTemplate): string[] {
  const consequence =
    template.spec?.failurePolicy === 'Ignore'
      ? 'namespaces do without it until then'
      : 'new namespaces wait until then; spec.failurePolicy: Ignore would let them go'
  return objectsOf(template).flatMap(({ field, cloneFrom }) => {
    if (cloneFrom === undefined) return []
    const source = findSource(sources, cloneFrom)
    return 'reason' in source ? [`${field}: ${source.message}; ${consequence}`] : []
  })
}

/** Of objects that a change brings or changes. */
function* objectErrors(
  a: Attributes,
  template: NamespaceTemplate,
  old: NamespaceTemplate | undefined,
  { findKind, checkObject }: CheckTemplateDeps,
): Resumable<FieldError[]> {
  const parameters = template.spec?.parameters ?? []
  const isNew = noveltyOf(template, old)
  const errors: FieldError[] = []
  for (const object of objectsOf(template)) {
    yield
    // The content of a clone is its source's.
    if (object.cloneFrom !== undefined || !isNew(object)) continue
    yield
    const { field, source } = object
    const { apiVersion, kind, metadata } = source as Partial<KubeObject>
    // What is wrong with these is told already.
    if (shapeErrors(source, field).length > 0 || !apiVersion || !kind || !metadata?.name) continue
    const served = findKind(apiVersion, kind)
    if (served?.namespaced === false) continue
    if (served === undefined) {
      const consequence =
        template.spec?.failurePolicy === 'Ignore'
          ? 'namespaces do without it until there is one'
          : 'new namespaces wait until there is one; spec.failurePolicy: Ignore would let them go'
      a.warn(`${field}: no kind ${kind} in ${apiVersion} is served: ${consequence}`)
      continue
    }
    if (checkObject === undefined) continue
    const found = yield* checkObject(source, parameters)
    for (const warning of found.warnings) a.warn(`${field}: ${warning}`)
    for (const e of found.errors) errors.push({ ...e, field: e.field === '' ? field : `${field}.${e.field}` })
  }
  return errors
}

const causeOf = ({ field, message }: Lack): StatusCause => ({ reason: 'FieldValueForbidden', message, field })

function refusalOf(user: UserInfo, lacks: readonly Lack[]): string {
  const what = lacks.map(({ field, message }) => `${field}: ${message}`).join('; ')
  return `user ${JSON.stringify(user.username)} can't give through a template what they may not do themselves: ${what}`
}
