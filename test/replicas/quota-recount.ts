/** What a namespace holds of what a quota limits, counted by hand. Of what is measured: pods, and their CPU. */
import type { StoredObject } from './etcd-commits.ts'

export type Amounts = Map<string, number>

/** `content`: resource → name → object. */
export function recount(
  content: ReadonlyMap<string, ReadonlyMap<string, StoredObject>>,
  names: readonly string[],
  scopes: readonly string[],
): Amounts {
  const total: Amounts = new Map()
  for (const name of names) {
    const amount = amountOf(content, name, scopes)
    if (amount !== 0) total.set(name, amount)
  }
  return total
}

function amountOf(
  content: ReadonlyMap<string, ReadonlyMap<string, StoredObject>>,
  name: string,
  scopes: readonly string[],
): number {
  if (name === 'pods' || name === 'requests.cpu') {
    const pods = [...(content.get('pods')?.values() ?? [])].filter((pod) => !hasEnded(pod) && isWithin(pod, scopes))
    return name === 'pods' ? pods.length : pods.reduce((sum, pod) => sum + cpuOf(pod), 0)
  }
  // A scope is about pods alone.
  if (scopes.length > 0) return 0
  return name === 'count/namespaces' ? 1 : (content.get(name.replace(/^count\//, ''))?.size ?? 0)
}

/** What comes to nothing may be left out. */
export const printAmounts = (amounts: Amounts): string =>
  JSON.stringify(Object.fromEntries([...amounts].filter(([, amount]) => amount !== 0).sort()))

function hasEnded(pod: StoredObject): boolean {
  const { phase } = (pod['status'] ?? {}) as { readonly phase?: string }
  return phase === 'Succeeded' || phase === 'Failed'
}

interface PodSpec {
  readonly activeDeadlineSeconds?: number
  readonly containers: readonly { readonly resources?: { readonly requests?: { readonly cpu?: string } } }[]
}

/** The storm has no other scope than Terminating. */
const isWithin = (pod: StoredObject, scopes: readonly string[]): boolean =>
  scopes.every((scope) => scope === 'Terminating' && (pod['spec'] as PodSpec).activeDeadlineSeconds !== undefined)

/** In whole cores, as the storm asks for them. */
const cpuOf = (pod: StoredObject): number =>
  (pod['spec'] as PodSpec).containers.reduce((sum, { resources }) => sum + Number(resources?.requests?.cpu ?? 0), 0)
