/**
 * What a write makes of the annotations of expiry. Pure.
 *
 *   create   expires-at given ──▶ as it is
 *            ttl given ─────────▶ expires-at = creation + ttl
 *            neither ───────────▶ expires-at = creation + the default of the templates that select it
 *   update   ttl changed, expires-at not ──▶ expires-at = creation + ttl
 *            expires-at left out, ttl not ─▶ as it was: a manifest that says ttl does not hold what we made of it
 *            more templates select it, and it has no time ──▶ expires-at = now + their default, within their limit
 *
 * The object is not validated yet: what is no text is left for `expiry-errors.ts` to refuse.
 */
import { formatTime, parseTime } from '../../kube/time.ts'
import type { KubeObject, ObjectMeta, Unvalidated } from '../../kube/types.ts'
import type { Namespace } from '../namespaces/types.ts'
import { type Bounds, parseLifetime } from './bounds.ts'
import { expiresAtAnnotation, expirySourceAnnotation, neverExpires, toleratedMs, ttlAnnotation } from './types.ts'

export interface ExpiryContext {
  readonly nowMs: number
  /** What the templates say that select the object as it is now; asked only where it matters. */
  bounds(): Bounds
  /** The same of those that did not select it before. */
  gained(): Bounds
}

interface Named {
  readonly metadata: ObjectMeta
}

type Annotations = Readonly<Record<string, string | undefined>>

const annotationsOf = ({ metadata }: Named): Annotations => metadata.annotations ?? {}

/** When it was created; of one that has no time yet, now. */
export function createdMs({ metadata }: Named, nowMs: number): number {
  return parseTime(metadata.creationTimestamp ?? '') ?? nowMs
}

/** From when its life counts: from its creation; of a new one, where a clock that is behind wrote that, from now. */
export function bornMs(next: Named, old: Named | undefined, nowMs: number): number {
  const atMs = createdMs(old ?? next, nowMs)
  return old === undefined && nowMs - atMs > toleratedMs ? nowMs : atMs
}

export function settleExpiry(
  next: Unvalidated<Namespace>,
  old: KubeObject | undefined,
  context: ExpiryContext,
): Unvalidated<Namespace> {
  if (old?.metadata.deletionTimestamp !== undefined) return next
  const given = annotationsOf(next)
  const settled = old === undefined ? ofNew(next, context) : ofExisting(next, old, context)
  const source = settled.template ?? keptSource(settled.expiresAt, old)
  return annotated(next, given, { [expiresAtAnnotation]: settled.expiresAt, [expirySourceAnnotation]: source })
}

interface Settled {
  readonly expiresAt: string | undefined
  /** Where it comes from. */
  readonly template?: string
}

function ofNew(next: Unvalidated<Namespace>, context: ExpiryContext): Settled {
  const { [expiresAtAnnotation]: expiresAt, [ttlAnnotation]: ttl } = annotationsOf(next)
  const fromMs = bornMs(next, undefined, context.nowMs)
  if (expiresAt !== undefined) return withSource(next, expiresAt, () => ofDefault(context.bounds(), fromMs))
  if (ttl !== undefined) return { expiresAt: endOfTtl(fromMs, ttl) }
  if (neverExpires(next.metadata.name ?? '')) return { expiresAt }
  return ofDefault(context.bounds(), fromMs)
}

function ofDefault({ default: bound }: Bounds, fromMs: number): Settled {
  return bound === undefined
    ? { expiresAt: undefined }
    : { expiresAt: timeAfter(fromMs, bound.ms), template: bound.template }
}

/**
 * An API server asks a webhook again about what it answered itself: a source stays where it is true. A client that
 * names it says no more than what would be said without it.
 */
function withSource(next: Unvalidated<Namespace>, expiresAt: string, ours: () => Settled): Settled {
  const source = annotationsOf(next)[expirySourceAnnotation]
  if (source === undefined) return { expiresAt }
  const { expiresAt: due, template } = ours()
  if (due === undefined || source !== template) return { expiresAt }
  const apartMs = Math.abs((parseTime(expiresAt) ?? Number.POSITIVE_INFINITY) - (parseTime(due) ?? 0))
  return apartMs <= toleratedMs ? { expiresAt, template } : { expiresAt }
}

function ofExisting(next: Unvalidated<Namespace>, old: KubeObject, context: ExpiryContext): Settled {
  const { [expiresAtAnnotation]: expiresAt, [ttlAnnotation]: ttl } = annotationsOf(next)
  const before = annotationsOf(old)
  const was = before[expiresAtAnnotation]
  const fromMs = createdMs(old, context.nowMs)
  const isTtlNew = ttl !== undefined && ttl !== before[ttlAnnotation]
  if (isTtlNew && (expiresAt === was || expiresAt === undefined))
    return { expiresAt: endOfTtl(fromMs, ttl) ?? expiresAt }
  if (ttl !== undefined && expiresAt === undefined) return { expiresAt: was ?? endOfTtl(fromMs, ttl) }
  if (was !== undefined || neverExpires(old.metadata.name ?? '')) return { expiresAt }
  const ofGained = (): Settled => {
    const { default: bound, max } = context.gained()
    if (bound === undefined) return { expiresAt: undefined }
    const dueMs = Math.min(context.nowMs + bound.ms, max === undefined ? Number.POSITIVE_INFINITY : fromMs + max.ms)
    return { expiresAt: formatTime(dueMs), template: bound.template }
  }
  return expiresAt === undefined ? ofGained() : withSource(next, expiresAt, ofGained)
}

const timeAfter = (fromMs: number, ms: number): string => formatTime(fromMs + Math.ceil(ms / 1000) * 1000)

/** When a life of `ttl` ends; undefined where that is no duration. */
export function endOfTtl(fromMs: number, ttl: unknown): string | undefined {
  const ms = typeof ttl === 'string' ? parseLifetime(ttl) : undefined
  return ms === undefined ? undefined : timeAfter(fromMs, ms)
}

/** It stays for as long as the time that it explains. */
function keptSource(expiresAt: string | undefined, old: KubeObject | undefined): string | undefined {
  if (old === undefined || expiresAt === undefined) return undefined
  const before = annotationsOf(old)
  return before[expiresAtAnnotation] === expiresAt ? before[expirySourceAnnotation] : undefined
}

function annotated(next: Unvalidated<Namespace>, given: Annotations, wanted: Annotations): Unvalidated<Namespace> {
  const changed = Object.entries(wanted).filter(([key, value]) => given[key] !== value)
  if (changed.length === 0) return next
  const annotations: Record<string, string> = { ...next.metadata.annotations }
  for (const [key, value] of changed) {
    if (value === undefined) delete annotations[key]
    else annotations[key] = value
  }
  return { ...next, metadata: { ...next.metadata, annotations } }
}
