/** What must be there before any client is answered. */
import type { FrontProxy } from '../../authn/front-proxy.ts'
import type { Log } from '../../base/log.ts'
import type { Client } from '../../client/client.ts'
import { createUnlessThere } from '../../client/create-unless-there.ts'
import type { ControllerRules, DefaultObject } from '../../feature/feature.ts'
import type { GroupVersionResource } from '../../kube/gvk.ts'
import type { ResourceTypes } from '../../kube/resource-type.ts'
import { findStatusError, isStoreReadError, isStoreReadOnly } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Lister } from '../../registry/registry.ts'
import { priorityClassResource, systemPriorityClasses } from '../classes/priority.ts'
import { initialNamespaces, namespaceResource } from '../namespaces/types.ts'
import { bootstrapRbac, defaultClusterPolicy, systemPolicy } from '../rbac/bootstrap.ts'
import { authenticationTrust, publishAuthenticationTrust } from './authentication-trust.ts'
import type { KubernetesService } from './kubernetes-service.ts'

export interface BootstrapParts {
  readonly log: Log
  /** Acts as a member of `system:masters`. */
  readonly client: Client
  readonly lister: Pick<Lister, 'find'>
  readonly types: Pick<ResourceTypes, 'find'>
  readonly controllerRules: ControllerRules
  /** Of the features. */
  readonly defaultObjects: readonly DefaultObject[]
  /** Who may vouch for clients: PEM, and the proxy that names users by headers. */
  readonly authorities: string
  readonly frontProxy: FrontProxy | undefined
  readonly kubernetesService: KubernetesService
  /** Whether the store could not read what it holds. */
  isDamage(error: unknown): boolean
}

/** All at once: a first start is a flush or two, not fifty. */
export async function bootstrap(parts: BootstrapParts): Promise<void> {
  const { client, defaultObjects, kubernetesService } = parts
  const make = async (resource: GroupVersionResource, object: KubeObject, fieldManager?: string): Promise<void> => {
    const type = parts.types.find(resource)
    if (type && parts.lister.find(type, '', object.metadata.name ?? '') !== undefined) return
    await createUnlessThere(client, resource, object, fieldManager === undefined ? {} : { fieldManager })
  }
  /** The rest is served all the same where one of these objects can't be read, or written. */
  const unlessDamaged = async (work: Promise<unknown>): Promise<void> => {
    try {
      await work
    } catch (error) {
      // Of a store that is only read its log says so once.
      if (isStoreReadOnly(error)) return
      const isFull = findStatusError(error)?.code === 507
      if (!isFull && !isStoreReadError(error) && !parts.isDamage(error)) throw error
      const reason = isFull ? 'there is no room for it' : 'it is damaged'
      parts.log.error({ error }, `an object of the server's own was left as it is: ${reason}`)
    }
  }
  await Promise.all(
    [
      bootstrapRbac({ client, policy: defaultClusterPolicy(parts.controllerRules) }),
      kubernetesService.makeRange(),
      ...initialNamespaces.map((name) => make(namespaceResource, { metadata: { name } })),
      ...systemPriorityClasses.map((object) => make(priorityClassResource, object)),
      ...defaultObjects.map(({ resource, object, fieldManager }) => make(resource, object, fieldManager)),
    ].map(unlessDamaged),
  )
  await Promise.all(
    [
      bootstrapRbac({ client, policy: systemPolicy }),
      publishAuthenticationTrust(client, authenticationTrust(parts.authorities, parts.frontProxy)),
      kubernetesService.makeService(),
    ].map(unlessDamaged),
  )
}
