/**
 * What a CustomResourceDefinition may say and change, in upstream's words and at upstream's places: what all versions
 * say alike is judged once, under its old name at the top (`spec.validation`, `spec.subresources`, ...).
 * @see k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go v0.36
 */

import { append } from '../../base/append.ts'
import { type MaybeResumable, type Resumable, resumed } from '../../base/resumable.ts'
import { defaultRuleErrors } from '../../cel/object-rules.ts'
import {
  type FieldError,
  fieldForbidden,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
} from '../../kube/field-error.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { isDns1035Label, isDns1123Subdomain } from '../../kube/names.ts'
import { namespaceSubresources } from '../../kube/namespace-subresources.ts'
import { largestPatternSize } from '../../kube/schema/pattern-size.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { JsonObject } from '../../kube/types.ts'
import { webhookAddressErrors } from '../../kube/webhook-address.ts'
import { approvalErrors } from './approval.ts'
import { defaultErrors } from './default-rules.ts'
import { keywordTypeErrors } from './keyword-types.ts'
import { toResourceSchema } from './schema.ts'
import { schemaRuleErrors } from './schema-rules.ts'
import { sizeOfPatterns, structuralErrors } from './structural.ts'
import {
  badAuthorityOf,
  type CustomResourceDefinition,
  type DefinitionNames,
  type DefinitionVersion,
  isEstablished,
} from './types.ts'
import { validationRuleErrors } from './validation-rules.ts'
import { columnErrors, deprecationErrors, selectableFieldErrors, subresourceErrors } from './version-rules.ts'

type Spec = CustomResourceDefinition['spec']

/** What a schema is judged by, besides itself. */
interface Judged {
  readonly old: Spec | undefined
  /** Schema of ObjectMeta. */
  readonly objectMeta: Schema
}

export const statusErrors = (next: CustomResourceDefinition): FieldError[] =>
  nameErrors(next.status?.acceptedNames, 'status.acceptedNames')

/** In passes over the schema, with a place for a pause between two. */
export function* definitionErrors(
  next: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  objectMeta: Schema,
): Resumable<FieldError[]> {
  const { spec, metadata } = next
  const errors: FieldError[] = []
  if (old === undefined && metadata.name !== `${spec.names.plural}.${spec.group}`) {
    errors.push(fieldInvalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'))
  }
  append(errors, yield* specErrors(spec, { old: old?.spec, objectMeta }))
  if (old !== undefined) {
    append(errors, authorityErrors(next, old))
    append(errors, immutableErrors(next, old))
  }
  append(errors, statusErrors(next))
  append(errors, storedVersionErrors(next))
  append(errors, approvalErrors(next, old))
  if (spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
    errors.push(fieldInvalid('spec.preserveUnknownFields', true, detail))
  }
  return errors
}

function* specErrors(spec: Spec, by: Judged): Resumable<FieldError[]> {
  const { group, scope, versions, names } = spec
  const errors: FieldError[] = []
  const groupFaults = isDns1123Subdomain(group)
  if (group === '') errors.push(fieldRequired('spec.group'))
  else if (groupFaults.length > 0) errors.push(fieldInvalid('spec.group', group, groupFaults.join(',')))
  else if (!group.includes('.')) {
    errors.push(fieldInvalid('spec.group', group, 'should be a domain with at least one dot'))
  }
  if (scope === '') errors.push(fieldRequired('spec.scope'))
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    errors.push(fieldNotSupported('spec.scope', scope, ['Cluster', 'Namespaced']))
  }
  append(errors, yield* versionErrors(spec, by))
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[field]) errors.push(fieldRequired(`spec.names.${field}`))
  }
  append(errors, nameErrors(names, 'spec.names'))
  if (namespaceSubresources.has(names.plural)) {
    errors.push(fieldInvalid('spec.names.plural', names.plural, 'is reserved for a sub-resource of namespaces'))
  }
  append(errors, yield* sharedErrors(versions, by))
  append(errors, conversionErrors(spec.conversion))
  return errors
}

function* versionErrors(spec: Spec, by: Judged): Resumable<FieldError[]> {
  const { versions } = spec
  const errors: FieldError[] = []
  for (const [i, { schema }] of versions.entries()) {
    if (schema?.openAPIV3Schema === undefined) {
      errors.push(fieldRequired(`spec.versions[${i}].schema.openAPIV3Schema`, 'schemas are required'))
    }
  }
  // Found once: there may be hundreds of versions.
  const ownParts = parts.filter((part) => !isShared(versions, part))
  for (const [i, version] of versions.entries()) {
    const path = `spec.versions[${i}]`
    const faults = isDns1035Label(version.name ?? '')
    if (faults.length > 0) errors.push(fieldInvalid(`${path}.name`, version.name ?? '', faults.join(',')))
    append(errors, deprecationErrors(version, `${path}.deprecationWarning`))
    for (const part of ownParts) {
      append(errors, yield* resumed(part.judge(version, `${path}.${part.ownPath}`, by)))
    }
    yield
  }
  if (new Set(versions.map((v) => v.name)).size < versions.length) {
    errors.push(fieldInvalid('spec.versions', versions, 'must contain unique version names'))
  }
  if (versions.filter((v) => v.storage).length !== 1) {
    errors.push(fieldInvalid('spec.versions', versions, 'must have exactly one version marked as storage version'))
  }
  return errors
}

