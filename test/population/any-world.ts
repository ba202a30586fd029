/** Short words for what tests do with templates on Borough and on a cluster that `borough populate` serves alike. */
import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../src/client/client.ts'
import type { JsonObject, KubeObject, Status } from '../../src/kube/types.ts'
import { waitFor, waitUntilAllowed } from '../support/wait-for.ts'
import { type Cluster, elsewhere, onBorough } from './enforcement/clusters.ts'
import { configMapResource, eventResource, namespaceResource, refusal, templateResource } from './population-world.ts'

export const anyCluster: readonly { readonly where: string; readonly start: () => Promise<Cluster> }[] = [
  { where: 'on Borough', start: onBorough },
  { where: 'through borough populate', start: elsewhere },
]

export class AnyWorld implements AsyncDisposable {
  readonly cluster: Cluster
  /** Templates are a definition there, and `borough populate` answers for them. */
  readonly isElsewhere: boolean

  constructor(cluster: Cluster, isElsewhere = false) {
    this.cluster = cluster
    this.isElsewhere = isElsewhere
  }

  get admin(): Client {
    return this.cluster.plane.client()
  }

  clientAs(username: string): Client {
    return this.cluster.plane.client({ username, groups: ['system:authenticated'] })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]()
  }

  /** For the namespaces whose names begin with its own. */
  template(
    name: string,
    objects: readonly JsonObject[],
    spec: JsonObject = {},
    by: Client = this.admin,
  ): Promise<KubeObject> {
    return by.create(templateResource, {
      apiVersion: 'policy.borough.dev/v1alpha1',
      kind: 'NamespaceTemplate',
      metadata: { name },
      spec: { namespaces: { nameSelector: { include: [`${name}-*`] } }, ...spec, objects: [...objects] },
    })
  }

  edit(name: string, spec: JsonObject): Promise<KubeObject> {
    return this.admin.patch(templateResource, { name }, { spec })
  }

  /** Ready, as kubectl and its like wait for it. */
  async namespace(name: string, labels: Record<string, string> = {}): Promise<void> {
    await this.admin.create(namespaceResource, { metadata: { name, labels } })
    await this.ready(name)
  }

  /** Once a namespace is open to its users. */
  async ready(name: string): Promise<void> {
    await waitFor(this.admin, namespaceResource, { name }, (n) => {
      const spec = (n?.['spec'] ?? {}) as JsonObject
      return (
        spec['initializers'] === undefined && n?.metadata.labels?.['policy/namespace-template-pending'] === undefined
      )
    })
  }

  label(name: string, labels: Record<string, string | null>): Promise<KubeObject> {
    return this.admin.patch(namespaceResource, { name }, { metadata: { labels } })
  }

  /** The `data` of a ConfigMap once it is so. */
  async data(namespace: string, name: string, data: JsonObject): Promise<KubeObject | undefined> {
    return waitFor(this.admin, configMapResource, { namespace, name }, (o) => isDeepStrictEqual(o?.['data'], data))
  }

  /** The status of a template once it is as wanted. */
  async status(name: string, want: (status: JsonObject) => boolean): Promise<JsonObject> {
    const found = await waitFor(this.admin, templateResource, { name }, (t) =>
      want((t?.['status'] ?? {}) as JsonObject),
    )
    return found?.['status'] as JsonObject
  }

  /** Once it tells of one. */
  async failures(name: string, reason: string): Promise<readonly JsonObject[]> {
    const status = await this.status(name, (s) => JSON.stringify(s['failures'] ?? []).includes(`"${reason}"`))
    return status['failures'] as JsonObject[]
  }

  async synced(name: string, namespaces = 1): Promise<void> {
    await this.status(name, (s) => s['synced'] === namespaces && s['failed'] === 0)
  }

  /** Messages of events in a namespace, by reason. */
  async events(namespace: string, reason: string): Promise<string[]> {
    const { items } = await this.admin.list(eventResource, { namespace })
    return items.filter((e) => e['reason'] === reason).map((e) => String(e['message']))
  }

  /** Makes a user admin of a namespace, as a tenant mostly is. */
  async admit(username: string, namespace: string, role = 'admin'): Promise<Client> {
    const bindings = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'rolebindings' }
    await this.admin.create(bindings, {
      metadata: { name: `${username}-${role}`, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: username }],
    })
    const user = this.clientAs(username)
    // What `view`, the least of the roles of tests, may do too.
    await waitUntilAllowed(user, 'get', configMapResource, namespace)
    return user
  }
}

/** A refusal without the words about which webhook said it. */
export async function refusalAnywhere(write: Promise<unknown>): Promise<Status> {
  const said = await refusal(write)
  return { ...said, message: said.message?.replace(/^admission webhook "[^"]*" denied the request: /, '') ?? '' }
}
