/**
 * What OpenAPI calls a kind: `io.k8s.api.core.v1.Pod` for built-in ones, the group backwards for all others
 * (`ex.io/v1 Widget` is `io.ex.v1.Widget`).
 */
import type { GroupVersionKind } from '../../kube/gvk.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'

/** What of the catalogue OpenAPI needs. */
export interface TypeCatalog {
  /** @throws Error for a name that is not in the catalogue */
  schemaOf(typeName: string): ResourceType['schema']
  typeNames(): Iterable<string>
  /** The fields that are listed as 'required'. */
  alwaysPrinted(typeName: string): readonly string[]
  /** What a type (`field` absent) or a field of it means. */
  describe(typeName: string, field?: string): string | undefined
}

const key = (gvk: GroupVersionKind): string => `${gvk.group}/${gvk.version}/${gvk.kind}`

export class DefinitionNames {
  readonly #catalogued: ReadonlySet<string>
  /** group/version → `io.k8s.api.core.v1.` */
  readonly #prefixes = new Map<string, string>()
  /** Kinds of served types. */
  readonly #served = new Set<string>()
  readonly #kinds = new Map<string, GroupVersionKind[]>()
  readonly #groupVersions: { readonly group: string; readonly version: string }[] = []

  constructor(types: ResourceTypes, catalog: TypeCatalog) {
    this.#catalogued = new Set(catalog.typeNames())
    const groupVersions = new Map<string, { readonly group: string; readonly version: string }>()
    for (const type of types.all()) {
      const groupVersion = `${type.group}/${type.version}`
      groupVersions.set(groupVersion, { group: type.group, version: type.version })
      // A schema is costly to look at, and one per group version is enough to learn its prefix.
      if (type.custom || this.#prefixes.has(groupVersion)) continue
      const name = type.schema.typeName
      if (name !== undefined && this.isCatalogued(name)) {
        this.#prefixes.set(groupVersion, name.slice(0, name.length - type.kind.length))
      }
    }
    this.#groupVersions = [...groupVersions.values()]
    const seen = new Set<string>()
    const add = (gvk: GroupVersionKind): void => {
      if (seen.has(key(gvk))) return
      seen.add(key(gvk))
      const name = this.of(gvk)
      const { group, version, kind } = gvk
      this.#kinds.set(name, [...(this.#kinds.get(name) ?? []), { group, version, kind }])
    }
    for (const type of types.all()) {
      this.#served.add(key(type))
      add(type)
      if (type.verbs.includes('list')) add({ group: type.group, version: type.version, kind: type.listKind })
      for (const subresource of type.subresources.values()) add(subresource.kind)
    }
    add({ group: '', version: 'v1', kind: 'Status' })
  }

  /** True if the catalogue knows the type's fields. */
  isCatalogued(typeName: string): boolean {
    return this.#catalogued.has(typeName)
  }

  /** True if the kind has a definition: it is in the catalogue, or made from a served type's own schema. */
  isDefined(gvk: GroupVersionKind): boolean {
    return this.#served.has(key(gvk)) || this.isCatalogued(this.of(gvk))
  }

  of(gvk: GroupVersionKind): string {
    const { group, version, kind } = gvk
    if (group === '' && kind === 'Status') return metaType('Status')
    const prefix = this.#prefixes.get(`${group}/${version}`)
    // A list may be missing from the catalogue though its items are there.
    if (prefix !== undefined && this.isCatalogued(prefix + kind.replace(/List$/, ''))) return prefix + kind
    return [...group.split('.').reverse(), version, kind].filter((part) => part !== '').join('.')
  }

  /** The kinds that a definition describes. DeleteOptions describe a kind in every group version. */
  kindsOf(definition: string): readonly GroupVersionKind[] {
    if (definition === metaType('DeleteOptions')) {
      return this.#groupVersions.map(({ group, version }) => ({ group, version, kind: 'DeleteOptions' }))
    }
    return this.#kinds.get(definition) ?? []
  }
}

export const metaType = (name: string): string => `io.k8s.apimachinery.pkg.apis.meta.v1.${name}`
