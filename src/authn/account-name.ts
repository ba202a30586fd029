/** User names that stand for something: accounts and nodes. */
import { isDns1123Label, isDns1123Subdomain } from '../kube/names.ts'

/** `system:serviceaccount:<namespace>:<name>`; undefined for any other name, also one that only looks like it. */
export function serviceAccountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  const [system, kind, namespace = '', name = '', ...rest] = username.split(':')
  if (system !== 'system' || kind !== 'serviceaccount' || rest.length > 0) return undefined
  return isDns1123Label(namespace).length === 0 && isDns1123Subdomain(name).length === 0
    ? { namespace, name }
    : undefined
}

const nodePrefix = 'system:node:'

/** `system:node:<name>` */
export function nodeOf(username: string): string | undefined {
  if (!username.startsWith(nodePrefix)) return undefined
  const name = username.slice(nodePrefix.length)
  return isDns1123Subdomain(name).length === 0 ? name : undefined
}
