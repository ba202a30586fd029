/** Namespaces that a user knows by name where the server does not list them: kept in the browser, for each server. */
import { parseJsonText } from '../../../base/parse-json-text.ts'
import type { Cluster } from '../cluster.ts'

type Place = Pick<Cluster, 'place' | 'storage'>

const keyOf = ({ place }: Place): string => `borough-console-namespaces ${place.server}`

export function knownNames(cluster: Place): readonly string[] {
  const kept: unknown = parseJsonText(cluster.storage.getItem(keyOf(cluster)) ?? '[]')
  return Array.isArray(kept) ? kept.map(String) : []
}

export function keepName(cluster: Place, name: string): void {
  cluster.storage.setItem(keyOf(cluster), JSON.stringify([...new Set([...knownNames(cluster), name])]))
}

export function forgetName(cluster: Place, name: string): void {
  cluster.storage.setItem(keyOf(cluster), JSON.stringify(knownNames(cluster).filter((known) => known !== name)))
}
