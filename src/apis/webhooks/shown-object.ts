/**
 * Between the object of a request and the object a webhook is shown: another version of it where a rule names an
 * equivalent one, and its Scale where the request goes through `scale`.
 */
import type { Attributes } from '../../admission/admission.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { scaleOf, withReplicas } from '../../kube/scale.ts'
import type { KubeObject, Unvalidated } from '../../kube/types.ts'
import { assumeValid } from '../../kube/unvalidated.ts'
import type { SeenAs } from './hook-index.ts'
import { type Shown, typed } from './review.ts'

/** An object of one served type as another one of the same storage shows it. @throws Error */
export type Convert = (object: KubeObject, from: ResourceType, to: ResourceType) => Promise<KubeObject>

/**
 * The question as webhooks and policies are asked it: before validation too. They take the object apart as a tree of
 * JSON values, so nothing that validation promises is relied on.
 */
export const asTree = (a: Attributes<Unvalidated>): Attributes => ({
  ...a,
  object: a.object === undefined ? undefined : assumeValid(a.object),
})

const isScale = (a: Attributes): boolean => a.subresource === 'scale' && a.operation === 'UPDATE'

export async function shownTo(invocation: SeenAs, a: Attributes, convert: Convert): Promise<Shown> {
  const show = async (object: KubeObject | undefined): Promise<KubeObject | undefined> => {
    if (object === undefined) return undefined
    if (isScale(a)) return scaleOf(object, scalePaths(a))
    if (a.operation === 'CONNECT') return withoutMetadata(typed(object, invocation.kind))
    return typed(invocation.type === a.type ? object : await convert(object, a.type, invocation.type), invocation.kind)
  }
  const [object, oldObject] = await Promise.all([show(a.object), show(a.oldObject)])
  return { object, oldObject }
}

/** The options of a connection have none. */
function withoutMetadata({ metadata: _, ...rest }: KubeObject): KubeObject {
  return rest as KubeObject
}

/** The object of the request as `changed`, which the webhook or the policy made of what it was shown, wants it. */
export async function takenFrom(
  invocation: SeenAs,
  a: Attributes,
  changed: KubeObject,
  convert: Convert,
): Promise<KubeObject | undefined> {
  const { object } = a
  if (object === undefined) return undefined
  if (isScale(a)) {
    const spec = changed['spec']
    const replicas = isJsonObject(spec) && typeof spec['replicas'] === 'number' ? spec['replicas'] : undefined
    return withReplicas(object, replicas, scalePaths(a))
  }
  return invocation.type === a.type ? changed : convert(changed, invocation.type, a.type)
}

const scalePaths = ({ type }: Attributes) => type.subresources.get('scale')?.scale
