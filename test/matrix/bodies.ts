/** A valid object of each kind, to be created or sent again. Kinds that need nothing but a name are not named here. */
import { janeRequest } from '../support/signing-requests.ts'
import { validObjects } from '../support/valid-objects.ts'
import type { ServedType } from './question.ts'

const containers = [{ name: 'c', image: 'i' }]

/** For kinds that `valid-objects.ts` has none of, and for those whose valid object would be in the way of others. */
const specific: Readonly<Record<string, (name: string) => object>> = {
  RoleBinding: () => ({ roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'zq-none' } }),
  ClusterRoleBinding: () => ({ roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'none' } }),
  ResourceQuota: () => ({ spec: { hard: { 'requests.storage': '1000Ti' } } }),
  ClusterResourceQuota: () => ({
    spec: { selector: { labels: { matchLabels: { 'zq.io/none': '' } } }, quota: { hard: { configmaps: '1000' } } },
  }),
  LimitRange: () => ({ spec: { limits: [{ type: 'Container', max: { cpu: '1000' } }] } }),
  CertificateSigningRequest: () => ({
    spec: { request: janeRequest, signerName: 'zq.io/none', usages: ['client auth'] },
  }),
  Comet: () => ({ spec: { size: 1 } }),
  Moon: () => ({ spec: { size: 1 } }),
  Pod: () => ({ spec: { containers } }),
}

/** Names of these follow from what they say. */
const named: Readonly<Record<string, string>> = { IPAddress: '10.1.2.3', APIService: 'v1.a.io' }

type Kinded = Pick<ServedType, 'group' | 'version' | 'kind'>

export function bodyOf({ group, version, kind }: Kinded, name: string, namespace = ''): object {
  const apiVersion = group === '' ? version : `${group}/${version}`
  const front = group === '' ? `/api/${version}/` : `/apis/${group}/${version}/`
  const valid = Object.values(validObjects).find((o) => o.kind === kind && o.path.startsWith(front))
  const content = JSON.stringify(specific[kind]?.(name) ?? valid?.body ?? {})
  // An Event says of which namespace its object is.
  const there = JSON.parse(content.replaceAll('"namespace":"default"', `"namespace":"${namespace}"`)) as object
  return { apiVersion, kind, ...there, metadata: { name: named[kind] ?? name } }
}
