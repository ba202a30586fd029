/** Who does what to a cluster, and what the test remembers of it. */
import { rollbackTemplate } from '../../../src/apis/templates/rollback.ts'
import type { JsonObject, KubeObject } from '../../../src/kube/types.ts'
import type { UserInfo } from '../../../src/kube/user.ts'
import { configMap, templateLabel } from '../population-world.ts'
import type { Cluster } from './clusters.ts'
import type { History } from './history.ts'

export const tiers = ['x', 'y'] as const
export const namespaceNames = ['n0', 'n1'] as const
/** Templates hold some of the first three. */
export const objectNames = ['o0', 'o1', 'o2'] as const
export const foreignNames = ['f0', 'f1'] as const
/** `c` asks for the permission `use`, which `mover` has and `tenant` has not. */
export const templateNames = ['a', 'b', 'c'] as const
export type Who = 'tenant' | 'mover'

const users: Readonly<Record<Who | 'admin', UserInfo>> = {
  admin: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
  tenant: { username: 'tenant', groups: ['system:authenticated'] },
  mover: { username: 'mover', groups: ['system:authenticated'] },
}

const types = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const
export type PatchKind = keyof typeof types

export interface Answer {
  readonly code: number
  readonly body: KubeObject
}

const core = '/api/v1/namespaces'
const templates = '/apis/policy.borough.dev/v1alpha1/namespacetemplates'
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const disable = 'policy/namespace-template-apply'
const optOut = 'policy/namespace-template-opt-out'
const requirePermission = 'policy/namespace-template-require-permission'

export class Actors {
  readonly #cluster: Cluster
  readonly #history: History
  /** Every answer about a namespace or template since the last quiet time. */
  readonly seen: KubeObject[] = []
  /** Of one of them the outcome is not known. */
  missedAnswer = false
  readonly orphaning: Set<string> = new Set<string>()
  readonly optedOut: Set<string> = new Set<string>()
  readonly surprises: string[] = []

  constructor(cluster: Cluster, history: History) {
    this.#cluster = cluster
    this.#history = history
  }

  /** undefined = the server went away meanwhile: the outcome is not known. */
  async ask(
    who: Who | 'admin',
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<Answer | undefined> {
    const request = new Request(`http://borough.test${path}`, {
      method,
      headers: { 'content-type': type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    })
    try {
      const answer = await this.#cluster.plane.send(request, users[who])
      if (answer.status >= 500) return undefined
      return { code: answer.status, body: (await answer.json()) as KubeObject }
    } catch {
      return undefined
    }
  }

  async setUp(): Promise<void> {
    const bind = (user: string, role: string) => ({
      metadata: { name: user },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    })
    const use = { verbs: ['use'], apiGroups: ['policy', 'policy.borough.dev'], resources: ['namespacetemplates'] }
    await this.ask('admin', 'POST', `${rbac}/clusterroles`, { metadata: { name: 'user' }, rules: [use] })
    await this.ask('admin', 'POST', `${rbac}/clusterrolebindings`, bind('mover', 'user'))
    const label = { verbs: ['get', 'patch', 'update'], apiGroups: [''], resources: ['namespaces', 'namespaces/status'] }
    await this.ask('admin', 'POST', `${rbac}/clusterroles`, { metadata: { name: 'labeller' }, rules: [label] })
  }

  // What administrators do.

  async createNamespace(name: string, tier: string): Promise<void> {
    const made = await this.ask('admin', 'POST', `${core}?includeUninitialized=true`, {
      metadata: { name, labels: { tier } },
    })
    this.#notice(made)
    if (made?.code !== 201) return
    for (const role of ['admin', 'labeller']) {
      const binding = {
        metadata: { name: role },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: ['tenant', 'mover'].map((user) => ({
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'User',
          name: user,
        })),
      }
      await this.ask('admin', 'POST', `${rbac}/namespaces/${name}/rolebindings`, binding)
    }
  }

  async deleteNamespace(name: string): Promise<void> {
    this.#history.isEmptied(name)
    this.#notice(await this.ask('admin', 'DELETE', `${core}/${name}`))
  }

  async writeTemplate(name: string, spec: JsonObject): Promise<void> {
    if (spec['deletionPolicy'] === 'Orphan') this.orphaning.add(name)
    if (spec['adopt'] === true) this.#history.adopting.add(name)
    const object = {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name, annotations: name === 'c' ? { [requirePermission]: 'true' } : {} },
      spec,
    }
    const made = await this.ask('admin', 'POST', templates, object)
    this.#notice(made)
    if (made?.code !== 409) return
    this.#notice(
      await this.ask(
        'admin',
        'PATCH',
        `${templates}/${name}`,
        [{ op: 'replace', path: '/spec', value: spec }],
        types.json,
      ),
    )
  }

  async deleteTemplate(name: string): Promise<void> {
    this.#notice(await this.ask('admin', 'DELETE', `${templates}/${name}`))
  }

