/**
 * The served versions of a definition as `ResourceType`s, and what the registry must know about each.
 *
 * What is stored is what the storage version's schema leaves of an object. A version shows it as it is, at no cost,
 * when all that can be in the store went through that version's own schema. Once the definition was changed, or where
 * its versions differ, every read prunes and fills in the defaults of the version in which the object is stored, and
 * prunes by its own. With a webhook, it is asked about all that is stored in another version.
 */

import type { Strategy } from '../../catalog/strategy.ts'
import { apiVersionOf, type GroupVersionKind } from '../../kube/gvk.ts'
import { isJsonObject, jsonEqual } from '../../kube/json-value.ts'
import type { Conversion, ResourceType, Subresource, Verb } from '../../kube/resource-type.ts'
import { applyDefaults } from '../../kube/schema/default.ts'
import { prune } from '../../kube/schema/prune.ts'
import type { Schema } from '../../kube/schema/schema.ts'
import type { JsonObject, KubeObject } from '../../kube/types.ts'
import { compareVersions } from '../../kube/version-order.ts'
import { withPrunedDefaults } from './pruned-defaults.ts'
import { scaleErrors } from './scale-rules.ts'
import { toResourceSchema } from './schema.ts'
import {
  type CustomResourceDefinition,
  type DefinitionVersion,
  isTerminating,
  type ScaleSubresource,
  storageVersionOf,
  valueAt,
} from './types.ts'
import { pathFault } from './warnings.ts'
import type { WebhookConversion } from './webhook-conversion.ts'

export interface CustomType {
  readonly type: ResourceType
  readonly strategy: Strategy
}

const everyVerb: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
/**
 * What clients shall still do to instances while their definition goes. Changes of what is there are served, not
 * offered.
 */
const verbsInTermination: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'watch']
const subresourceVerbs: readonly Verb[] = ['get', 'patch', 'update']
const scaleKind: GroupVersionKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

/** The served ones. @param webhook converts for a definition whose strategy is Webhook */
export function customTypesOf(
  definition: CustomResourceDefinition,
  objectMeta: Schema,
  webhook: (definition: CustomResourceDefinition) => WebhookConversion,
): CustomType[] {
  const { versions, conversion } = definition.spec
  const storage = storageVersionOf(definition)
  const schemaOf = (version: DefinitionVersion): Schema =>
    withPrunedDefaults(toResourceSchema(version.schema?.openAPIV3Schema, objectMeta), objectMeta)
  const schemas = new Map(versions.map((v) => [v, schemaOf(v)]))
  const stored = storage && schemas.get(storage)
  const asked = conversion?.strategy === 'Webhook' && versions.length > 1 ? webhook(definition) : undefined
  const isUniform =
    asked === undefined &&
    (definition.metadata.generation ?? 1) === 1 &&
    versions.every((v) => jsonEqual(v.schema?.openAPIV3Schema, storage?.schema?.openAPIV3Schema))
  const all = new Map<string, ResourceType>()
  const made = versions.map((version) => {
    const schema = schemas.get(version) ?? toResourceSchema(undefined, objectMeta)
    const parts = { definition, version, schema, storedSchema: stored ?? schema, schemas, objectMeta }
    const conversion = isUniform ? undefined : asked ? byWebhook(parts, asked) : between(parts)
    const type: ResourceType = { ...typeOf(definition, version, schema, conversion), versions: all }
    all.set(version.name, type)
    return { isServed: version.served, type, strategy: strategyOf(version) }
  })
  return made.filter((m) => m.isServed)
}

interface VersionParts {
  readonly definition: CustomResourceDefinition
  readonly version: DefinitionVersion
  readonly schema: Schema
  readonly storedSchema: Schema
  readonly schemas: ReadonlyMap<DefinitionVersion, Schema>
  readonly objectMeta: Schema
}

/**
 * What stands in the store says in which version it does, unless that is the definition's first storage version: then
 * nothing does. (`status.storedVersions` begins with it until all its objects were written anew, and so say theirs.)
 */
function marksOf(definition: CustomResourceDefinition): Pick<Conversion, 'storedVersion' | 'unmarkedVersion'> {
  const { group } = definition.spec
  const storage = storageVersionOf(definition)?.name
  const first = definition.status?.storedVersions?.[0] ?? storage
  if (storage === undefined || first === undefined) return {}
  return {
    ...(storage === first ? {} : { storedVersion: apiVersionOf({ group, version: storage }) }),
    unmarkedVersion: apiVersionOf({ group, version: first }),
  }
}

/** As it comes from the store: what its own version leaves of it, with that version's defaults. */
function completerOf({
  definition,
  schemas,
  storedSchema,
  objectMeta,
}: VersionParts): (object: KubeObject) => KubeObject {
  const { group, versions } = definition.spec
  const byVersion = new Map(versions.map((v) => [apiVersionOf({ group, version: v.name }), schemas.get(v)]))
  return (object) => {
    const schema = byVersion.get(object.apiVersion ?? '') ?? storedSchema
    return withDefaults(pruneObject(object, schema, objectMeta), schema)
  }
}

/** What a version shows of an object that is complete. */
function shaperOf({ definition, version, schema, objectMeta }: VersionParts): (object: KubeObject) => KubeObject {
  const apiVersion = apiVersionOf({ group: definition.spec.group, version: version.name })
  return (object) => pruneObject({ ...object, apiVersion }, schema, objectMeta)
}

const pruneObject = (object: KubeObject, by: Schema, objectMeta: Schema): KubeObject =>
  prune(object as unknown as JsonObject, by, objectMeta).value as unknown as KubeObject

