/**
 * Everything in one document: what clients since 1.26 ask for at `/api` and `/apis`.
 * @see k8s.io/api/apidiscovery v0.36
 */
import { createHash } from 'node:crypto'
import type { GroupVersionKind } from '../../kube/gvk.ts'
import type { ResourceType } from '../../kube/resource-type.ts'
import { listedSubresources, listedVerbs, type ServedGroup } from './served-groups.ts'

export const aggregatedGroup = 'apidiscovery.k8s.io'
export type AggregatedVersion = 'v2' | 'v2beta1'

export interface AggregatedDocument {
  readonly json: Uint8Array
  /** With its quotes. */
  readonly etag: string
}

export function aggregatedDocument(groups: readonly ServedGroup[], version: AggregatedVersion): AggregatedDocument {
  const document = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `${aggregatedGroup}/${version}`,
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.name === '' ? {} : { name: group.name },
      versions: group.versions.map((served) => ({
        version: served.version,
        resources: served.types.map(describeResource),
        freshness: 'Current',
      })),
    })),
  }
  const json = new TextEncoder().encode(JSON.stringify(document))
  return { json, etag: `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"` }
}

/** `group` is always there, also for the core. */
const kindOf = ({ group, version, kind }: GroupVersionKind): object => ({ group, version, kind })

function describeResource(type: ResourceType): object {
  const subresources = listedSubresources(type).map(({ name, kind, verbs }) => ({
    subresource: name,
    responseKind: kindOf(kind),
    verbs,
  }))
  return {
    resource: type.resource,
    responseKind: kindOf(type),
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: listedVerbs(type),
    ...(type.shortNames.length > 0 ? { shortNames: type.shortNames } : {}),
    ...(type.categories.length > 0 ? { categories: type.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  }
}

/** The content type clients choose their decoder by: it must repeat the parameters. */
export const aggregatedContentType = (version: AggregatedVersion): string =>
  `application/json;g=${aggregatedGroup};v=${version};as=APIGroupDiscoveryList`

/**
 * The version asked for, if the caller would rather have an aggregated document than a plain one. The order of
 * parameters is free and others are ignored.
 */
export function aggregatedVersionIn(accept: string | undefined): AggregatedVersion | undefined {
  if (!accept?.includes(aggregatedGroup)) return undefined
  for (const clause of accept.split(',')) {
    const [mediaType, ...parameters] = clause.split(';').map((part) => part.trim().toLowerCase())
    if (mediaType !== 'application/json') continue
    const has = (parameter: string): boolean => parameters.includes(parameter)
    if (!has(`g=${aggregatedGroup}`) || !has('as=apigroupdiscoverylist')) {
      // A plain document stands before any aggregated one.
      if (!parameters.some((p) => p.startsWith('as='))) return undefined
      continue
    }
    if (has('v=v2')) return 'v2'
    if (has('v=v2beta1')) return 'v2beta1'
  }
  return undefined
}
