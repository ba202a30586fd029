/** What administrators and a tenant do to one cluster, and what the model remembers of it between two quiet times. */
import type { JsonObject, KubeObject } from '../../../src/kube/types.ts'
import type { UserInfo } from '../../../src/kube/user.ts'
import type { Cluster } from '../enforcement/clusters.ts'
import { WrittenSpecs } from './in-force.ts'
import { consentKey, namespaceOfSources } from './oracle.ts'
import type { SimulatedTime } from './simulated-clock.ts'

export type Who = 'admin' | 'tenant'

const users: Readonly<Record<Who, UserInfo>> = {
  admin: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
  tenant: { username: 'tenant', groups: ['system:authenticated'] },
}
export const merge = 'application/merge-patch+json'
const apply = 'application/apply-patch+yaml'
const core = '/api/v1/namespaces'
const templates = '/apis/policy.borough.dev/v1alpha1/namespacetemplates'
const rbac = '/apis/rbac.authorization.k8s.io/v1'

/** A busy machine lets connections of the webhooks end. */
const mostTries = 20

export interface Answer {
  readonly code: number
  readonly body: KubeObject & { readonly message?: string }
}

/** Since the last quiet time. */
export class Interval {
  /** `namespace/object` → the resourceVersion of the last write of the test; '' = deleted, or not known. */
  readonly touched: Map<string, string> = new Map()
  /** Whose labels or annotations were changed, or that came or went. */
  readonly moved: Set<string> = new Set()
  /** Template → how often it was written or deleted. */
  readonly edits: Map<string, number> = new Map()
  readonly confirmed: Set<string> = new Set()
  /** Template → the largest `maxPrune` of its versions. */
  readonly mostPruned: Map<string, number> = new Map()
  switched: boolean = false
}

export class Actors {
  readonly cluster: Cluster
  readonly #time: SimulatedTime | undefined
  interval: Interval = new Interval()
  /** Objects that the test created, by uid. */
  readonly theirs: Set<string> = new Set()
  /** Templates that orphaned, at some time. */
  readonly orphaning: Set<string> = new Set()
  /** Namespaces that the test deleted, by uid. */
  readonly ended: Set<string> = new Set()
  /** Names of namespaces of which the protection from deletion was taken off: an end that has passed deletes them. */
  readonly unprotected: Set<string> = new Set()
  /** Namespaces that were out of reach of a template at some time: what was there then may outlast it. */
  readonly wereOut: Set<string> = new Set()
  readonly wereOff: Set<string> = new Set()
  /** `namespace/object` → uid, where the manager that it is left to holds its field. */
  readonly yielded: Map<string, string> = new Map()
  readonly specs: WrittenSpecs = new WrittenSpecs()
  isPaused: boolean = false

  constructor(cluster: Cluster, time: SimulatedTime | undefined) {
    this.cluster = cluster
    this.#time = time
  }

  /** Again where a webhook was not reached in time: nothing was decided. */
  async ask(who: Who, method: string, path: string, body?: unknown, type = 'application/json'): Promise<Answer> {
    const init = {
      method,
      headers: { 'content-type': type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }
    for (let tries = 0; ; tries++) {
      const request = new Request(`http://borough.test${path}`, init)
      const answer = await this.cluster.plane.send(request, users[who])
      const said = (await answer.json()) as Answer['body']
      const isUnreached = answer.status === 500 && /failed calling webhook|please try again/.test(said.message ?? '')
      if (!isUnreached || tries === mostTries) return { code: answer.status, body: said }
    }
  }

  async setUp(): Promise<void> {
    const verbs = ['get', 'patch', 'update']
    await this.ask('admin', 'POST', `${rbac}/clusterroles`, {
      metadata: { name: 'labeller' },
      rules: [{ verbs, apiGroups: [''], resources: ['namespaces'] }],
    })
    await this.ask('admin', 'POST', core, { metadata: { name: namespaceOfSources } })
  }

  // Administrators.

  async createNamespace(name: string, metadata: JsonObject): Promise<number> {
    const { code, body } = await this.ask('admin', 'POST', `${core}?includeUninitialized=true&timeout=2s`, {
      metadata: { ...metadata, name },
    })
    if (code !== 201) return code
    this.interval.moved.add(name)
    for (const role of ['admin', 'labeller']) {
      await this.ask('admin', 'POST', `${rbac}/namespaces/${name}/rolebindings`, {
        metadata: { name: role },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tenant' }],
      })
    }
    this.ended.delete(body.metadata.uid ?? '')
    return code
  }

  async deleteNamespace(name: string): Promise<void> {
    const { body } = await this.ask('admin', 'GET', `${core}/${name}`)
    this.ended.add(body.metadata?.uid ?? '')
    this.interval.moved.add(name)
    await this.ask('admin', 'DELETE', `${core}/${name}`)
  }

  async patchNamespace(who: Who, name: string, metadata: JsonObject): Promise<number> {
    this.interval.moved.add(name)
    const { code } = await this.ask(who, 'PATCH', `${core}/${name}`, { metadata }, merge)
    const out = (metadata['annotations'] as JsonObject | undefined)?.['policy/namespace-template-opt-out']
    if (code < 300 && out === 'true') this.wereOut.add(name)
    const protection = (metadata['annotations'] as JsonObject | undefined)?.['borough.dev/deletion-protection']
    if (code < 300 && protection === null) this.unprotected.add(name)
    return code
  }

  async writeTemplate(name: string, spec: JsonObject): Promise<number> {
    if (spec['deletionPolicy'] === 'Orphan') this.orphaning.add(name)
    this.#edited(name)
    const { maxPrune = 5 } = (spec['rollout'] ?? {}) as { maxPrune?: number }
    this.interval.mostPruned.set(name, Math.max(maxPrune, this.interval.mostPruned.get(name) ?? 0))
    const object = {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name },
      spec,
    }
    let written = await this.ask('admin', 'POST', templates, object)
    if (written.code === 409) {
      const replace = [{ op: 'replace', path: '/spec', value: spec }]
      written = await this.ask('admin', 'PATCH', `${templates}/${name}`, replace, 'application/json-patch+json')
    }
    if (written.code < 300) this.specs.note(written.body)
    return written.code
  }