  async disable(name: string, isOff: boolean): Promise<void> {
    const annotations = { [disable]: isOff ? 'disable' : null }
    this.#notice(await this.ask('admin', 'PATCH', `${templates}/${name}`, { metadata: { annotations } }, types.merge))
  }

  async rollBack(name: string): Promise<void> {
    const client = this.#cluster.plane.client()
    // Without an earlier generation there is nothing to go back to.
    await rollbackTemplate(client, { name, dryRun: false }, AbortSignal.timeout(10_000)).catch(() => {})
    const now = await this.ask('admin', 'GET', `${templates}/${name}`)
    this.#notice(now)
    const { adopt, deletionPolicy } = (now?.body['spec'] ?? {}) as JsonObject
    if (adopt === true) this.#history.adopting.add(name)
    if (deletionPolicy === 'Orphan') this.orphaning.add(name)
  }

  async optOut(name: string, isOut: boolean): Promise<void> {
    if (isOut) this.optedOut.add(name)
    const annotations = { [optOut]: isOut ? 'true' : null }
    this.#notice(await this.ask('admin', 'PATCH', `${core}/${name}`, { metadata: { annotations } }, types.merge))
  }

  restart(): Promise<void> {
    return this.#cluster.restart()
  }
  kill(writes: number): Promise<void> {
    return this.#cluster.kill(writes)
  }

  // What tenants do.

  async relabel(who: Who | 'admin', namespace: string, tier: string): Promise<void> {
    this.#notice(await this.ask(who, 'PATCH', `${core}/${namespace}`, { metadata: { labels: { tier } } }, types.merge))
  }

  async pretendPending(namespace: string): Promise<void> {
    const labels = { 'policy/namespace-template-pending': 'true' }
    this.#notice(await this.ask('tenant', 'PATCH', `${core}/${namespace}`, { metadata: { labels } }, types.merge))
  }

  async tryOptOut(who: Who, namespace: string): Promise<void> {
    const patch = { metadata: { annotations: { [optOut]: 'true' } } }
    const answer = await this.ask(who, 'PATCH', `${core}/${namespace}`, patch, types.merge)
    const there = (answer?.body.metadata.annotations ?? {})[optOut] === 'true' && this.optedOut.has(namespace)
    if (answer !== undefined && answer.code < 300 && !there) this.surprises.push(`${who} opted ${namespace} out`)
  }

  patch(place: Place, kind: PatchKind, body: unknown, query = ''): Promise<void> {
    return this.#write(place, 'PATCH', `/${place.name}${query}`, body, types[kind])
  }

  apply(place: Place, manager: string, force: boolean, object: JsonObject): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: place.name }, ...object }
    return this.patch(place, 'apply', body, `?fieldManager=${manager}&force=${force}`)
  }

  replace(place: Place, metadata: JsonObject, data: JsonObject): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, name: place.name }, data }
    return this.#write(place, 'PUT', `/${place.name}`, body)
  }

  create(place: Place, metadata: JsonObject, rest: JsonObject = {}): Promise<void> {
    const body = { ...configMap(place.name, { a: 'mine' }), ...rest, metadata: { ...metadata, name: place.name } }
    return this.#write(place, 'POST', '', body)
  }

  async remove(place: Place): Promise<void> {
    const { namespace, name, who } = place
    const answer = await this.ask(who, 'DELETE', `${core}/${namespace}/configmaps/${name}`)
    if (answer === undefined) this.#history.isUnsureOf(`${namespace}/${name}`)
    const { details } = (answer?.body ?? {}) as { readonly details?: { readonly uid?: string } }
    this.#history.deleted(details?.uid ?? answer?.body.metadata?.uid ?? '')
    if (answer?.body.kind === 'ConfigMap') this.#history.wrote(answer.body)
  }

  async removeAll(namespace: string, who: Who): Promise<void> {
    const query = `labelSelector=${templateLabel}`
    const answer = await this.ask(who, 'DELETE', `${core}/${namespace}/configmaps?${query}`)
    if (answer === undefined) this.#history.isEmptied(namespace)
    for (const item of (answer?.body['items'] ?? []) as KubeObject[]) {
      this.#history.deleted(item.metadata.uid ?? '')
      this.#history.wrote(item)
    }
  }

  async #write(
    { namespace, name, who }: Place,
    method: string,
    path: string,
    body: unknown,
    type?: string,
  ): Promise<void> {
    const answer = await this.ask(who, method, `${core}/${namespace}/configmaps${path}`, body, type)
    if (answer === undefined) this.#history.isUnsureOf(`${namespace}/${name}`)
    else if (answer.code < 300) {
      this.#history.wrote(answer.body)
      // It may be collected, or go with its last finalizer.
      const { ownerReferences, deletionTimestamp, uid = '' } = answer.body.metadata
      if (ownerReferences !== undefined || deletionTimestamp !== undefined) this.#history.deleted(uid)
    }
  }

  #notice(answer: Answer | undefined): void {
    if (answer === undefined) this.missedAnswer = true
    else if (answer.code < 300) this.seen.push(answer.body)
  }
}

export interface Place {
  readonly namespace: string
  readonly name: string
  readonly who: Who
}
