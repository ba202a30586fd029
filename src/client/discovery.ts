/** What a server serves, read from its discovery documents. */
import { apiVersionOf, isServable, parseApiVersion } from '../kube/gvk.ts'
import { isNotFound } from '../kube/status-error.ts'
import type { Discovery, ServedKind } from './client.ts'

interface ApiResourceList {
  readonly resources: readonly {
    readonly name: string
    readonly kind: string
    readonly namespaced: boolean
    readonly shortNames?: readonly string[]
    readonly verbs: readonly string[]
  }[]
}

interface ApiGroup {
  readonly name: string
  readonly versions: readonly { readonly version: string }[]
  readonly preferredVersion?: { readonly version: string }
}

interface ApiGroupList {
  readonly groups: readonly ApiGroup[]
}

/** The preferred one first. */
function versionsOf({ versions, preferredVersion }: ApiGroup): string[] {
  const all = versions.map((v) => v.version)
  return [...new Set(preferredVersion === undefined ? all : [preferredVersion.version, ...all])]
}

/**
 * Discovery through its plain documents. A group version is asked for once and kept; a kind that is not found is asked
 * for again next time, so a CRD made a moment ago is found.
 */
export function createDiscovery(get: (path: string) => Promise<unknown>): Discovery {
  const known = new Map<string, Promise<readonly ServedKind[]>>()

  const load = async (group: string, version: string): Promise<readonly ServedKind[]> => {
    const apiVersion = apiVersionOf({ group, version })
    const list = (await get(group === '' ? `/api/${version}` : `/apis/${apiVersion}`)) as ApiResourceList
    const subresources = new Map<string, string[]>()
    for (const { name } of list.resources) {
      const slash = name.indexOf('/')
      if (slash < 0) continue
      const resource = name.slice(0, slash)
      subresources.set(resource, [...(subresources.get(resource) ?? []), name.slice(slash + 1)])
    }
    return list.resources
      .filter((r) => !r.name.includes('/'))
      .map(({ name, kind, namespaced, verbs, shortNames }) => ({
        ...{ group, version, resource: name, kind, namespaced, verbs },
        ...(shortNames ? { shortNames } : {}),
        ...(subresources.has(name) ? { subresources: subresources.get(name) ?? [] } : {}),
      }))
  }

  const kindsOf = (group: string, version: string, fresh: boolean): Promise<readonly ServedKind[]> => {
    const apiVersion = apiVersionOf({ group, version })
    const cached = known.get(apiVersion)
    if (cached && !fresh) return cached
    const loading = load(group, version)
    known.set(apiVersion, loading)
    loading.catch(() => known.delete(apiVersion))
    return loading
  }

  return {
    async findKind(apiVersion, kind) {
      const gv = parseApiVersion(apiVersion)
      // It may come from another user than the one whose rights are asked with.
      if (gv === undefined || !isServable(gv)) return undefined
      for (const fresh of known.has(apiVersion) ? [false, true] : [true]) {
        try {
          const found = (await kindsOf(gv.group, gv.version, fresh)).find((k) => k.kind === kind)
          if (found) return found
        } catch (error) {
          if (!isNotFound(error)) throw error
        }
      }
      return undefined
    },
    async kinds() {
      const { groups } = (await get('/apis')) as ApiGroupList
      const asked = [
        { group: '', version: 'v1' },
        ...groups.flatMap((g) => versionsOf(g).map((version) => ({ group: g.name, version }))),
      ]
      const unavailable: { apiVersion: string; error: unknown }[] = []
      const lists = await Promise.all(
        asked.map(async ({ group, version }) => {
          try {
            return await kindsOf(group, version, true)
          } catch (error) {
            // Not found: announced a moment ago and withdrawn since.
            if (!isNotFound(error)) unavailable.push({ apiVersion: apiVersionOf({ group, version }), error })
            return []
          }
        }),
      )
      const kinds = new Map<string, ServedKind>()
      for (const kind of lists.flat()) {
        const resource = `${kind.group}/${kind.resource}`
        if (!kinds.has(resource)) kinds.set(resource, kind)
      }
      return { kinds: [...kinds.values()], unavailable }
    },
  }
}
