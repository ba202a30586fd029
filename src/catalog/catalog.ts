/**
 * The built-in kinds: what is served, what its values look like, what upstream's defaulting and validation do to them.
 * Everything else asks here and knows no kind by itself.
 *
 * Construction, in this order: parse the generated list (about 1 ms), index its type names, make the 68 resource types.
 * Schemas are made type by type when first looked at; descriptions are read when first asked for.
 */

import { cloneJson } from '../kube/clone-json.ts'
import type { GroupVersionKind, GroupVersionResource } from '../kube/gvk.ts'
import type { Column, ResourceType, Subresource, Verb } from '../kube/resource-type.ts'
import { applyDefaults as applySchemaDefaults } from '../kube/schema/default.ts'
import type { Schema } from '../kube/schema/schema.ts'
import type { JsonObject, KubeObject, Unvalidated } from '../kube/types.ts'
import { unvalidated } from '../kube/unvalidated.ts'
import { Defaulter } from './apply-defaults.ts'
import { builtInTypes } from './built-in-types.ts'
import { extensionDescriptions } from './facts/extensions.ts'
import { groupPriority } from './facts/groups.ts'
import { readDescriptions, readGeneratedCatalog } from './generated-catalog.ts'
import { builtInStrategy } from './kinds/strategy-of.ts'
import { type MutableResourceTypes, ResourceTypeTable } from './resource-type-table.ts'
import { Schemas } from './schemas.ts'
import type { Strategy } from './strategy.ts'

const typeMeta: Schema = { type: 'string' }
const objectMetaName = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
const everyVerb: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** A kind of ours: declared by its folder under `apis/`, served like any other. */
export interface TypeDeclaration extends GroupVersionResource {
  readonly kind: string
  readonly namespaced: boolean
  /** `spec`, `status`, ...; apiVersion, kind and metadata are added. */
  readonly properties: Readonly<Record<string, Schema>>
  readonly typeName?: string
  readonly description?: string
  /** Adds the `status` sub-resource. */
  readonly hasStatus?: boolean
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** Default: `<resource>.<group>`. Give two versions or groups the same name and they share their objects. */
  readonly storageName?: string
  /** Default: all. */
  readonly verbs?: readonly Verb[]
  /** False = it is shown of another type (`RegistryDeps.projections`). Default: true. */
  readonly stored?: boolean
  /** What `kubectl get` shows after the name. Default: the age. */
  readonly columns?: readonly Column[]
}

export interface Catalog {
  /** Of an API group: the higher, the earlier in discovery. */
  groupPriority(group: string): number
  readonly types: MutableResourceTypes
  /** By full name: `io.k8s.api.core.v1.PodSpec`. @throws Error for a name that is not in the catalogue */
  schemaOf(typeName: string): Schema
  /** Of a built-in kind, served as a type of its own or not (Scale, Eviction); undefined if there is none. */
  schemaOfKind(kind: GroupVersionKind): Schema | undefined
  /** Every type name. */
  typeNames(): Iterable<string>
  /** The fields that OpenAPI documents list as 'required'. */
  alwaysPrinted(typeName: string): readonly string[]
  /**
   * A copy with upstream's defaults; call it on every decoded object that a client sent, patched or applied, and after
   * mutating admission. For custom resources, those of their schema.
   */
  applyDefaults(type: Pick<ResourceType, 'schema' | 'custom'>, object: KubeObject | Unvalidated): Unvalidated
  /** The same, of an object that belongs to the caller: what is built in is completed in place. */
  completeDefaults(type: Pick<ResourceType, 'schema' | 'custom'>, object: Unvalidated): Unvalidated
  /** What the registry must know about a built-in kind; for others, that nothing is special. */
  strategyOf(type: ResourceType): Strategy
  /** Makes a type; serve it with `types.change({ add: [type] })`. */
  declare(declaration: TypeDeclaration): ResourceType
  /**
   * What a type or one of its fields means, for OpenAPI and `kubectl explain`; undefined if upstream says nothing. The
   * first call reads the texts from disk.
   */
  describe(typeName: string, field?: string): string | undefined
}

export function loadCatalog(): Catalog {
  const generated = readGeneratedCatalog()
  const schemas = new Schemas(generated)
  const builtIn = builtInTypes(generated, schemas)
  const types = new ResourceTypeTable(builtIn)
  const strategies = new Map(builtIn.map((type) => [type, builtInStrategy(type)]))
  const defaulter = new Defaulter((typeName) => schemas.alwaysPrinted(typeName))
  const complete: Catalog['completeDefaults'] = (type, object) => {
    if (type.custom) return applySchemaDefaults(object as unknown as JsonObject, type.schema) as unknown as Unvalidated
    defaulter.apply(type.schema, object)
    return object
  }
  let texts: ReturnType<typeof readDescriptions> | undefined
  let names: ReadonlySet<string> | undefined
  return {
    types,
    groupPriority,
    schemaOf: (typeName) => schemas.get(typeName),
    schemaOfKind({ group, version, kind }) {
      names ??= new Set(schemas.names())
      const name = `io.k8s.api.${group === '' ? 'core' : group.split('.', 1)}.${version}.${kind}`
      return names.has(name) ? schemas.get(name) : undefined
    },
    typeNames: () => schemas.names(),
    alwaysPrinted: (typeName) => schemas.alwaysPrinted(typeName),
    applyDefaults: (type, object) => complete(type, type.custom ? unvalidated(object) : cloneJson(unvalidated(object))),
    completeDefaults: complete,
    strategyOf: (type) => strategies.get(type) ?? {},
    declare: (declaration) => declareType(declaration, schemas.get(objectMetaName)),
    describe: (typeName, field = '') => {
      texts ??= readDescriptions()
      return extensionDescriptions[typeName]?.[field] ?? texts[typeName]?.[field]
    },
  }
}

function declareType(d: TypeDeclaration, objectMeta: Schema): ResourceType {
  const { group, version, resource, kind } = d
  const subresources = new Map<string, Subresource>()
  if (d.hasStatus) {
    subresources.set('status', { name: 'status', verbs: ['get', 'patch', 'update'], kind: { group, version, kind } })
  }
  return {
    group,
    version,
    resource,
    kind,
    listKind: `${kind}List`,
    singular: kind.toLowerCase(),
    namespaced: d.namespaced,
    verbs: d.verbs ?? everyVerb,
    shortNames: d.shortNames ?? [],
    categories: d.categories ?? [],
    subresources,
    schema: {
      type: 'object',
      ...(d.typeName ? { typeName: d.typeName } : {}),
      ...(d.description ? { description: d.description } : {}),
      properties: new Map<string, Schema>([
        ['apiVersion', typeMeta],
        ['kind', typeMeta],
        ['metadata', objectMeta],
        ...Object.entries(d.properties),
      ]),
    },
    storageName: d.storageName ?? `${resource}.${group}`,
    stored: d.stored ?? true,
    custom: false,
    ...(d.columns === undefined ? {} : { columns: d.columns }),
  }
}
