/**
 * The built-in resources as `ResourceType`s: the generated list joined with the fact tables. Schemas stay unmade.
 */
import { type GroupVersionKind, qualifiedResource } from '../kube/gvk.ts'
import type { ResourceType, Subresource, Verb } from '../kube/resource-type.ts'
import type { Schema } from '../kube/schema/schema.ts'
import type { GeneratedCatalog, GeneratedResource } from './generated-catalog.ts'
import { conversionsWith } from './kinds/conversions.ts'
import { categories, shortNames, storageNames, streamKinds, verbExceptions } from './kinds/resources.ts'
import type { Schemas } from './schemas.ts'

const none: readonly string[] = Object.freeze([])

const verbsIn = (text: string): readonly Verb[] => text.split(' ') as Verb[]

/** `io.k8s.api.rbac.v1.Role` → `io.k8s.api.rbac`, `v1`, `Role` */
function splitTypeName(name: string): { packageName: string; version: string; kind: string } {
  const [kind = '', version = '', ...rest] = name.split('.').reverse()
  return { packageName: rest.reverse().join('.'), version, kind }
}

export function builtInTypes(catalog: GeneratedCatalog, schemas: Schemas): ResourceType[] {
  const groupOfPackage = new Map(
    catalog.resources.map((r) => [splitTypeName(schemas.nameOf(r.type)).packageName, r.group] as const),
  )
  const kindOfType = (typeNumber: number): GroupVersionKind => {
    const { packageName, version, kind } = splitTypeName(schemas.nameOf(typeNumber))
    const group = groupOfPackage.get(packageName)
    if (group === undefined) throw new Error(`no group serves types of ${packageName}`)
    return { group, version, kind }
  }
  const subresourcesOf = (r: GeneratedResource): ReadonlyMap<string, Subresource> =>
    new Map(
      r.subresources.map((s) => {
        const kind: GroupVersionKind =
          s.type === undefined
            ? { group: r.group, version: r.version, kind: streamKinds[`${r.resource}/${s.name}`] ?? r.kind }
            : kindOfType(s.type)
        return [s.name, { name: s.name, verbs: verbsIn(s.verbs), kind }]
      }),
    )

  const conversions = conversionsWith((typeName) => schemas.get(typeName))

  return catalog.resources.map((r): ResourceType => {
    const name = qualifiedResource(r)
    const verbs = verbExceptions[name] ?? verbsIn(r.verbs)
    const conversion = conversions[`${r.version} ${name}`]
    return {
      group: r.group,
      version: r.version,
      resource: r.resource,
      kind: r.kind,
      listKind: `${r.kind}List`,
      singular: r.kind.toLowerCase(),
      namespaced: r.namespaced,
      verbs,
      shortNames: shortNames[name] ?? none,
      categories: categories[name] ?? none,
      subresources: subresourcesOf(r),
      get schema(): Schema {
        return schemas.get(schemas.nameOf(r.type))
      },
      storageName: storageNames[name] ?? r.resource,
      ...(conversion ? { conversion } : {}),
      stored: verbs.includes('list'),
      custom: false,
    }
  })
}