const withDefaults = (object: KubeObject, schema: Schema): KubeObject =>
  applyDefaults(object as unknown as JsonObject, schema) as unknown as KubeObject

/** Only apiVersion differs between versions; what one of them does not know does not pass through it. */
function between(parts: VersionParts): Conversion {
  const { schema, storedSchema, objectMeta } = parts
  const complete = completerOf(parts)
  const shape = shaperOf(parts)
  return {
    toStored: (object) => (schema === storedSchema ? object : pruneObject(object, storedSchema, objectMeta)),
    fromStored: (object) => shape(complete(object)),
    ...marksOf(parts.definition),
  }
}

/**
 * Content is the webhook's, which is shown complete objects; what a version does not know is left out of what it says.
 */
function byWebhook(parts: VersionParts, webhook: WebhookConversion): Conversion {
  const { definition, version, storedSchema, objectMeta } = parts
  const { group } = definition.spec
  const own = apiVersionOf({ group, version: version.name })
  const storage = apiVersionOf({ group, version: storageVersionOf(definition)?.name ?? version.name })
  const complete = completerOf(parts)
  const shape = shaperOf(parts)
  const asItIs = (object: KubeObject): KubeObject => object
  const converted = async (object: KubeObject, desired: string): Promise<KubeObject> =>
    object.apiVersion === desired ? object : ((await webhook.convert([object], desired, asItIs))[0] as KubeObject)
  return {
    toStored: (object) => object,
    fromStored: (object) => object,
    // Always said: who reads it must know whom to ask for what.
    ...marksOf(definition),
    storedVersion: storage,
    remote: {
      shown: (objects) => webhook.read(objects, own, { complete, shape }),
      from: async (object) => shape(await converted(complete(object), own)),
      stored: async (object) =>
        pruneObject(
          await converted({ ...object, kind: definition.spec.names.kind, apiVersion: own }, storage),
          storedSchema,
          objectMeta,
        ),
    },
  }
}

function typeOf(
  definition: CustomResourceDefinition,
  version: DefinitionVersion,
  schema: Schema,
  conversion: Conversion | undefined,
): ResourceType {
  const { group, names: wanted, scope } = definition.spec
  const names = definition.status?.acceptedNames ?? wanted
  const gvk: GroupVersionKind = { group, version: version.name, kind: names.kind }
  const deprecationWarning = warningOf(definition, version, names.kind)
  return {
    ...gvk,
    resource: names.plural,
    listKind: names.listKind || `${names.kind}List`,
    singular: names.singular || names.kind.toLowerCase(),
    namespaced: scope === 'Namespaced',
    verbs: everyVerb,
    ...(isTerminating(definition) ? { advertisedVerbs: verbsInTermination } : {}),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    subresources: subresourcesOf(version, gvk),
    schema,
    storageName: `${names.plural}.${group}`,
    ...(conversion ? { conversion } : {}),
    stored: true,
    custom: true,
    ...(version.storage ? { isStorageVersion: true } : {}),
    columns: (version.additionalPrinterColumns ?? []).filter((c) => pathFault(c.jsonPath ?? '') === undefined),
    ...(version.selectableFields?.length
      ? { selectableFields: version.selectableFields.map(({ jsonPath }) => jsonPath.slice(1)) }
      : {}),
    ...(deprecationWarning === undefined ? {} : { deprecationWarning }),
  }
}

function subresourcesOf({ subresources }: DefinitionVersion, kind: GroupVersionKind): Map<string, Subresource> {
  const out = new Map<string, Subresource>()
  if (subresources?.status) out.set('status', { name: 'status', verbs: subresourceVerbs, kind })
  const scale = subresources?.scale
  if (scale) out.set('scale', { name: 'scale', verbs: subresourceVerbs, kind: scaleKind, scale: scalePathsOf(scale) })
  return out
}

function scalePathsOf(scale: ScaleSubresource): NonNullable<Subresource['scale']> {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale
  return { specReplicasPath, statusReplicasPath, ...(labelSelectorPath ? { labelSelectorPath } : {}) }
}

/** Of a deprecated version; undefined for others. */
function warningOf(
  { spec: { group, versions } }: CustomResourceDefinition,
  version: DefinitionVersion,
  kind: string,
): string | undefined {
  if (!version.deprecated) return undefined
  if (version.deprecationWarning !== undefined) return version.deprecationWarning
  const name = (v: DefinitionVersion): string => `${apiVersionOf({ group, version: v.name })} ${kind}`
  const [better] = versions
    .filter((v) => v.served && !v.deprecated && compareVersions(v.name, version.name) < 0)
    .toSorted((a, b) => compareVersions(a.name, b.name))
  return `${name(version)} is deprecated${better ? `; use ${name(better)}` : ''}`
}

function strategyOf({ subresources, selectableFields }: DefinitionVersion): Strategy {
  const scale = subresources?.scale
  return {
    unconditionalUpdate: false,
    ...(scale ? { validate: (next, _old, { subresource }) => scaleErrors(next, scale, subresource) } : {}),
    ...(selectableFields && selectableFields.length > 0
      ? {
          selectableFields: Object.fromEntries(
            selectableFields.map(({ jsonPath }) => [
              jsonPath.slice(1),
              (object: KubeObject): string => {
                const value = valueAt(object, jsonPath)
                return value === undefined || value === null || isJsonObject(value) ? '' : String(value)
              },
            ]),
          ),
        }
      : {}),
  }
}
