/**
 * Types that have no fields of their own in OpenAPI: scalars with a name, and values of any form.
 */
import type { JsonObject } from '../../kube/types.ts'
import { metaType } from './definition-names.ts'

export type OpenapiStyle = 'v2' | 'v3'

const apiextensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.'
export const quantityName = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
export const intOrStringName = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString'
export const rawExtensionName = 'io.k8s.apimachinery.pkg.runtime.RawExtension'
export const patchName: string = metaType('Patch')
export const timeName: string = metaType('Time')
export const microTimeName: string = metaType('MicroTime')

interface SpecialDefinition {
  readonly description: string
  readonly v2: JsonObject
  /** As `v2` if absent. */
  readonly v3?: JsonObject
}

const specials: Readonly<Record<string, SpecialDefinition>> = {
  [timeName]: {
    description: 'A point in time in RFC 3339 form, in whole seconds.',
    v2: { type: 'string', format: 'date-time' },
  },
  [microTimeName]: {
    description: 'A point in time in RFC 3339 form, in microseconds.',
    v2: { type: 'string', format: 'date-time' },
  },
  [quantityName]: {
    description:
      'A fixed-point number with an optional suffix: a power of ten (m, k, M, G, T, P, E), a power of two ' +
      '(Ki, Mi, Gi, Ti, Pi, Ei), or a decimal exponent. `100m` is a tenth, `1Gi` is 1073741824.',
    v2: { type: 'string' },
    v3: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  },
  [intOrStringName]: {
    description: 'An int32 or a string.',
    v2: { type: 'string', format: 'int-or-string' },
    v3: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  },
  [rawExtensionName]: { description: 'An object of any kind.', v2: { type: 'object' } },
  [metaType('FieldsV1')]: {
    description:
      'A set of fields as a tree: `f:<name>` is a field, `k:<keys>` an item of a list by its keys, ' +
      '`v:<value>` an item of a set, `.` the node itself.',
    v2: { type: 'object' },
  },
  [patchName]: {
    description: 'A change to an object; its form follows from the content type.',
    v2: { type: 'object' },
  },
  [`${apiextensions}JSON`]: { description: 'Any JSON value.', v2: {} },
  [`${apiextensions}JSONSchemaPropsOrBool`]: { description: 'A schema, or true or false.', v2: {} },
  [`${apiextensions}JSONSchemaPropsOrArray`]: { description: 'A schema, or an array of schemas.', v2: {} },
  [`${apiextensions}JSONSchemaPropsOrStringArray`]: {
    description: 'A schema, or an array of property names.',
    v2: {},
  },
  [`${apiextensions}CustomResourceSubresourceStatus`]: {
    description: 'Its presence serves the status sub-resource.',
    v2: { type: 'object' },
  },
}

/** Undefined for a type that has fields. */
export function specialDefinition(name: string, style: OpenapiStyle): JsonObject | undefined {
  if (!Object.hasOwn(specials, name)) return undefined
  const special = specials[name]
  return special && { description: special.description, ...((style === 'v3' && special.v3) || special.v2) }
}

const anyFields: Readonly<Record<string, string>> = {
  [`${apiextensions}CustomResourceSubresources.status`]: `${apiextensions}CustomResourceSubresourceStatus`,
  [`${apiextensions}JSONSchemaProps.additionalItems`]: `${apiextensions}JSONSchemaPropsOrBool`,
  [`${apiextensions}JSONSchemaProps.additionalProperties`]: `${apiextensions}JSONSchemaPropsOrBool`,
  [`${apiextensions}JSONSchemaProps.default`]: `${apiextensions}JSON`,
  [`${apiextensions}JSONSchemaProps.dependencies`]: `${apiextensions}JSONSchemaPropsOrStringArray`,
  [`${apiextensions}JSONSchemaProps.enum`]: `${apiextensions}JSON`,
  [`${apiextensions}JSONSchemaProps.example`]: `${apiextensions}JSON`,
  [`${apiextensions}JSONSchemaProps.items`]: `${apiextensions}JSONSchemaPropsOrArray`,
  [metaType('ManagedFieldsEntry.fieldsV1')]: metaType('FieldsV1'),
}

/** Which of them a catalogued field of any form holds. */
export const anyFieldType = (typeName: string, field: string): string =>
  anyFields[`${typeName}.${field}`] ?? rawExtensionName
