/** What a user of a cluster holds in all namespaces by its RBAC, read at the moment it is asked. */
import type { RuleSet } from '../authz/authz.ts'
import { RbacAuthorizer } from '../authz/rbac-authorizer.ts'
import type { RbacSource } from '../authz/rbac-source.ts'
import type { Clock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import { listAll } from '../client/list-all.ts'
import { clusterRoleBindingsResource, clusterRolesResource } from '../kube/rbac.ts'
import type { KubeObject } from '../kube/types.ts'
import type { UserInfo } from '../kube/user.ts'

/** Templates are written seldom, so nothing is kept between calls. */
export async function heldRules(client: Client, clock: Clock, user: UserInfo): Promise<RuleSet> {
  const [roles, bindings] = await Promise.all([
    listAll(client, clusterRolesResource),
    listAll(client, clusterRoleBindingsResource),
  ])
  const objects: Partial<Record<Parameters<RbacSource['subscribe']>[0], KubeObject[]>> = {
    ClusterRole: roles,
    ClusterRoleBinding: bindings,
  }
  const source: RbacSource = {
    subscribe(kind, listener) {
      for (const object of objects[kind] ?? []) {
        listener({ namespace: '', name: object.metadata.name ?? '', object }, undefined, 0)
      }
      return () => {}
    },
    findNamespace: () => undefined,
  }
  using authorizer = new RbacAuthorizer(source, clock)
  return authorizer.rulesFor(user, '')
}