/** A part of a version that stands at the top if all versions have the same. */
interface Part {
  readonly of: (version: DefinitionVersion) => unknown
  readonly ownPath: string
  readonly sharedPath: string
  readonly judge: (version: DefinitionVersion, path: string, by: Judged) => MaybeResumable<FieldError[]>
}

const parts: readonly Part[] = [
  {
    of: (v) => v.schema,
    ownPath: 'schema',
    sharedPath: 'spec.validation',
    judge: (v, path, by) => {
      const schema = v.schema?.openAPIV3Schema
      return schema === undefined ? [] : schemaErrors(schema, v, `${path}.openAPIV3Schema`, by)
    },
  },
  {
    of: (v) => v.subresources,
    ownPath: 'subresources',
    sharedPath: 'spec.subresources',
    judge: (v, path) => subresourceErrors(v.subresources, path),
  },
  {
    of: (v) => v.additionalPrinterColumns,
    ownPath: 'additionalPrinterColumns',
    sharedPath: 'spec.additionalPrinterColumns',
    judge: (v, path) => columnErrors(v.additionalPrinterColumns, path),
  },
  {
    of: (v) => v.selectableFields,
    ownPath: 'selectableFields',
    sharedPath: 'spec.selectableFields',
    judge: (v, path) => selectableFieldErrors(v.selectableFields, v.schema?.openAPIV3Schema, path),
  },
]

/** Rules and defaults are judged without regard to what ObjectMeta says. */
const looseMetadata: Schema = { type: 'object', preserveUnknownFields: true }

const isShared = (versions: readonly DefinitionVersion[], { of }: Part): boolean =>
  versions.every((v) => jsonEqual(of(v), of(versions[0] as DefinitionVersion)))

function* sharedErrors([first, ...others]: readonly DefinitionVersion[], by: Judged): Resumable<FieldError[]> {
  const errors: FieldError[] = []
  if (first === undefined) return errors
  for (const part of parts) {
    if (!isShared([first, ...others], part)) continue
    append(errors, yield* resumed(part.judge(first, part.sharedPath, by)))
  }
  return errors
}

/** With a status sub-resource nothing else may stand at the root: the schema of `status` must say all about it. */
const atRootWithStatus: ReadonlySet<string> = new Set(
  (
    'description type format title maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern ' +
    'maxItems minItems uniqueItems multipleOf required items properties externalDocs example ' +
    'x-kubernetes-preserve-unknown-fields x-kubernetes-validations'
  ).split(' '),
)
const atRootInWords =
  '[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength ' +
  'Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example ' +
  'XPreserveUnknownFields XValidations]'

function* schemaErrors(
  schema: JsonObject,
  version: DefinitionVersion,
  path: string,
  { old, objectMeta }: Judged,
): Resumable<FieldError[]> {
  // What was accepted is not judged again: rules get stricter from release to release.
  if (old?.versions.some((v) => v.name === version.name && jsonEqual(v.schema?.openAPIV3Schema, schema))) return []
  const mistyped = keywordTypeErrors(schema, path)
  yield
  if (mistyped.length > 0) return mistyped
  if (sizeOfPatterns(schema) > largestPatternSize) {
    return [fieldForbidden(path, `its patterns come to more than ${largestPatternSize} instructions`)]
  }
  yield
  const errors: FieldError[] = []
  if (version.subresources?.status) {
    const type = schema['type'] ?? ''
    if (type !== 'object' && type !== '') {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
      errors.push(fieldInvalid(`${path}.type`, type, detail))
    } else if (Object.keys(schema).some((key) => !atRootWithStatus.has(key))) {
      const detail =
        `only ${atRootInWords} fields are allowed at the root of the schema ` + 'if the status subresource is enabled'
      errors.push(fieldInvalid(path, schema, detail))
    }
  }
  const structural = yield* structuralErrors(schema, path)
  const rules = schemaRuleErrors(schema, path)
  yield
  append(errors, structural)
  const loose = toResourceSchema(schema, looseMetadata)
  yield
  const defaults = structural.length === 0 && rules.length === 0 ? defaultErrors(loose, path, objectMeta) : []
  append(errors, defaults)
  yield
  // Expressions are compiled against types, so the schema must make sense.
  const isSound = structural.length + rules.length + defaults.length === 0
  const expressions = yield* validationRuleErrors(loose, schema, path, isSound)
  yield
  const ofDefaults =
    isSound && expressions.length === 0 ? defaultRuleErrors(toResourceSchema(schema, objectMeta), path) : []
  return [...errors, ...ofDefaults, ...rules, ...expressions]
}

