/**
 * Whether the limits of a quota allow what an edit of its selector takes into it: looked at before the edit is stored,
 * a few namespaces at a time. It is a look and no guarantee: what is created until the namespaces are counted counts
 * too, as where a limit is lowered.
 */
import type { Attributes } from '../../admission/admission.ts'
import type { Turns } from '../../base/turns.ts'
import { nameOf } from '../../kube/metadata.ts'
import { wholeQuantity } from '../../kube/quantity.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Amounts } from '../pods/resources.ts'
import { addUsage, type CountedContent, countContent } from '../quotas/accountant.ts'
import { findExceeded } from '../quotas/ledger.ts'
import { usedIn } from './charges.ts'
import { countedOver, isLimited, type ParsedQuota } from './selection.ts'
import { namespacesName, type Printed } from './types.ts'

export interface JoiningDeps extends CountedContent {
  readonly turns: Turns
  /** In steps, each as it is when it is come to. */
  namespaces(): Iterable<readonly Pick<KubeObject, 'metadata'>[]>
  /** What the account of a quota has used; undefined = nothing. */
  usedBy(uid: string, holder: string): Printed | undefined
}

/** @throws StatusError Forbidden */
export async function checkJoining(
  deps: JoiningDeps,
  { type, name }: Pick<Attributes, 'type' | 'name'>,
  { next, old }: { readonly next: ParsedQuota; readonly old: ParsedQuota },
): Promise<void> {
  const joining = new Map<string, Amounts>()
  const slice = await deps.turns.begin()
  for (const step of deps.namespaces()) {
    for (const namespace of step) {
      const more = next.selects(namespace)
      if (more === old.selects(namespace)) continue
      const holder = next.holderOf(namespace)
      const total = joining.get(holder) ?? new Map()
      joining.set(holder, total)
      const used = countContent(deps, nameOf(namespace.metadata), next, [])
      if (next.scopes.length === 0) used.set(namespacesName, one)
      addUsage(total, next.hard, used, more ? 1 : -1)
      const pause = slice.pause()
      if (pause !== undefined) await pause
    }
    await slice.pause()
  }
  for (const [holder, charge] of joining) {
    if (!isLimited(next, holder)) continue
    const problem = findExceeded({ hard: next.hard, used: usedIn(deps.usedBy(next.uid, holder)) }, charge)
    if (problem === undefined) continue
    throw forbidden(type, name, `exceeded quota: ${next.name}, ${problem}, ${countedOver(next, holder)}`)
  }
}

const one = wholeQuantity(1)
