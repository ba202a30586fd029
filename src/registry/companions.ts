/**
 * What admission wants created along with a namespace, made ready: every object comes the way of a create of its own,
 * as the user whom admission names. If one of them can't be judged yet, or is refused, the namespace is created alone;
 * who wanted them makes them afterwards, and hears why not.
 */
import { type Attributes, type Companions, NeedsNamespace } from '../admission/admission.ts'
import type { ResourceType } from '../kube/resource-type.ts'
import { findStatusError } from '../kube/status-error.ts'
import type { KubeObject } from '../kube/types.ts'
import { assumeValid, unvalidated } from '../kube/unvalidated.ts'
import type { ObjectWrite } from './object-write.ts'
import type { RegistryParts } from './parts.ts'
import {
  admittedNew,
  type CreateOutcome,
  type Decidable,
  decidable,
  type HowToCreate,
  type Valid,
  validated,
} from './prepare-create.ts'
import type { WriteScope } from './registry.ts'

/** Of a namespace that was validated. undefined = it is created alone. */
export function companionsOf({ chain }: RegistryParts, attributes: Attributes): Companions | undefined {
  try {
    return chain.accompany(attributes)
  } catch (error) {
    return alone(error)
  }
}

interface Accompanied {
  /** The namespace. */
  readonly valid: Valid
  readonly companions: Companions
  readonly how: HowToCreate
}

/** undefined = not together: it is to be created alone. */
export async function createdTogether(
  parts: RegistryParts,
  scope: WriteScope,
  together: Accompanied,
): Promise<CreateOutcome | undefined> {
  const { companions, how } = together
  try {
    const namespace = await updated(parts, scope, together)
    const objects: ObjectWrite[] = []
    // One after the other: the first that is refused spares the rest the trouble.
    for (const { type, object } of companions.objects) {
      const own = scopeOf(companions, type, namespace.attributes.object, scope)
      objects.push(await companion(parts, own, object, how))
    }
    const outcome = await parts.commits.createTogether(namespace, objects, companions)
    return outcome?.done ? { ...outcome, value: outcome.value ?? namespace.value } : outcome
  } catch (error) {
    return alone(error)
  }
}

/** @throws what is no refusal */
function alone(error: unknown): undefined {
  if (error instanceof NeedsNamespace || findStatusError(error) !== undefined) return undefined
  throw error
}

/** The namespace as an update makes it. */
async function updated(
  parts: RegistryParts,
  scope: WriteScope,
  { valid, companions, how }: Accompanied,
): Promise<Decidable> {
  const context = { subresource: '', now: how.now }
  const prepared = parts.strategyOf(scope.type).prepare?.(unvalidated(companions.namespace), valid.object, context)
  // The namespace was validated; what its initializers and templates make of it is the server's own.
  const object = prepared === undefined ? companions.namespace : assumeValid(prepared)
  return decidable(scope, { attributes: { ...valid.attributes, object }, object }, how)
}

async function companion(
  parts: RegistryParts,
  scope: WriteScope,
  object: KubeObject,
  how: HowToCreate,
): Promise<ObjectWrite> {
  const tracked = { ...how, tracked: true, versioned: false }
  const admitting = admittedNew(parts, scope, object, tracked)
  const validating = validated(parts, scope, admitting instanceof Promise ? await admitting : admitting, tracked)
  return decidable(scope, validating instanceof Promise ? await validating : validating, tracked)
}

/** Nobody is there to be warned. */
const scopeOf = (
  { user, fieldManager }: Companions,
  type: ResourceType,
  newNamespace: KubeObject | undefined,
  { caller, deadlineMs }: WriteScope,
): WriteScope => ({
  type,
  namespace: newNamespace?.metadata.name ?? '',
  name: '',
  subresource: '',
  user,
  dryRun: false,
  fieldManager,
  options: { fieldManager },
  warn: () => {},
  caller,
  ...(deadlineMs === undefined ? {} : { deadlineMs }),
  ...(newNamespace === undefined ? {} : { newNamespace }),
})
