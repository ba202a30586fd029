/**
 * The default roles and who has them, as Kubernetes users know them, and ours beside them.
 *
 *   view ⊂ edit ⊂ admin     gathered from carriers `system:aggregate-to-*` by label, so that any role can add to them
 *
 * Kinds of our own add nothing to these three, and `initialize`, `use` and `optout` are in none: they
 * are in cluster-admin alone until an administrator grants them.
 *
 * @see k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy v1.36 (the facts)
 */
import type { ControllerRules } from '../../feature/feature.ts'
import { type Binding, type ClusterRole, clusterRolesResource, type Role } from '../../kube/rbac.ts'
import { mastersGroup } from '../../kube/user.ts'
import { aggregatedRules, isAggregated } from './aggregation.ts'
import {
  clusterRole,
  clusterRoleBinding,
  events,
  groupSubject,
  may,
  mayGet,
  read,
  readWrite,
  role,
  roleBinding,
  userSubject,
  write,
} from './bootstrap-rules.ts'

const { group: rbac } = clusterRolesResource
const authenticated = groupSubject('system:authenticated')

const aggregateTo = (role: string): Record<string, string> => ({
  [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true',
})

/** A role that is the sum of those labelled for it, and may itself be labelled for the next one. */
const gathering = (name: string, labels: Record<string, string> = {}): ClusterRole => ({
  ...clusterRole(name, [], labels),
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregateTo(name) }] },
})

const carriers: readonly ClusterRole[] = [
  clusterRole(
    'system:aggregate-to-admin',
    [may('create', 'authorization.k8s.io', 'localsubjectaccessreviews'), may(readWrite, rbac, 'rolebindings roles')],
    aggregateTo('admin'),
  ),
  clusterRole(
    'system:aggregate-to-edit',
    [
      may(read, '', 'pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy'),
      may('impersonate', '', 'serviceaccounts'),
      may(write, '', 'pods pods/attach pods/exec pods/portforward pods/proxy'),
      may('create', '', 'pods/eviction'),
      may(
        write,
        '',
        'configmaps events persistentvolumeclaims replicationcontrollers replicationcontrollers/scale ' +
          'secrets serviceaccounts services services/proxy',
      ),
      may('create', '', 'serviceaccounts/token'),
      may(
        write,
        'apps',
        'daemonsets deployments deployments/rollback deployments/scale replicasets replicasets/scale ' +
          'statefulsets statefulsets/scale',
      ),
      may(write, 'autoscaling', 'horizontalpodautoscalers'),
      may(write, 'batch', 'cronjobs jobs'),
      may(
        write,
        'extensions',
        'daemonsets deployments deployments/rollback deployments/scale ingresses networkpolicies replicasets ' +
          'replicasets/scale replicationcontrollers/scale',
      ),
      may(write, 'policy', 'poddisruptionbudgets'),
      may(write, 'networking.k8s.io', 'ingresses networkpolicies'),
      may(readWrite, 'coordination.k8s.io', 'leases'),
      may(write, 'resource.k8s.io', 'resourceclaims resourceclaimtemplates'),
    ],
    aggregateTo('edit'),
  ),
  clusterRole(
    'system:aggregate-to-view',
    [
      may(
        read,
        '',
        'configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods ' +
          'replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status',
      ),
      may(
        read,
        '',
        'bindings events limitranges namespaces/status pods/log pods/status replicationcontrollers/status ' +
          'resourcequotas resourcequotas/status',
      ),
      // In a namespace this is the namespace itself.
      may(read, '', 'namespaces'),
      may(read, 'discovery.k8s.io', 'endpointslices'),
      may(
        read,
        'apps',
        'controllerrevisions daemonsets daemonsets/status deployments deployments/scale deployments/status ' +
          'replicasets replicasets/scale replicasets/status statefulsets statefulsets/scale statefulsets/status',
      ),
      may(read, 'autoscaling', 'horizontalpodautoscalers horizontalpodautoscalers/status'),
      may(read, 'batch', 'cronjobs cronjobs/status jobs jobs/status'),
      may(
        read,
        'extensions',
        'daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ' +
          'ingresses/status networkpolicies replicasets replicasets/scale replicasets/status ' +
          'replicationcontrollers/scale',
      ),
      may(read, 'policy', 'poddisruptionbudgets poddisruptionbudgets/status'),
      may(read, 'networking.k8s.io', 'ingresses ingresses/status networkpolicies'),
      may(read, 'resource.k8s.io', 'resourceclaims resourceclaims/status resourceclaimtemplates'),
    ],
    aggregateTo('view'),
  ),
]

const userFacing: readonly ClusterRole[] = [
  clusterRole('cluster-admin', [may('*', '*', '*'), { verbs: ['*'], nonResourceURLs: ['*'] }]),
  gathering('admin'),
  gathering('edit', aggregateTo('admin')),
  gathering('view', aggregateTo('edit')),
]

