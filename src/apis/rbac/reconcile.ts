/**
 * The aggregation controller: writes into each ClusterRole with an aggregationRule the rules of those that its
 * selectors match. Any change of any ClusterRole makes it look at all of them: they are few, and one look costs no
 * request.
 */
import type { Clock } from '../../base/clock.ts'
import type { Client } from '../../client/client.ts'
import type { ControllerSpec } from '../../controller/controller.ts'
import { Watches } from '../../controller/watches.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { type ClusterRole, clusterRolesResource } from '../../kube/rbac.ts'
import { isNotFound } from '../../kube/status-error.ts'
import { aggregatedRules, isAggregated } from './aggregation.ts'

export const aggregationControllerName = 'clusterrole-aggregation-controller'

export interface AggregationControllerDeps {
  readonly client: Client
  readonly clock: Clock
  /** Failures of the watch, which it recovers from. */
  readonly onError: (error: unknown) => void
}

const everyRole = { namespace: '', name: 'clusterroles' }

export function aggregationController({ client, clock, onError }: AggregationControllerDeps): ControllerSpec {
  const watches = new Watches({ client, clock, onError })
  const informer = watches.on({ resource: clusterRolesResource }, () => everyRole)
  return {
    name: aggregationControllerName,
    workers: 1,
    sources: [watches],
    reconciler: {
      async reconcile(_key, signal) {
        const roles = [...informer.values()] as ClusterRole[]
        const failures: unknown[] = []
        for (const role of roles.filter(isAggregated)) {
          const rules = aggregatedRules(role, roles)
          if (jsonEqual(role.rules ?? [], rules)) continue
          try {
            await client.update(
              clusterRolesResource,
              { ...role, apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules },
              { fieldManager: aggregationControllerName, signal },
            )
          } catch (error) {
            // Gone meanwhile: its removal is on the way here.
            if (!isNotFound(error)) failures.push(error)
          }
        }
        if (failures.length > 0) throw new AggregateError(failures, 'some ClusterRoles could not be aggregated')
        return undefined
      },
    },
  }
}
