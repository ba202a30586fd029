/**
 * The built-in resources as `ResourceType`s: the generated list joined with what is known of each kind. Schemas stay
 * unmade.
 */
import { type GroupVersionKind, qualifiedResource } from '../kube/gvk.ts'
import type { ResourceType, Subresource, Verb } from '../kube/resource-type.ts'
import type { GeneratedCatalog, GeneratedResource } from './generated-catalog.ts'
import { builtInKinds } from './kinds/kinds.ts'
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
  const subresourcesOf = (
    r: GeneratedResource,
    streamKinds: Readonly<Record<string, string>>,
  ): ReadonlyMap<string, Subresource> =>
    new Map(
      r.subresources.map((s) => {
        const kind: GroupVersionKind =
          s.type === undefined
            ? { group: r.group, version: r.version, kind: streamKinds[s.name] ?? r.kind }
            : kindOfType(s.type)
        return [s.name, { name: s.name, verbs: verbsIn(s.verbs), kind }]
      }),
    )

  return catalog.resources.map((r): ResourceType => {
    const name = qualifiedResource(r)
    const known = builtInKinds[name] ?? {}
    const verbs = known.verbs ?? verbsIn(r.verbs)
    const typeName = schemas.nameOf(r.type)
    const conversion = known.conversions?.[r.version]?.((ofType) => schemas.get(ofType))
    return {
      group: r.group,
      version: r.version,
      resource: r.resource,
      kind: r.kind,
      listKind: `${r.kind}List`,
      singular: r.kind.toLowerCase(),
      namespaced: r.namespaced,
      verbs,
      shortNames: known.shortNames ?? none,
      categories: known.categories ?? none,
      subresources: subresourcesOf(r, known.streamKinds ?? {}),
      // Its fields are made when they are first asked for.
      schema: schemas.get(typeName),
      storageName: known.storageName ?? r.resource,
      ...(conversion ? { conversion } : {}),
      stored: verbs.includes('list'),
      custom: false,
    }
  })
}
