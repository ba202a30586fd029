/**
 * What is served, as discovery tells it: groups, their versions, their resources. Everything in discovery order.
 */
import { createHash } from 'node:crypto'
import type { GroupVersionKind } from '../../kube/gvk.ts'
import type { ResourceType, ResourceTypes, Verb } from '../../kube/resource-type.ts'

export interface ServedVersion {
  readonly version: string
  /** By name. */
  readonly types: readonly ResourceType[]
}

export interface ServedGroup {
  readonly name: string
  /** The preferred one first. Never empty. */
  readonly versions: readonly [ServedVersion, ...ServedVersion[]]
  /** True if only custom resources make this group. */
  readonly custom: boolean
}

export function servedGroups(types: ResourceTypes): readonly ServedGroup[] {
  const groups = new Map<string, Map<string, ResourceType[]>>()
  for (const type of types.all()) {
    const versions = groups.get(type.group) ?? new Map<string, ResourceType[]>()
    groups.set(type.group, versions)
    const list = versions.get(type.version) ?? []
    versions.set(type.version, list)
    list.push(type)
  }
  const served: ServedGroup[] = []
  for (const [name, byVersion] of groups) {
    const versions = [...byVersion].map(
      ([version, list]): ServedVersion => ({
        version,
        types: list.toSorted((a, b) => (a.resource < b.resource ? -1 : 1)),
      }),
    )
    const [preferred, ...others] = versions
    if (preferred === undefined) continue
    const custom = versions.every((v) => v.types.every((t) => t.custom))
    served.push({ name, versions: [preferred, ...others], custom })
  }
  return served
}

/** How upstream lists the verbs of custom resources; built-in ones are listed by name. */
const customVerbOrder: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
]

export function listedVerbs({ custom, verbs, advertisedVerbs = verbs }: ResourceType): readonly Verb[] {
  return custom ? customVerbOrder.filter((verb) => advertisedVerbs.includes(verb)) : advertisedVerbs.toSorted()
}

/** Sub-resources by name; those of custom kinds in upstream's order, `status` before `scale`. */
export function listedSubresources(
  type: ResourceType,
): { name: string; kind: GroupVersionKind; verbs: readonly Verb[] }[] {
  const all = [...type.subresources.values()]
    .map((s) => ({ name: s.name, kind: s.kind, verbs: s.verbs.toSorted() }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return type.custom ? all.reverse() : all
}

/**
 * Tells clients when the form changed in which objects are kept. Opaque; ours is upstream's.
 * @see k8s.io/apiserver/pkg/endpoints/discovery/storageversionhash.go v0.36
 */
export function storageVersionHash(type: ResourceType, types: ResourceTypes): string | undefined {
  const kept = type.stored ? types.findStorage(type.storageName) : undefined
  if (kept === undefined) return undefined
  const id = `${kept.group}/${kept.version}/${kept.kind}`
  return createHash('sha256').update(id).digest().subarray(0, 8).toString('base64')
}