function nameErrors(names: DefinitionNames | undefined, path: string): FieldError[] {
  if (names === undefined) return []
  const errors: FieldError[] = []
  const label = (value: string, field: string): void => {
    const faults = isDns1035Label(value)
    if (faults.length > 0) errors.push(fieldInvalid(`${path}.${field}`, value, faults.join(',')))
  }
  const mixedCase = (value: string, field: string): void => {
    const faults = isDns1035Label(value.toLowerCase())
    if (faults.length === 0) return
    const detail = `may have mixed case, but should otherwise match: ${faults.join(',')}`
    errors.push(fieldInvalid(`${path}.${field}`, value, detail))
  }
  if (names.plural) label(names.plural, 'plural')
  if (names.singular) label(names.singular, 'singular')
  if (names.kind) mixedCase(names.kind, 'kind')
  if (names.listKind) mixedCase(names.listKind, 'listKind')
  for (const [i, name] of (names.shortNames ?? []).entries()) label(name, `shortNames[${i}]`)
  if (names.kind && names.kind === names.listKind) {
    errors.push(fieldInvalid(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'))
  }
  for (const [i, name] of (names.categories ?? []).entries()) label(name, `categories[${i}]`)
  return errors
}

function immutableErrors(next: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = []
  const same = (value: string, before: string, field: string): void => {
    if (value !== before) errors.push(fieldInvalid(field, value, 'field is immutable'))
  }
  if (isEstablished(old)) {
    same(next.spec.scope, old.spec.scope, 'spec.scope')
    same(next.spec.names.kind, old.spec.names.kind, 'spec.names.kind')
  }
  same(next.spec.group, old.spec.group, 'spec.group')
  same(next.spec.names.plural, old.spec.names.plural, 'spec.names.plural')
  return errors
}

function storedVersionErrors({ spec, status }: CustomResourceDefinition): FieldError[] {
  const stored = status?.storedVersions ?? []
  const field = 'status.storedVersions'
  if (stored.length === 0) return [fieldInvalid(field, stored, 'must have at least one stored version')]
  const known = new Set(spec.versions.map((v) => v.name))
  return stored.flatMap((name, i) =>
    known.has(name)
      ? []
      : [
          fieldInvalid(
            `${field}[${i}]`,
            name,
            `missing from spec.versions; ${name} was previously a storage version, and must remain in ` +
              `spec.versions until a storage migration ensures no data remains persisted in ${name} and ` +
              `removes ${name} from status.storedVersions`,
          ),
        ],
  )
}

/** Of an established definition only: another one is kept from being established (`naming.ts`) until it is mended. */
function authorityErrors(next: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const caBundle = badAuthorityOf(next.spec.conversion)
  if (caBundle === undefined || !isEstablished(old) || badAuthorityOf(old.spec.conversion) !== undefined) return []
  const why = 'unable to load root certificates: unable to parse bytes as PEM block'
  return [fieldInvalid('spec.conversion.webhookClientConfig.caBundle', caBundle, why)]
}

function conversionErrors(conversion: Spec['conversion']): FieldError[] {
  if (conversion === undefined) return []
  const path = 'spec.conversion'
  const { strategy, webhook } = conversion
  if (!strategy) return [fieldRequired(`${path}.strategy`)]
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [fieldNotSupported(`${path}.strategy`, strategy, ['None', 'Webhook'])]
  }
  const client = webhook?.['clientConfig'] as JsonObject | undefined
  const reviews = webhook?.['conversionReviewVersions']
  if (strategy === 'None') {
    const detail = 'should not be set when strategy is not set to Webhook'
    return webhook === undefined ? [] : [fieldForbidden(`${path}.webhook`, detail)]
  }
  const errors: FieldError[] = []
  if (client === undefined) {
    errors.push(fieldRequired(`${path}.webhookClientConfig`, 'required when strategy is set to Webhook'))
  } else append(errors, webhookAddressErrors(`${path}.webhookClientConfig`, client))
  const field = `${path}.conversionReviewVersions`
  if (!Array.isArray(reviews) || reviews.length === 0) errors.push(fieldRequired(field))
  else if (!reviews.includes('v1') && !reviews.includes('v1beta1')) {
    errors.push(fieldInvalid(field, reviews, 'must include at least one of v1, v1beta1'))
  }
  return errors
}
