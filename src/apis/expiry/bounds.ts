/** What the templates of a namespace say of its life: the shortest of their defaults, the shortest of their limits. */

import { isBeyondGoDuration, longestGoDuration, parseGoDuration } from '../../kube/duration.ts'
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import type { TemplateExpiry } from './types.ts'

/** A duration that a template gives. */
export interface Bound {
  readonly template: string
  /** As it is written there. */
  readonly text: string
  readonly ms: number
}

export interface Bounds {
  readonly default?: Bound | undefined
  readonly max?: Bound | undefined
}

/** All that is asked of a template. */
export interface ExpiringTemplate {
  readonly metadata: { readonly name?: string }
  readonly spec?: { readonly expiry?: TemplateExpiry }
}

/** Times on the wire have whole seconds. */
const leastMs = 1000

/** `24h`, `90m`; undefined for what is no duration, or is less than a second. */
export function parseLifetime(text: string): number | undefined {
  const ms = parseGoDuration(text)
  return ms === undefined || ms < leastMs ? undefined : ms
}

export function boundsOf(templates: Iterable<ExpiringTemplate>): Bounds {
  let shortest: Bound | undefined
  let max: Bound | undefined
  for (const { metadata, spec } of templates) {
    const { expiry } = spec ?? {}
    if (expiry === undefined) continue
    const template = metadata.name ?? ''
    max = shorter(max, boundOf(template, expiry.max))
    shortest = shorter(shortest, boundOf(template, expiry.default))
  }
  return { default: shorter(shortest, max), max }
}

/** What a template from before this field was checked may hold counts as nothing. */
function boundOf(template: string, text: string | undefined): Bound | undefined {
  const ms = text === undefined ? undefined : parseLifetime(text)
  return text === undefined || ms === undefined ? undefined : { template, text, ms }
}

const shorter = (a: Bound | undefined, b: Bound | undefined): Bound | undefined =>
  a === undefined || (b !== undefined && b.ms < a.ms) ? b : a

const noLifetime = 'must be a duration of a second or more, such as 90m or 720h: there are no days'
const tooLong = `must not be longer than ${longestGoDuration}, which is as long as a duration can be`

/** What is wrong with a text that `parseLifetime` does not take. */
export const whyNoLifetime = (text: string): string => (isBeyondGoDuration(text) ? tooLong : noLifetime)

/** Of `spec.expiry`. */
export function templateExpiryErrors(expiry: TemplateExpiry): FieldError[] {
  const errors: FieldError[] = []
  const lengths: Partial<Record<keyof TemplateExpiry, number>> = {}
  for (const key of ['default', 'max'] as const) {
    const text = expiry[key]
    if (text === undefined) continue
    const ms = parseLifetime(text)
    if (ms === undefined) errors.push(fieldInvalid(`spec.expiry.${key}`, text, whyNoLifetime(text)))
    else lengths[key] = ms
  }
  if (lengths.default !== undefined && lengths.max !== undefined && lengths.default > lengths.max) {
    errors.push(fieldInvalid('spec.expiry.default', expiry.default, 'must not be longer than spec.expiry.max'))
  }
  return errors
}
