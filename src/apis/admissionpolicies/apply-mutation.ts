/**
 * One mutation onto the object of a request: laid over it, or as a JSON Patch. The result is of the kind's types and
 * has its defaults, as if a client had sent it.
 * @see k8s.io/apiserver/pkg/admission/plugin/policy/mutating/{dispatcher.go,patch} v0.36
 */

import type { Mutation } from '../../cel/mutation-expressions.ts'
import { overlaid } from '../../kube/apply/overlay.ts'
import { apiVersionOf, type GroupVersionKind } from '../../kube/gvk.ts'
import { isJsonObject } from '../../kube/json-value.ts'
import { applyJsonPatch, isFailedTest, listIsNoObject, parseJsonPatch } from '../../kube/patch/json-patch.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { type Decoded, DecodeError, type Dialect } from '../../kube/schema/decode.ts'
import { decodeObject } from '../../kube/schema/decode-object.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import { internalError, StatusError } from '../../kube/status-error.ts'
import type { JsonObject, JsonValue, KubeObject, Unvalidated } from '../../kube/types.ts'
import { assumeValid } from '../../kube/unvalidated.ts'
import type { SeenAs } from '../webhooks/hook-index.ts'

export interface ApplyMutationDeps {
  /** Of a kind that is no type's own: Scale, Eviction. Undefined = nothing is known of it. */
  schemaOf(kind: GroupVersionKind): Schema | undefined
  applyDefaults(type: ResourceType, object: KubeObject): Unvalidated
}

/** What the policy did wrong: its failurePolicy says what that means. */
export class MutationFault extends Error {
  override readonly name = 'MutationFault'
}

/** As large as a request may be: one mutation after the other could make more of it. */
const maxBytes = 3 * 1024 * 1024

/**
 * The object itself if there is nothing to do.
 * @throws MutationFault; StatusError InternalError for a patch that leaves no object of the kind, whatever the policy
 *   says
 */
export function applyMutation(
  deps: ApplyMutationDeps,
  seenAs: SeenAs,
  object: KubeObject,
  mutation: Mutation,
): KubeObject {
  const changed =
    mutation.patchType === 'JSONPatch'
      ? applyPatched(deps, seenAs, object, mutation.operations)
      : applyConfigured(deps, seenAs, object, mutation.configuration)
  if (changed === object) return object
  if (JSON.stringify(changed).length > maxBytes) {
    throw new MutationFault(`the mutated object is larger than ${maxBytes} bytes`)
  }
  const { type, kind } = seenAs
  return isOwnKind(seenAs) ? { ...assumeValid(deps.applyDefaults(type, changed)), ...typeMetaOf(kind) } : changed
}

function applyConfigured(
  deps: ApplyMutationDeps,
  seenAs: SeenAs,
  object: KubeObject,
  configuration: JsonObject,
): KubeObject {
  const schema = schemaFor(deps, seenAs)
  if (schema === undefined) {
    const { group, version, kind } = seenAs.kind
    throw new MutationFault(
      'error applying patch: failed to convert patch object to typed object: no corresponding type for ' +
        `${group}/${version}, Kind=${kind}`,
    )
  }
  const config = { ...configuration, ...typeMetaOf(seenAs.kind) } as unknown as KubeObject
  const result = overlaid(schema, object, config)
  if (result.problem !== undefined) throw new MutationFault(`error applying patch: ${result.problem}`)
  if (result.object === object) return object
  try {
    return decode(deps, seenAs, result.object, 'map').value as unknown as KubeObject
  } catch (e) {
    if (e instanceof DecodeError) throw new MutationFault(e.message, { cause: e })
    throw e
  }
}

function applyPatched(
  deps: ApplyMutationDeps,
  seenAs: SeenAs,
  object: KubeObject,
  operations: JsonValue[],
): KubeObject {
  let value: JsonValue
  try {
    value = applyJsonPatch(object as unknown as JsonValue, parseJsonPatch(operations))
  } catch (e) {
    if (!(e instanceof StatusError)) throw e
    if (isFailedTest(e)) return object
    throw new MutationFault(`JSON Patch: ${e.cause instanceof Error ? e.cause.message : e.message}`, { cause: e })
  }
  if (!isJsonObject(value)) throw internalError(listIsNoObject)
  const whole = isOwnKind(seenAs) ? { ...value, metadata: value['metadata'] ?? {} } : value
  let result: Decoded
  try {
    result = decode(deps, seenAs, whole as unknown as KubeObject, 'json')
  } catch (e) {
    if (e instanceof DecodeError) throw internalError(e.message, e)
    throw e
  }
  const { unknownFields } = result
  // Custom kinds lose what their schema does not know, as at every write.
  if (unknownFields.length > 0 && !seenAs.type.custom) {
    const list = unknownFields.map((path) => `unknown field "${path}"`).join(', ')
    throw internalError(`strict decoding error: ${list}`)
  }
  return result.value as unknown as KubeObject
}

function decode(deps: ApplyMutationDeps, seenAs: SeenAs, object: KubeObject, dialect: Dialect): Decoded {
  const schema = schemaFor(deps, seenAs)
  const value = object as unknown as JsonObject
  if (schema === undefined) return { value, unknownFields: [] }
  return decodeObject(value, { schema, custom: isOwnKind(seenAs) && seenAs.type.custom }, dialect)
}

/** False for what is sent to a sub-resource in another form: a Scale, an Eviction. */
const isOwnKind = ({ type, kind }: SeenAs): boolean => kind.kind === type.kind && kind.group === type.group

const schemaFor = (deps: ApplyMutationDeps, seenAs: SeenAs): Schema | undefined =>
  isOwnKind(seenAs) ? seenAs.type.schema : deps.schemaOf(seenAs.kind)

const typeMetaOf = (kind: GroupVersionKind): { apiVersion: string; kind: string } => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
})