const system: readonly ClusterRole[] = [
  clusterRole('system:discovery', [
    mayGet('/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/'),
  ]),
  clusterRole('system:basic-user', [
    may('create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    may('create', 'authentication.k8s.io', 'selfsubjectreviews'),
  ]),
  clusterRole('system:public-info-viewer', [mayGet('/healthz /livez /readyz /version /version/')]),
  clusterRole('system:monitoring', [
    mayGet('/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*'),
  ]),
  clusterRole('system:service-account-issuer-discovery', [
    mayGet('/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/'),
  ]),
  clusterRole('system:auth-delegator', [
    may('create', 'authentication.k8s.io', 'tokenreviews'),
    may('create', 'authorization.k8s.io', 'subjectaccessreviews'),
  ]),
  // A real kube-controller-manager may run beside us.
  clusterRole('system:kube-controller-manager', [
    may('create patch update', ['', 'events.k8s.io'], 'events'),
    may('create', 'coordination.k8s.io', 'leases'),
    { ...may('get update', 'coordination.k8s.io', 'leases'), resourceNames: ['kube-controller-manager'] },
    may('create', '', 'secrets serviceaccounts'),
    may('delete', '', 'secrets'),
    may('get', '', 'configmaps namespaces secrets serviceaccounts'),
    may('update', '', 'secrets serviceaccounts'),
    may('create', 'authentication.k8s.io', 'tokenreviews'),
    may('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    may('list watch', '*', '*'),
    may('create', '', 'serviceaccounts/token'),
  ]),
]

const templateGroups = ['policy', 'policy.borough.dev']

/** Without a binding. */
const ours: readonly ClusterRole[] = [
  clusterRole('borough:namespace-creator', [may('create', '', 'namespaces')]),
  clusterRole('borough:template-author', [
    may(readWrite, templateGroups, 'namespacetemplates'),
    may('get', templateGroups, 'namespacetemplates/status'),
  ]),
  // As in OpenShift: a namespace's readers see the quotas that count it.
  clusterRole(
    'borough:aggregate-to-view',
    [may(['get', 'list'], 'policy.borough.dev', 'appliedclusterresourcequotas')],
    aggregateTo('view'),
  ),
]

const bindings: readonly Binding[] = [
  clusterRoleBinding('cluster-admin', 'cluster-admin', [groupSubject(mastersGroup)]),
  clusterRoleBinding('system:discovery', 'system:discovery', [authenticated]),
  clusterRoleBinding('system:basic-user', 'system:basic-user', [authenticated]),
  clusterRoleBinding('system:public-info-viewer', 'system:public-info-viewer', [
    authenticated,
    groupSubject('system:unauthenticated'),
  ]),
  clusterRoleBinding('system:monitoring', 'system:monitoring', [groupSubject('system:monitoring')]),
  clusterRoleBinding('system:service-account-issuer-discovery', 'system:service-account-issuer-discovery', [
    groupSubject('system:serviceaccounts'),
  ]),
  clusterRoleBinding('system:kube-controller-manager', 'system:kube-controller-manager', [
    userSubject('system:kube-controller-manager'),
  ]),
]

/** Aggregated roles come filled, so that they hold from the first moment; afterwards the controller keeps them. */
function fillAggregated(roles: readonly ClusterRole[]): ClusterRole[] {
  const done = new Map(roles.map((role) => [role.metadata.name, role]))
  // From the innermost out: each gathers what the one before has gathered.
  for (const name of ['view', 'edit', 'admin']) {
    const role = done.get(name)
    if (role && isAggregated(role)) done.set(name, { ...role, rules: aggregatedRules(role, done.values()) })
  }
  return [...done.values()]
}

const controllerPrefix = 'system:controller:'

/**
 * Controllers act as `system:serviceaccount:kube-system:<name>`. The leases of their leader are not one controller's.
 */
const sharedRules: ControllerRules = {
  // Holds the lease that says which replica's controllers run.
  'leader-election': [may([...read, 'create', 'patch', 'update'], 'coordination.k8s.io', 'leases'), events],
}

/**
 * The default policy of the cluster. Unlike upstream's controllers, whose caches are filled by one privileged identity,
 * ours read with their own rights, so each role says all that its controller needs.
 */
export function clusterPolicy(controllers: ControllerRules): {
  readonly roles: readonly ClusterRole[]
  readonly bindings: readonly Binding[]
} {
  const accounts = Object.entries({ ...controllers, ...sharedRules })
  return {
    roles: fillAggregated([
      ...userFacing,
      ...carriers,
      ...system,
      ...ours,
      ...accounts.map(([name, rules]) => clusterRole(controllerPrefix + name, [...rules])),
    ]),
    bindings: [
      ...bindings,
      ...accounts.map(([name]) =>
        clusterRoleBinding(controllerPrefix + name, controllerPrefix + name, [
          { kind: 'ServiceAccount', namespace: 'kube-system', name },
        ]),
      ),
    ],
  }
}

/** Where servers that delegate authentication to this one read whom it trusts. */
export const authenticationTrustName = 'extension-apiserver-authentication'
const trustReader = `${authenticationTrustName}-reader`

/** In kube-system. The rest of upstream's is for controllers that do not run here. */
export const bootstrapSystemRoles: readonly Role[] = [
  role('kube-system', trustReader, [{ ...may(read, '', 'configmaps'), resourceNames: [authenticationTrustName] }]),
]

export const bootstrapSystemRoleBindings: readonly Binding[] = [
  roleBinding('kube-system', `system::${trustReader}`, trustReader, [
    userSubject('system:kube-controller-manager'),
    userSubject('system:kube-scheduler'),
  ]),
]
