/**
 * CustomResourceDefinition v1 as our own code reads it, and the few facts this whole folder needs. Schemas stay
 * plain JSON here: `schema.ts` alone knows what is in them.
 */

import { isJsonObject } from '../../kube/json-value.ts'
import type { Resource } from '../../kube/resource.ts'
import type { Column } from '../../kube/resource-type.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../kube/types.ts'

export const definitionResource: Resource<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
}

/** Holds a definition until its last instance is gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

export const approvalAnnotation = 'api-approved.kubernetes.io'

export interface DefinitionNames {
  plural: string
  singular?: string
  shortNames?: string[]
  kind: string
  listKind?: string
  categories?: string[]
}

export interface ScaleSubresource {
  specReplicasPath: string
  statusReplicasPath: string
  labelSelectorPath?: string
}

export interface DefinitionVersion {
  name: string
  served: boolean
  storage: boolean
  deprecated?: boolean
  deprecationWarning?: string
  schema?: { openAPIV3Schema?: JsonObject }
  subresources?: { status?: JsonObject; scale?: ScaleSubresource }
  additionalPrinterColumns?: Column[]
  selectableFields?: { jsonPath: string }[]
}

export interface DefinitionCondition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  lastTransitionTime?: string
  reason?: string
  message?: string
}

export interface DefinitionStatus {
  conditions?: DefinitionCondition[] | null
  acceptedNames?: DefinitionNames
  storedVersions?: string[] | null
}

export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string
    names: DefinitionNames
    scope: string
    versions: DefinitionVersion[]
    conversion?: { strategy: string; webhook?: JsonObject }
    preserveUnknownFields?: boolean
  }
  status?: DefinitionStatus
}

export function findCondition(definition: CustomResourceDefinition, type: string): DefinitionCondition | undefined {
  return definition.status?.conditions?.find((c) => c.type === type)
}

export const isTrue = (definition: CustomResourceDefinition, type: string): boolean =>
  findCondition(definition, type)?.status === 'True'

export const isEstablished = (definition: CustomResourceDefinition): boolean => isTrue(definition, 'Established')

export const isTerminating = (definition: CustomResourceDefinition): boolean =>
  definition.metadata.deletionTimestamp !== undefined

export const storageVersionOf = (definition: CustomResourceDefinition): DefinitionVersion | undefined =>
  definition.spec.versions.find((v) => v.storage)

/** The caBundle of the conversion webhook, if it holds no certificate. */
export function badAuthorityOf(conversion: CustomResourceDefinition['spec']['conversion']): string | undefined {
  const client = conversion?.webhook?.['clientConfig']
  const caBundle = isJsonObject(client) ? client['caBundle'] : undefined
  if (typeof caBundle !== 'string' || caBundle === '') return undefined
  const isPem = Buffer.from(caBundle, 'base64').toString('latin1').includes('-----BEGIN CERTIFICATE-----')
  return isPem ? undefined : caBundle
}

/** New conditions with `fresh` in the place of those of its types; the time moves only with the status. */
export function withConditions(
  old: readonly DefinitionCondition[],
  fresh: readonly DefinitionCondition[],
  now: string,
): DefinitionCondition[] {
  const next = [...old]
  for (const condition of fresh) {
    const at = next.findIndex((c) => c.type === condition.type)
    const before = next[at]
    const lastTransitionTime = before?.status === condition.status ? (before.lastTransitionTime ?? now) : now
    const entry = { ...condition, lastTransitionTime }
    if (before === undefined) next.push(entry)
    else next[at] = entry
  }
  return next
}

/** `.spec.replicas` of an object; undefined where the path ends early. */
export function valueAt(object: KubeObject, path: string): JsonValue | undefined {
  let value: unknown = object
  for (const name of path.split('.').slice(1)) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value as JsonValue
}
