import type { NamespacedRbac, RbacKind, RbacObject, RbacSource } from '../../src/authz/rbac-source.ts'
import type { Binding, PolicyRule, Role, Subject } from '../../src/kube/rbac.ts'
import type { KubeObject } from '../../src/kube/types.ts'

type Kind = RbacKind | 'Namespace'
type Listener = Parameters<RbacSource['subscribe']>[1]

/** A world of RBAC objects in memory that tells its subscribers of each change, as the watch cache does. */
export class FakeRbacSource implements RbacSource {
  readonly #objects = new Map<Kind, Map<string, RbacObject>>()
  readonly #listeners = new Map<Kind, Set<Listener>>()
  /** Of the last change. */
  revision = 0
  declare readonly inNamespaces?: NamespacedRbac

  /** `tellsByNamespace`: roles and bindings of a namespace can be asked for. */
  constructor(tellsByNamespace = false) {
    if (!tellsByNamespace) return
    this.inNamespaces = {
      // As the store has it: '' means all namespaces.
      list: (kind, namespace) =>
        [...this.#of(kind).values()].filter((object) => namespace === '' || object.namespace === namespace),
      follow: (kind, listener) => this.#follow(kind, listener),
    }
  }

  subscribe(kind: Kind, listener: Listener): () => void {
    for (const object of this.#of(kind).values()) listener(object, undefined, 0)
    return this.#follow(kind, listener)
  }

  #follow(kind: Kind, listener: Listener): () => void {
    const listeners = this.#listeners.get(kind) ?? new Set()
    this.#listeners.set(kind, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  findNamespace(name: string): KubeObject | undefined {
    return this.#of('Namespace').get(`/${name}`)?.object
  }

  get subscribers(): number {
    return [...this.#listeners.values()].reduce((sum, set) => sum + set.size, 0)
  }

  put(object: KubeObject): void {
    const { kind = '', metadata } = object
    const next: RbacObject = { namespace: metadata.namespace ?? '', name: metadata.name ?? '', object }
    const objects = this.#of(kind as Kind)
    const key = `${next.namespace}/${next.name}`
    const old = objects.get(key)
    objects.set(key, next)
    this.revision++
    for (const listener of this.#listeners.get(kind as Kind) ?? []) listener(next, old, this.revision)
  }

  remove(kind: Kind, name: string, namespace = ''): void {
    const objects = this.#of(kind)
    const old = objects.get(`${namespace}/${name}`)
    if (!old) throw new Error(`there is no ${kind} ${namespace}/${name}`)
    objects.delete(`${namespace}/${name}`)
    this.revision++
    for (const listener of this.#listeners.get(kind) ?? []) listener(undefined, old, this.revision)
  }

  #of(kind: Kind): Map<string, RbacObject> {
    const objects = this.#objects.get(kind) ?? new Map<string, RbacObject>()
    this.#objects.set(kind, objects)
    return objects
  }
}

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'

export const namespaceObject = (name: string, terminating = false): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, ...(terminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) },
})

export const clusterRole = (name: string, ...rules: PolicyRule[]): Role => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
})

export const role = (namespace: string, name: string, ...rules: PolicyRule[]): Role => ({
  apiVersion,
  kind: 'Role',
  metadata: { namespace, name },
  rules,
})

export const clusterRoleBinding = (name: string, clusterRoleName: string, ...subjects: Subject[]): Binding => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup, kind: 'ClusterRole', name: clusterRoleName },
  subjects,
})

/** `roleRef` is `Role/x` or `ClusterRole/x`. */
export const roleBinding = (namespace: string, name: string, roleRef: string, ...subjects: Subject[]): Binding => {
  const [kind = '', roleName = ''] = roleRef.split('/')
  return {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { namespace, name },
    roleRef: { apiGroup, kind, name: roleName },
    subjects,
  }
}

export const user = (name: string): Subject => ({ kind: 'User', apiGroup, name })
export const group = (name: string): Subject => ({ kind: 'Group', apiGroup, name })
export const serviceAccount = (name: string, namespace?: string): Subject => ({
  kind: 'ServiceAccount',
  name,
  ...(namespace ? { namespace } : {}),
})

/** `allow('get,list', '', 'pods,pods/log')` */
export const allow = (verbs: string, apiGroups: string, resources: string, resourceNames?: string): PolicyRule => ({
  verbs: verbs.split(','),
  apiGroups: apiGroups.split(','),
  resources: resources.split(','),
  ...(resourceNames ? { resourceNames: resourceNames.split(',') } : {}),
})
