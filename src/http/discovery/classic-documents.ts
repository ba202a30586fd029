/**
 * The documents every client understands: one for the core versions, one for all groups, one per group, one per group
 * version.
 * @see k8s.io/apiserver/pkg/endpoints/discovery v0.36
 */
import { apiVersionOf } from '../../kube/gvk.ts'
import type { ResourceType, ResourceTypes } from '../../kube/resource-type.ts'
import {
  listedSubresources,
  listedVerbs,
  type ServedGroup,
  type ServedVersion,
  storageVersionHash,
} from './served-groups.ts'

/** `GET /api`. It has no apiVersion, as upstream's has none. @param serverAddress `10.0.0.1:6443` */
export function apiVersionsDocument(core: ServedGroup | undefined, serverAddress: string): object {
  return {
    kind: 'APIVersions',
    versions: core?.versions.map((v) => v.version) ?? [],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** `GET /apis` */
export function groupListDocument(groups: readonly ServedGroup[]): object {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(describeGroup) }
}

/** `GET /apis/{group}` */
export function groupDocument(group: ServedGroup): object {
  return { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) }
}

function describeGroup(group: ServedGroup): object {
  const describe = ({ version }: ServedVersion): object => ({
    groupVersion: apiVersionOf({ group: group.name, version }),
    version,
  })
  return { name: group.name, versions: group.versions.map(describe), preferredVersion: describe(group.versions[0]) }
}

/** `GET /api/v1`, `GET /apis/{group}/{version}` */
export function resourceListDocument(group: string, served: ServedVersion, types: ResourceTypes): object {
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf({ group, version: served.version }),
    resources: served.types.flatMap((type) => describeResource(type, types)),
  }
}

function describeResource(type: ResourceType, types: ResourceTypes): object[] {
  const hash = storageVersionHash(type, types)
  const resource = {
    name: type.resource,
    singularName: type.singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs: listedVerbs(type),
    ...(type.shortNames.length > 0 ? { shortNames: type.shortNames } : {}),
    ...(type.categories.length > 0 ? { categories: type.categories } : {}),
    ...(hash === undefined ? {} : { storageVersionHash: hash }),
  }
  const subresources = listedSubresources(type).map(({ name, kind, verbs }) => {
    const elsewhere = kind.group !== type.group || kind.version !== type.version
    return {
      name: `${type.resource}/${name}`,
      singularName: '',
      namespaced: type.namespaced,
      // Group and version appear only if the kind lives in another group version.
      ...(elsewhere ? { ...(kind.group ? { group: kind.group } : {}), version: kind.version } : {}),
      kind: kind.kind,
      verbs,
    }
  })
  return [resource, ...subresources]
}
