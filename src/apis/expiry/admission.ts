/**
 * Who may say when a namespace ends, and when that may be: on every write of a namespace, sub-resources included, for
 * annotations can be changed by way of them too. Who protects one in words that protect nothing is told.
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import type { Authorizer } from '../../authz/authz.ts'
import type { Clock } from '../../base/clock.ts'
import { wordWarnings } from '../../kube/annotation-words.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { forbidden, invalid } from '../../kube/status-error.ts'
import type { KubeObject, ObjectMeta, Unvalidated } from '../../kube/types.ts'
import { deletionProtectionAnnotation, type Namespace } from '../namespaces/types.ts'
import type { Bounds, ExpiringTemplate } from './bounds.ts'
import { boundsOf } from './bounds.ts'
import { expiryErrors, neededVerb, outlivesByProtection, writtenAnnotation } from './expiry-errors.ts'
import { type ExpiryContext, settleExpiry } from './settle-expiry.ts'
import { expiresAtAnnotation, expirySourceAnnotation, extendVerb, ttlAnnotation } from './types.ts'

interface Named {
  readonly metadata: ObjectMeta
}

export interface ExpiryTemplates {
  /** Those that select a namespace. */
  templatesOf(namespace: Named): readonly ExpiringTemplate[]
  /** Whether any template says something of ends: most clusters have none, and nothing is asked there. */
  anyTemplateExpires(): boolean
}

export interface ExpiryDeps extends ExpiryTemplates {
  readonly clock: Pick<Clock, 'now'>
}

interface CheckDeps extends ExpiryDeps {
  readonly authorizer: Authorizer
}

const concerns = (deps: ExpiryDeps, next: Named, old: Named | undefined): boolean =>
  deps.anyTemplateExpires() || saysEnd(next) || saysEnd(old)

function saysEnd(namespace: Named | undefined): boolean {
  const annotations = namespace?.metadata.annotations
  if (annotations === undefined) return false
  return (
    annotations[expiresAtAnnotation] !== undefined ||
    annotations[ttlAnnotation] !== undefined ||
    annotations[expirySourceAnnotation] !== undefined
  )
}

const noBounds: Bounds = {}
const words = [[deletionProtectionAnnotation, 'true']] as const

/** As the strategy of namespaces prepares them, when they have their names. */
export const settledExpiry =
  (deps: ExpiryDeps) =>
  (next: Unvalidated<Namespace>, old: KubeObject | undefined): Unvalidated<Namespace> =>
    concerns(deps, next, old) ? settleExpiry(next, old, contextOf(deps, next, old)) : next

export function namespaceExpiry(deps: CheckDeps): AdmissionPlugin {
  return {
    name: 'NamespaceExpiry',
    handles: (operation, type) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      type.group === '' &&
      type.resource === 'namespaces' && ['validate'],
    validate(a) {
      const { type, name, object, oldObject } = a
      if (object === undefined || oldObject?.metadata.deletionTimestamp !== undefined) return
      if (object.metadata.annotations?.[deletionProtectionAnnotation] !== undefined) {
        for (const warning of wordWarnings(words, object, oldObject)) a.warn(warning)
      }
      if (!concerns(deps, object, oldObject)) return
      const context = contextOf(deps, object, oldObject)
      const errors = expiryErrors(object, oldObject, context)
      if (errors.length > 0) throw invalid(type, name, errors)
      if (oldObject !== undefined) checkRight(a, object, oldObject, deps)
      if (outlivesByProtection(object, oldObject, context)) checkProtection(a, deps.authorizer)
    },
  }
}

function contextOf({ clock, templatesOf }: ExpiryDeps, next: Named, old: KubeObject | undefined): ExpiryContext {
  return {
    nowMs: clock.now(),
    bounds: () => boundsOf(templatesOf(next)),
    gained() {
      // The name and the creator stay: labels and the annotations of templates decide.
      if (old !== undefined && sameSelection(next, old)) return noBounds
      const before = old === undefined ? [] : templatesOf(old)
      return boundsOf(templatesOf(next).filter((template) => !before.includes(template)))
    },
  }
}

const ours: ReadonlySet<string> = new Set([expiresAtAnnotation, ttlAnnotation, expirySourceAnnotation])

const withoutOurs = (annotations: ObjectMeta['annotations']): object =>
  Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => !ours.has(key)))

const sameSelection = (next: Named, old: Named): boolean =>
  jsonEqual(next.metadata.labels ?? {}, old.metadata.labels ?? {}) &&
  jsonEqual(withoutOurs(next.metadata.annotations), withoutOurs(old.metadata.annotations))

/** @throws StatusError Forbidden */
function checkRight(a: Attributes, next: KubeObject, old: KubeObject, { authorizer, clock }: CheckDeps): void {
  const verb = neededVerb(next, old)
  if (verb === undefined || may(a, verb, authorizer)) return
  const key = writtenAnnotation(next, old, clock.now())
  throw forbidden(
    a.type,
    a.name,
    `user ${JSON.stringify(a.user.username)} cannot ${verb === extendVerb ? 'lengthen' : 'shorten'} the life of this ` +
      `namespace: its annotation ${key} needs the verb ${JSON.stringify(verb)} on it`,
  )
}

/** @throws StatusError Forbidden */
function checkProtection(a: Attributes, authorizer: Authorizer): void {
  if (may(a, extendVerb, authorizer)) return
  throw forbidden(
    a.type,
    a.name,
    `user ${JSON.stringify(a.user.username)} cannot keep this namespace beyond its end: annotation ` +
      `${deletionProtectionAnnotation} needs the verb ${JSON.stringify(extendVerb)} on it`,
  )
}

function may({ user, name }: Attributes, verb: string, authorizer: Authorizer): boolean {
  const asked = { user, verb, group: '', version: 'v1', resource: 'namespaces', subresource: '', namespace: name, name }
  return authorizer.authorize(asked).allowed
}
