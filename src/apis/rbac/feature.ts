/** RBAC objects: escalation checks, and the controller that gathers aggregated roles. */

import type { Feature } from '../../feature/feature.ts'
import { clusterRolesResource, rolesResource } from '../../kube/rbac.ts'
import { rbacAdmission } from './admission.ts'
import { may, read } from './bootstrap-rules.ts'
import { aggregationController, aggregationControllerName } from './reconcile.ts'

export const rbac: Feature = {
  name: 'rbac',
  controllerRules: {
    // Gathers rules that it need not hold.
    [aggregationControllerName]: [
      may([...read, 'escalate', 'patch', 'update'], 'rbac.authorization.k8s.io', 'clusterroles'),
    ],
  },
  open({ authorizer, clock, lister, typeOf }) {
    const clusterRoleType = typeOf(clusterRolesResource)
    const roleType = typeOf(rolesResource)
    return {
      admission: [
        rbacAdmission({
          authorizer,
          findRole: (namespace, name) =>
            lister.find(namespace === '' ? clusterRoleType : roleType, namespace, name)?.object,
        }),
      ],
      controllers: ({ client, onError }) => [
        aggregationController({
          client: client(aggregationControllerName),
          clock,
          onError: onError(aggregationControllerName),
        }),
      ],
    }
  },
}
