/**
 * What this version understands of templates. One that says more was written beside a newer version, and this one
 * came back after it, or runs beside it still: what such a template gives can't be told, so all that it made stays.
 */
import { quote } from '../../kube/go-quote.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import { validateLabelSelector } from '../../kube/label-selector.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { JsonValue, KubeObject } from '../../kube/types.ts'
import { findNoExpression } from './parameter-pattern.ts'
import { featureLevelAnnotation, type NamespaceTemplate, templateProperties } from './types.ts'

/** Raised with each field or value by which a template gives something else than without it. */
export const featureLevel = 1

/** As an annotation says it; 1 where none does. */
export function featureLevelOf({ metadata }: Pick<KubeObject, 'metadata'>): number {
  const said = metadata.annotations?.[featureLevelAnnotation] ?? ''
  // What is no number can't be told either.
  if (said !== '' && !/^[1-9]\d{0,8}$/.test(said)) return Number.POSITIVE_INFINITY
  return said === '' ? 1 : Number(said)
}

/** In words that follow `the template`; undefined = the level is not beyond this version. */
export function findLevelBeyond(template: NamespaceTemplate): string | undefined {
  if (featureLevelOf(template) <= featureLevel) return undefined
  const said = template.metadata.annotations?.[featureLevelAnnotation] ?? ''
  return `needs feature level ${said} (annotation ${featureLevelAnnotation}), and this is ${featureLevel}`
}

/** What of a spec this version does not know, in words that follow `the template`. */
export const findUnknownIn = (spec: NonNullable<NamespaceTemplate['spec']>): string | undefined =>
  findUnknown(spec as JsonValue, templateProperties.get('spec'), 'spec') ?? findUnreadable(spec)

/** What admission refuses, and what is stored all the same where no webhook answered when it was written. */
function findUnreadable({ namespaces, parameters = [] }: NonNullable<NamespaceTemplate['spec']>): string | undefined {
  const errors = validateLabelSelector(namespaces?.labelSelector, 'spec.namespaces.labelSelector')
  for (const [i, { pattern }] of parameters.entries()) {
    const error = pattern === undefined ? undefined : findNoExpression(pattern, `spec.parameters[${i}]`)
    if (error !== undefined) errors.push(error)
  }
  const [first] = errors
  return first && `can not be read: ${first.field}: ${first.body}`
}

function findUnknown(value: JsonValue, schema: Schema | undefined, at: string): string | undefined {
  if (schema === undefined || schema.preserveUnknownFields || schema.type === 'any') return undefined
  if (schema.enum !== undefined && value !== '' && value !== null && !schema.enum.includes(value))
    return `has ${at}: ${quote(String(value))}, a value that this version does not know`
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const unknown = findUnknown(item, schema.items, `${at}[${i}]`)
      if (unknown !== undefined) return unknown
    }
  } else if (isJsonObject(value)) {
    const { properties, additionalProperties } = schema
    if (properties === undefined && additionalProperties === undefined) return undefined
    for (const [key, member] of Object.entries(value)) {
      const of = properties?.get(key) ?? additionalProperties
      if (of === undefined) return `has ${at}.${key}, a field that this version does not know`
      const unknown = of === true ? undefined : findUnknown(member, of, `${at}.${key}`)
      if (unknown !== undefined) return unknown
    }
  }
  return undefined
}
