/** A server with templates, and short words for what tests of population do with it. */
import { defaultConfig } from '../../src/app/config.ts'
import { type ControlPlane, createControlPlane } from '../../src/app/control-plane.ts'
import type { Client } from '../../src/client/client.ts'
import { warningsIn } from '../../src/client/warnings.ts'
import { fetchAdapter } from '../../src/http/fetch.ts'
import { findStatusError } from '../../src/kube/status-error.ts'
import type { JsonObject, KubeObject, Status } from '../../src/kube/types.ts'
import { waitFor } from '../support/wait-for.ts'

export const namespaceResource = { group: '', version: 'v1', resource: 'namespaces' }
export const configMapResource = { group: '', version: 'v1', resource: 'configmaps' }
export const eventResource = { group: '', version: 'v1', resource: 'events' }
export const templateResource = { group: 'policy.borough.dev', version: 'v1alpha1', resource: 'namespacetemplates' }
export const templateLabel = 'policy/namespace-template-name'

export const configMap = (name: string, data: Record<string, string> = { a: '1' }): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

/** All but the initial namespaces. */
export const ofUsers: JsonObject = { nameSelector: { exclude: ['default', 'kube-*'] } }

const typeOf = (method: string): string => (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')

export class PopulationWorld implements AsyncDisposable {
  readonly #plane: ControlPlane
  readonly admin: Client

  private constructor(plane: ControlPlane) {
    this.#plane = plane
    this.admin = plane.client()
  }

  /** With a data directory it can be started again. */
  static async start(dataDir?: string): Promise<PopulationWorld> {
    const where =
      dataDir === undefined
        ? ({ storage: { engine: 'memory' } } as const)
        : ({ dataDir, storage: { engine: 'sqlite' } } as const)
    return new PopulationWorld(await createControlPlane({ ...defaultConfig, ...where }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#plane[Symbol.asyncDispose]()
  }

  clientAs(username: string): Client {
    return this.#plane.client({ username, groups: ['system:authenticated'] })
  }

  /** Somebody who may do nothing but make namespaces. */
  async creator(username: string): Promise<Client> {
    const rbac = (resource: string) => ({ group: 'rbac.authorization.k8s.io', version: 'v1', resource })
    const metadata = { name: 'test-creator' }
    const rules = [{ verbs: ['create'], apiGroups: [''], resources: ['namespaces'] }]
    await this.admin.create(rbac('clusterroles'), { metadata, rules })
    await this.admin.create(rbac('clusterrolebindings'), {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }],
    })
    return this.clientAs(username)
  }

  /** The warnings of a merge patch. */
  async patchWarnings(path: string, patch: object): Promise<string[]> {
    return this.warnings(path, 'PATCH', patch)
  }

  async createWarnings(path: string, object: object): Promise<string[]> {
    return this.warnings(path, 'POST', object)
  }

  async warnings(path: string, method: string, body: object = {}, type: string = typeOf(method)): Promise<string[]> {
    const user = { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] }
    const fetch = fetchAdapter(this.#plane.serve, user)
    const headers = { 'content-type': type }
    const answer = await fetch(new Request(`http://test${path}`, { method, headers, body: JSON.stringify(body) }))
    if (!answer.ok) throw new Error(await answer.text())
    return warningsIn(answer.headers.get('warning') ?? '')
  }

  template(name: string, objects: readonly JsonObject[], spec: JsonObject = {}): Promise<KubeObject> {
    return this.admin.create(templateResource, {
      metadata: { name },
      spec: { namespaces: ofUsers, ...spec, templates: [...objects] },
    })
  }

  edit(name: string, spec: JsonObject): Promise<KubeObject> {
    return this.admin.patch(templateResource, { name }, { spec })
  }

  namespace(name: string, metadata: KubeObject['metadata'] = {}, by: Client = this.admin): Promise<KubeObject> {
    return by.create(namespaceResource, { metadata: { ...metadata, name } })
  }

  async namespaces(count: number, metadata: KubeObject['metadata'] = {}): Promise<string[]> {
    const names = Array.from({ length: count }, (_, i) => `ns-${i}`)
    for (const name of names) await this.namespace(name, metadata)
    return names
  }

  /** The data of a ConfigMap; undefined if there is none. */
  async data(namespace: string, name: string): Promise<unknown> {
    const { items } = await this.admin.list(configMapResource, { namespace, fieldSelector: `metadata.name=${name}` })
    return items[0]?.['data']
  }

  /** The template once its status is as wanted. */
  async status(name: string, want: (status: JsonObject) => boolean): Promise<JsonObject> {
    const found = await waitFor(
      this.admin,
      templateResource,
      { name },
      (t) => t?.['status'] !== undefined && want(t['status'] as JsonObject),
    )
    return found?.['status'] as JsonObject
  }

  async eventsAbout(kind: string, reason: string, namespace: string): Promise<string[]> {
    const { items } = await this.admin.list(eventResource, { namespace })
    return items
      .filter((e) => e['reason'] === reason && (e['involvedObject'] as JsonObject)['kind'] === kind)
      .map((e) => String(e['message']))
  }
}

export function conditionOf(status: JsonObject, type: string): JsonObject | undefined {
  return (status['conditions'] as JsonObject[] | undefined)?.find((c) => c['type'] === type)
}

export async function refusal(write: Promise<unknown>): Promise<Status> {
  try {
    await write
  } catch (error) {
    const refused = findStatusError(error)
    if (refused) return refused.toStatus()
    throw error
  }
  throw new Error('was not refused')
}
