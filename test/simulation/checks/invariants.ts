/** What must hold at the end of every commit, whatever befell the replicas. */
import type { KubeObject } from '../../../src/kube/types.ts'
import { placeOf, type StoredChange } from '../history.ts'

/** What one transaction makes with a namespace of a template: all of it, or (the controller makes it) nothing. */
const populated = ['configmaps/about', 'resourcequotas/limits'] as const
/** What no namespace is without. */
const required = ['serviceaccounts/default', 'configmaps/kube-root-ca.crt'] as const
/** Counted by quotas here. */
const counted = ['configmaps', 'secrets'] as const

export function invariantProblems(changes: readonly StoredChange[]): string[] {
  const state = new State()
  const problems: string[] = []
  for (const [commit, batch] of Map.groupBy(changes, (change) => change.commit)) {
    const found = [...state.creationProblems(batch), ...birthProblems(batch)]
    for (const change of batch) state.apply(change)
    found.push(...state.quotaProblems(batch), ...state.orphanProblems(batch))
    for (const problem of found) problems.push(`at commit ${commit}: ${problem}`)
  }
  return problems
}

function birthProblems(batch: readonly StoredChange[]): string[] {
  const made = new Set(
    batch.filter(({ object, previous }) => object !== undefined && previous === undefined).map(({ key }) => key),
  )
  return [...made].flatMap((key) => {
    const { resource, name } = placeOf(key)
    if (resource !== 'namespaces') return []
    const has = (part: string): boolean => made.has(`/registry/${part.replace('/', `/${name}/`)}`)
    const problems = required.filter((part) => !has(part)).map((part) => `namespace ${name} is born without ${part}`)
    const there = populated.filter(has)
    if (there.length === 0 || there.length === populated.length) return problems
    return [...problems, `namespace ${name} is born with ${there.join()} alone`]
  })
}

class State {
  readonly #namespaces = new Map<string, KubeObject>()
  /** By namespace: what is there, by resource/name. */
  readonly #content = new Map<string, Map<string, KubeObject>>()

  apply({ key, object }: StoredChange): void {
    const { resource, namespace, name } = placeOf(key)
    if (resource === 'namespaces') {
      if (object) this.#namespaces.set(name, object)
      else this.#namespaces.delete(name)
    } else if (namespace !== '') {
      const content = this.#content.get(namespace) ?? new Map<string, KubeObject>()
      this.#content.set(namespace, content)
      if (object) content.set(`${resource}/${name}`, object)
      else content.delete(`${resource}/${name}`)
    }
  }

  /** Nothing is made in a namespace that ends, or is not there. */
  creationProblems(batch: readonly StoredChange[]): string[] {
    const made = new Set(batch.filter(({ previous }) => previous === undefined).map(({ key }) => key))
    return batch.flatMap(({ key, object, previous }) => {
      const { namespace } = placeOf(key)
      if (namespace === '' || object === undefined || previous !== undefined) return []
      if (made.has(`/registry/namespaces/${namespace}`)) return []
      const home = this.#namespaces.get(namespace)
      if (home === undefined) return [`${key} is made in a namespace that is not there`]
      return home.metadata.deletionTimestamp === undefined
        ? []
        : [`${key} is made in a namespace that is being deleted`]
    })
  }

  /** A namespace is gone only when its content is. */
  orphanProblems(batch: readonly StoredChange[]): string[] {
    return batch.flatMap(({ key, object }) => {
      const { resource, name } = placeOf(key)
      if (resource !== 'namespaces' || object !== undefined) return []
      const left = [...(this.#content.get(name)?.keys() ?? [])]
      return left.length === 0 ? [] : [`namespace ${name} is gone, and ${left.join(', ')} is left`]
    })
  }

  /** Of the namespaces that a commit touches: what a quota says is used is what is there, and not too much. */
  quotaProblems(batch: readonly StoredChange[]): string[] {
    const touched = new Set(batch.map(({ key }) => placeOf(key).namespace))
    return [...touched].flatMap((namespace) => {
      const content = this.#content.get(namespace)
      if (namespace === '' || content === undefined) return []
      const quotas = [...content].filter(([key]) => key.startsWith('resourcequotas/'))
      return quotas.flatMap(([key, quota]) =>
        this.#accountProblems(`${namespace}/${key}`, quota, { content, batch, namespace }),
      )
    })
  }

  #accountProblems(name: string, quota: KubeObject, { content, batch, namespace }: Touched): string[] {
    const { spec, status } = quota as { spec?: Account; status?: Account & { used?: Record<string, string> } }
    return counted.flatMap((resource) => {
      const limit = spec?.hard?.[resource]
      // Not yet counted by any commit: it is made together with what it counts only in a birth.
      if (limit === undefined || status?.hard?.[resource] === undefined) return []
      let there = 0
      for (const key of content.keys()) if (key.startsWith(`${resource}/`)) there++
      const used = Number(status.used?.[resource])
      if (used !== there) return [`${name} says that ${used} ${resource} are used of ${there}`]
      // A limit that is lowered takes nothing away.
      const isAdded = batch.some(({ key, previous }) => {
        return previous === undefined && key.startsWith(`/registry/${resource}/${namespace}/`)
      })
      return isAdded && there > Number(limit) ? [`${name} allows ${limit} ${resource}, and ${there} are there`] : []
    })
  }
}

/** A namespace that a commit touches. */
interface Touched {
  readonly namespace: string
  readonly content: ReadonlyMap<string, KubeObject>
  readonly batch: readonly StoredChange[]
}

interface Account {
  readonly hard?: Record<string, string>
}
