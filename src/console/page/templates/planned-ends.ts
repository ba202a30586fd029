/** What an edit of `spec.expiry` comes to in the namespaces that exist: no end changes, some would be refused. Pure. */
import { parseLifetime } from '../../../apis/expiry/bounds.ts'
import { expiresAtMs } from '../../../apis/expiry/end.ts'
import { neverExpires } from '../../../apis/expiry/types.ts'
import type { Namespace } from '../../../apis/namespaces/types.ts'
import { isOptedOut } from '../../../apis/templates/match.ts'
import type { NamespaceTemplate } from '../../../apis/templates/types.ts'
import { matcherOf } from './matcher.ts'

export interface PlannedEnds {
  /** What a namespace lives that says nothing: from now on, and before the edit. */
  readonly newOnes: { readonly after: string | undefined; readonly before: string | undefined }
  readonly max: string | undefined
  /** Namespaces that end later than the new `max` allows. */
  readonly beyond: readonly string[]
  /** Namespaces without an end, where new ones would be given one. */
  readonly endless: readonly string[]
  /** All others that have an end. */
  readonly kept: number
}

/** Undefined where the edit says nothing else of ends. */
export function plannedEnds(
  present: NamespaceTemplate | undefined,
  template: NamespaceTemplate,
  namespaces: readonly Namespace[],
): PlannedEnds | undefined {
  const [old, next] = [present?.spec?.expiry ?? {}, template.spec?.expiry ?? {}]
  if (old.default === next.default && old.max === next.max) return undefined
  const { selects } = matcherOf(template)
  const longest = parseLifetime(next.max ?? '') ?? Number.POSITIVE_INFINITY
  const after = next.default ?? next.max
  const beyond: string[] = []
  const endless: string[] = []
  let kept = 0
  for (const namespace of namespaces) {
    const { name = '', creationTimestamp, deletionTimestamp } = namespace.metadata
    if (neverExpires(name) || deletionTimestamp !== undefined || isOptedOut(namespace) || !selects(namespace)) continue
    const end = expiresAtMs(namespace)
    if (end === Number.POSITIVE_INFINITY) {
      if (after !== undefined) endless.push(name)
    } else if (end > Date.parse(creationTimestamp ?? '') + longest) beyond.push(name)
    else kept++
  }
  return { newOnes: { after, before: old.default ?? old.max }, max: next.max, beyond, endless, kept }
}
