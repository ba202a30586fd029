/** What is wrong with the annotations of expiry, and which right a change of them takes. Pure. */
import { type FieldError, fieldInvalid, fieldRequired, shownOfAnnotation } from '../../kube/field-error.ts'
import { formatTime, parseTime } from '../../kube/time.ts'
import type { KubeObject } from '../../kube/types.ts'
import { deletionProtectionAnnotation } from '../namespaces/types.ts'
import { parseLifetime, whyNoLifetime } from './bounds.ts'
import { expiresAtMs } from './end.ts'
import { bornMs, type ExpiryContext, endOfTtl } from './settle-expiry.ts'
import { expiresAtAnnotation, extendVerb, neverExpires, ttlAnnotation } from './types.ts'

const fieldOf = (key: string): string => `metadata.annotations[${key}]`
const timeField = fieldOf(expiresAtAnnotation)

const annotation = (object: KubeObject | undefined, key: string): string | undefined =>
  object?.metadata.annotations?.[key]

/** Of what the write changes: a namespace that was accepted before is not refused for it now. */
export function expiryErrors(next: KubeObject, old: KubeObject | undefined, context: ExpiryContext): FieldError[] {
  const [time, ttl] = [annotation(next, expiresAtAnnotation), annotation(next, ttlAnnotation)]
  const errors: FieldError[] = []
  if (ttl !== undefined && ttl !== annotation(old, ttlAnnotation) && parseLifetime(ttl) === undefined) {
    errors.push(fieldInvalid(fieldOf(ttlAnnotation), ttl, whyNoLifetime(ttl), shownOfAnnotation))
    // No end could be made of it: that one is missing is no second fault.
    if (time === undefined) return errors
  }
  if (time === undefined || time === annotation(old, expiresAtAnnotation))
    return [...errors, ...limitErrors(next, old, context)]
  const dueMs = parseTime(time)
  if (dueMs === undefined) {
    const why = 'must be a time as RFC 3339 has it, such as 2030-12-31T18:00:00Z'
    errors.push(fieldInvalid(timeField, time, why, shownOfAnnotation))
  } else if (neverExpires(next.metadata.name ?? '')) {
    errors.push(endInvalid(next, old, context, 'this namespace does not expire: the cluster needs it'))
  } else if (dueMs <= context.nowMs) {
    errors.push(endInvalid(next, old, context, `must be in the future: it is ${formatTime(context.nowMs)}`))
  } else return [...errors, ...limitErrors(next, old, context)]
  return errors
}

/** Of the annotation that the client wrote: the end that the server made of a `ttl` is not the client's. */
function endInvalid(next: KubeObject, old: KubeObject | undefined, context: ExpiryContext, why: string): FieldError {
  const time = annotation(next, expiresAtAnnotation) ?? ''
  return writtenAnnotation(next, old, context.nowMs) === ttlAnnotation
    ? fieldInvalid(
        fieldOf(ttlAnnotation),
        annotation(next, ttlAnnotation),
        `the namespace would end at ${time}: ${why}`,
      )
    : fieldInvalid(timeField, time, why)
}

/** Which annotation the client wrote that the end comes from. */
export function writtenAnnotation(next: KubeObject, old: KubeObject | undefined, nowMs: number): string {
  const ttl = annotation(next, ttlAnnotation)
  const isOfTtl =
    ttl !== undefined &&
    ttl !== annotation(old, ttlAnnotation) &&
    endOfTtl(bornMs(next, old, nowMs), ttl) === annotation(next, expiresAtAnnotation)
  return isOfTtl ? ttlAnnotation : expiresAtAnnotation
}

/** Asked where the time changes, and where templates come to select the namespace that did not before. */
function limitErrors(next: KubeObject, old: KubeObject | undefined, context: ExpiryContext): FieldError[] {
  const time = annotation(next, expiresAtAnnotation)
  if (neverExpires(next.metadata.name ?? '')) return []
  const isChanged = time !== annotation(old, expiresAtAnnotation)
  const { max } = isChanged ? context.bounds() : context.gained()
  if (max === undefined) return []
  const latestMs = bornMs(next, old, context.nowMs) + Math.ceil(max.ms / 1000) * 1000
  const why = `NamespaceTemplate ${JSON.stringify(max.template)} lets its namespaces live for ${max.text}`
  if (time === undefined) return [fieldRequired(timeField, why)]
  if (expiresAtMs(next) <= latestMs) return []
  return [endInvalid(next, old, context, `must not be after ${formatTime(latestMs)}: ${why}`)]
}

/**
 * Whether a write lets a namespace outlive its end by protection: it protects one that has an end, gives a protected
 * one an end, or brings a protected one under the limit of a template.
 */
export function outlivesByProtection(next: KubeObject, old: KubeObject | undefined, context: ExpiryContext): boolean {
  if (!isHeld(next)) return false
  return (old !== undefined && !isHeld(old)) || context.gained().max !== undefined
}

const isHeld = (object: KubeObject): boolean =>
  annotation(object, deletionProtectionAnnotation) === 'true' && expiresAtMs(object) !== Number.POSITIVE_INFINITY

/** The verb on the namespace that an update takes; undefined = none. */
export function neededVerb(next: KubeObject, old: KubeObject): 'delete' | typeof extendVerb | undefined {
  const [nextMs, oldMs] = [expiresAtMs(next), expiresAtMs(old)]
  if (nextMs === oldMs) return undefined
  return nextMs < oldMs ? 'delete' : extendVerb
}
