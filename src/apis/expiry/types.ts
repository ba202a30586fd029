/**
 * When a namespace ends by itself: the annotations that say so, the condition that tells of it, and what a template may
 * say of the namespaces that it selects. Vocabulary only; what a write makes of it is `settle-expiry.ts`.
 */
import type { Schema } from '../../kube/schema/schema.ts'
import { initialNamespaces } from '../namespaces/types.ts'

/** On a namespace, RFC 3339: from then on nothing is created in it, and it is deleted. */
export const expiresAtAnnotation = 'borough.dev/expires-at'
/** On a namespace, a duration as Go writes it, counted from its creation. The server makes `expires-at` of it. */
export const ttlAnnotation = 'borough.dev/ttl'
/** On a namespace, set by the server: the NamespaceTemplate that `expires-at` comes from. */
export const expirySourceAnnotation = 'borough.dev/expiry-template'

/** Of a namespace, and only once its time is near. */
export const expiringCondition = 'Expiring'

/** Verb on a namespace: to let it live longer than it was to. To shorten its life takes `delete`. */
export const extendVerb = 'extend'

/** By so much clocks may differ. */
export const toleratedMs = 60_000

export const expiryControllerName = 'namespace-expiry-controller'

/** `spec.expiry` of a NamespaceTemplate: durations. */
export interface TemplateExpiry {
  /** For a namespace that says nothing. Absent = `max`. */
  default?: string
  /** The longest life from its creation on. */
  max?: string
}

const duration = (description: string): Schema => ({ type: 'string', description })

export const templateExpirySchema: Schema = {
  type: 'object',
  description: 'When namespaces end by themselves: durations from their creation, such as 720h.',
  properties: new Map([
    ['default', duration('For a namespace that names no time; default: max.')],
    ['max', duration('The longest that a namespace may live.')],
  ]),
}

const lasting: ReadonlySet<string> = new Set(initialNamespaces)

/** The cluster itself needs these. */
export const neverExpires = (name: string): boolean => lasting.has(name)
