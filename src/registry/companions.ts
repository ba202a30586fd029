/**
 * What admission wants created along with a namespace, made ready: every object comes the way of a create of its own, as
 * the user whom admission names. If one of them can't be judged yet, or is refused, the namespace is created alone; who
 * wanted them makes them afterwards, and hears why not.
 */

import type { Companions } from '../admission/admission.ts'
import { type Decision, type DecisionView, NeedsNamespace } from '../admission/admission.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { findStatusError } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { fitting } from './fitting.ts'
import type { ObjectWrite } from './object-write.ts'
import type { RegistryParts } from './parts.ts'
import { admittedNew, type Decidable, decidable, type HowToCreate } from './prepare-create.ts'
import type { WriteScope } from './registry.ts'
import { encoded } from './shown.ts'

export interface Company {
  readonly namespace: Decidable
  readonly objects: readonly ObjectWrite[]
  besides(view: DecisionView): Decision | undefined
}

/** Of a namespace that was validated. undefined = it is created alone. */
export async function companionsOf(
  parts: RegistryParts,
  scope: WriteScope,
  alone: Decidable,
  how: HowToCreate,
): Promise<Company | undefined> {
  try {
    const companions = parts.chain.accompany(alone.attributes)
    if (companions === undefined) return undefined
    const namespace = await asUpdated(parts, scope, alone, companions.namespace, how)
    const newNamespace = namespace.change.after ?? companions.namespace
    const objects = await Promise.all(
      companions.objects.map(({ type, object }) =>
        companion(parts, scopeOf(companions, type, newNamespace, scope), object, how),
      ),
    )
    companions.made(objects.map(({ change }) => change.after as KubeObject))
    return { namespace, objects, besides: (view) => companions.decide(view) }
  } catch (error) {
    if (error instanceof NeedsNamespace || findStatusError(error) !== undefined) return undefined
    throw error
  }
}

async function asUpdated(
  parts: RegistryParts,
  { type }: WriteScope,
  alone: Decidable,
  namespace: KubeObject,
  how: HowToCreate,
): Promise<Decidable> {
  const { attributes, change } = alone
  const context = { subresource: '', now: how.now }
  const next = parts.strategyOf(type).prepare?.(namespace, change.after, context) ?? namespace
  const { object: after, bytes: value } = await fitting(next, (one) => encoded(one, type), how.tracked)
  return { ...alone, attributes: { ...attributes, object: after }, change: { ...change, after }, value }
}

async function companion(
  parts: RegistryParts,
  scope: WriteScope,
  object: KubeObject,
  how: HowToCreate,
): Promise<ObjectWrite> {
  const tracked = { ...how, tracked: true, versioned: false }
  const admitting = admittedNew(parts, scope, object, tracked)
  return decidable(parts, scope, admitting instanceof Promise ? await admitting : admitting, tracked)
}

/** Nobody is there to be warned. */
const scopeOf = (
  { user, fieldManager }: Companions,
  type: ResourceType,
  newNamespace: KubeObject,
  { caller, deadlineMs }: WriteScope,
): WriteScope => ({
  type,
  namespace: newNamespace.metadata.name ?? '',
  name: '',
  subresource: '',
  user,
  dryRun: false,
  fieldManager,
  options: { fieldManager },
  warn: () => {},
  caller,
  ...(deadlineMs === undefined ? {} : { deadlineMs }),
  newNamespace,
})
