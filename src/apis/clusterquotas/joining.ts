/**
 * Whether the limits of a quota allow what an edit of its selector takes into it: looked at before the edit is stored,
 * a few namespaces at a time. It is a look and no guarantee: what is created until the namespaces are counted counts
 * too, as where a limit is lowered.
 */
import { setImmediate } from 'node:timers/promises'
import type { Attributes } from '../../admission/admission.ts'
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
  namespaces(): Iterable<Pick<KubeObject, 'metadata'>>
  /** What the account of a quota has used; undefined = nothing. */
  usedBy(uid: string, holder: string): Printed | undefined
}

/** Namespaces looked at before other work has a turn. */
const lookedAtOnce = 50

/** @throws StatusError Forbidden */
export async function checkJoining(
  deps: JoiningDeps,
  { type, name }: Pick<Attributes, 'type' | 'name'>,
  { next, old }: { readonly next: ParsedQuota; readonly old: ParsedQuota },
): Promise<void> {
  const joining = new Map<string, Amounts>()
  let looked = 0
  for (const namespace of deps.namespaces()) {
    if (++looked % lookedAtOnce === 0) await setImmediate()
    const more = next.selects(namespace)
    if (more === old.selects(namespace)) continue
    const holder = next.holderOf(namespace)
    const total = joining.get(holder) ?? new Map()
    joining.set(holder, total)
    const used = countContent(deps, namespace.metadata.name ?? '', next, [])
    if (next.scopes.length === 0) used.set(namespacesName, one)
    addUsage(total, next.hard, used, more ? 1 : -1)
  }
  for (const [holder, charge] of joining) {
    if (!isLimited(next, holder)) continue
    const problem = findExceeded({ hard: next.hard, used: usedIn(deps.usedBy(next.uid, holder)) }, charge)
    if (problem === undefined) continue
    throw forbidden(type, name, `exceeded quota: ${next.name}, ${problem}, ${countedOver(next, holder)}`)
  }
}

const one = wholeQuantity(1)