  async deleteTemplate(name: string): Promise<void> {
    this.#edited(name)
    await this.ask('admin', 'DELETE', `${templates}/${name}`)
  }

  async annotateTemplate(name: string, annotations: JsonObject): Promise<void> {
    this.#edited(name)
    if (annotations['policy/namespace-template-apply'] === 'disable') this.wereOff.add(name)
    await this.ask('admin', 'PATCH', `${templates}/${name}`, { metadata: { annotations } }, merge)
  }

  async confirmPrune(name: string): Promise<void> {
    const { body } = await this.ask('admin', 'GET', `${templates}/${name}`)
    if (body.metadata?.generation === undefined) return
    this.interval.confirmed.add(name)
    const annotations = { 'policy.borough.dev/confirm-prune': String(body.metadata.generation) }
    await this.ask('admin', 'PATCH', `${templates}/${name}`, { metadata: { annotations } }, merge)
  }

  async writeSource(name: string, value: string | undefined, to: string | undefined): Promise<void> {
    const path = `${core}/${namespaceOfSources}/configmaps`
    if (value === undefined) {
      await this.ask('admin', 'DELETE', `${path}/${name}`)
      return
    }
    const object = {
      metadata: { name, annotations: to === undefined ? {} : { [consentKey]: to } },
      data: { key: value },
    }
    const { code } = await this.ask('admin', 'POST', path, object)
    if (code === 409) await this.ask('admin', 'PUT', `${path}/${name}`, object)
  }

  async pause(isPaused: boolean): Promise<void> {
    this.interval.switched = true
    this.isPaused = isPaused
    const path = `${core}/kube-system/configmaps`
    const data = { paused: String(isPaused) }
    const { code } = await this.ask('admin', 'POST', path, { metadata: { name: 'borough-population' }, data })
    if (code === 409) await this.ask('admin', 'PATCH', `${path}/borough-population`, { data }, merge)
  }

  async pass(hours: number): Promise<void> {
    this.interval.switched = true
    this.#time?.skip(hours * 3_600_000)
    // Who was elected before the leap may not know that its time is over.
    await this.cluster.restart()
  }

  /** Excuses nothing: the next controller knows what this one was held back from. */
  async restart(): Promise<void> {
    await this.cluster.restart()
  }

  // A tenant.

  async patchObject(namespace: string, name: string, body: JsonObject): Promise<number> {
    const path = `${core}/${namespace}/configmaps/${name}`
    return this.#note(namespace, name, await this.ask('tenant', 'PATCH', path, body, merge))
  }

  async applyObject(namespace: string, name: string, manager: string, data: JsonObject): Promise<number> {
    const path = `${core}/${namespace}/configmaps/${name}?fieldManager=${manager}&force=true`
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }
    const answer = await this.ask('tenant', 'PATCH', path, body, apply)
    const code = this.#note(namespace, name, answer)
    if (code < 300 && manager === 'scaler' && name.endsWith('-yield'))
      this.yielded.set(`${namespace}/${name}`, answer.body.metadata.uid ?? '')
    return code
  }

  async createObject(namespace: string, name: string): Promise<number> {
    const answer = await this.ask('tenant', 'POST', `${core}/${namespace}/configmaps`, {
      metadata: { name },
      data: { mine: 'x' },
    })
    return this.#note(namespace, name, answer)
  }

  async deleteObject(namespace: string, name: string): Promise<void> {
    const { code } = await this.ask('tenant', 'DELETE', `${core}/${namespace}/configmaps/${name}`)
    if (code < 300) this.interval.touched.set(`${namespace}/${name}`, '')
  }

  #note(namespace: string, name: string, { code, body }: Answer): number {
    if (code >= 300) return code
    this.yielded.delete(`${namespace}/${name}`)
    this.interval.touched.set(`${namespace}/${name}`, body.metadata.resourceVersion ?? '')
    if (code === 201) this.theirs.add(body.metadata.uid ?? '')
    return code
  }

  #edited(name: string): void {
    this.interval.edits.set(name, (this.interval.edits.get(name) ?? 0) + 1)
  }
}
