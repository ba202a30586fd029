/**
 * What each of our controllers may do: it acts as `system:serviceaccount:kube-system:<name>` and has the ClusterRole
 * `system:controller:<name>`. Unlike upstream's, whose caches are filled by one privileged identity, ours read with
 * their own rights, so each role says all that its controller needs.
 */
import type { Binding, ClusterRole, PolicyRule } from '../../kube/rbac.ts'
import { clusterRole, clusterRoleBinding, events, may, read } from './bootstrap-rules.ts'

const controllers: Readonly<Record<string, readonly PolicyRule[]>> = {
  // Empties a terminating namespace of whatever kinds there are, tells how far it is, and lets it go.
  'namespace-controller': [
    may([...read, 'delete'], '', 'namespaces'),
    may('update patch', '', 'namespaces/finalize namespaces/status'),
    may([...read, 'delete', 'deletecollection'], '*', '*'),
    events,
  ],
  // Establishes definitions; deletes the instances of those that go.
  'customresourcedefinition-controller': [
    may([...read, 'update'], 'apiextensions.k8s.io', 'customresourcedefinitions'),
    may('update', 'apiextensions.k8s.io', 'customresourcedefinitions/status'),
    may([...read, 'delete', 'deletecollection'], '*', '*'),
    events,
  ],
  // Applies whatever kinds a template holds, roles and bindings among them: what it may grant is settled when the
  // template is written. Removes itself from the initializers of a namespace.
  'namespace-template-controller': [
    may([...read, 'create', 'delete', 'patch', 'update'], '*', '*'),
    may('bind escalate', 'rbac.authorization.k8s.io', 'clusterroles roles'),
    may('initialize', '', 'namespaces'),
    events,
  ],
  // Watches the deadlines of initializers: skips one, or fails and deletes the namespace.
  'namespace-initializer-controller': [
    may([...read, 'delete', 'initialize', 'patch', 'update'], '', 'namespaces'),
    may('patch update', '', 'namespaces/status'),
    may(read, 'admissionregistration.k8s.io', 'namespaceinitializerconfigurations'),
    events,
  ],
  // Deletes what lost its owner, and takes owner references and finalizers off what is kept.
  'generic-garbage-collector': [may([...read, 'delete', 'patch', 'update'], '*', '*'), events],
  // Each puts back one thing that a namespace is born with: the ServiceAccount `default`, the ConfigMap
  // `kube-root-ca.crt`.
  'service-account-controller': [
    may(read, '', 'namespaces'),
    may([...read, 'create', 'patch'], '', 'serviceaccounts'),
    events,
  ],
  'root-ca-cert-publisher': [may(read, '', 'namespaces'), may([...read, 'create', 'patch'], '', 'configmaps'), events],
  // Puts the status of a quota right when somebody else wrote it.
  'resourcequota-controller': [
    may(read, '', 'resourcequotas'),
    may('patch update', '', 'resourcequotas/status'),
    events,
  ],
  // Claims what Services of earlier builds have.
  'service-claim-controller': [may('get update', '', 'services'), events],
  // Says in the status of a policy which of its expressions do not fit the types they are about.
  'validatingadmissionpolicy-status-controller': [
    may(read, 'admissionregistration.k8s.io', 'validatingadmissionpolicies'),
    may('patch update', 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'),
    events,
  ],
  // Gathers rules that it need not hold.
  'clusterrole-aggregation-controller': [
    may([...read, 'escalate', 'patch', 'update'], 'rbac.authorization.k8s.io', 'clusterroles'),
  ],
  // Registers what this server serves.
  'apiservice-registration-controller': [
    may([...read, 'create', 'delete', 'update'], 'apiregistration.k8s.io', 'apiservices'),
    may('patch update', 'apiregistration.k8s.io', 'apiservices/status'),
  ],
  // Removes pods whose time is over, and those of nodes that do not exist.
  'pod-garbage-collector': [
    may([...read, 'delete'], '', 'pods'),
    may('patch update', '', 'pods/status'),
    may(read, '', 'nodes'),
    events,
  ],
  // Shows pods found in files and at a URL, in a namespace that it makes if need be, and does not wait for.
  'mirror-pod-controller': [
    may([...read, 'create', 'delete', 'patch', 'update'], '', 'pods'),
    may('patch update', '', 'pods/status'),
    may([...read, 'create', 'initialize'], '', 'namespaces'),
    events,
  ],
  // Signs approved requests for client certificates of this server.
  'certificate-controller': [
    may(read, 'certificates.k8s.io', 'certificatesigningrequests'),
    may('patch update', 'certificates.k8s.io', 'certificatesigningrequests/status'),
    { ...may('sign', 'certificates.k8s.io', 'signers'), resourceNames: ['kubernetes.io/kube-apiserver-client'] },
    events,
  ],
  // Forgets events that are an hour old.
  'event-ttl-controller': [may([...read, 'delete'], '', 'events')],
  // Holds the lease that says which replica's controllers run.
  'leader-election': [may([...read, 'create', 'patch', 'update'], 'coordination.k8s.io', 'leases'), events],
}

const prefix = 'system:controller:'

export const controllerRoles: readonly ClusterRole[] = Object.entries(controllers).map(([name, rules]) =>
  clusterRole(prefix + name, [...rules]),
)

export const controllerRoleBindings: readonly Binding[] = Object.keys(controllers).map((name) =>
  clusterRoleBinding(prefix + name, prefix + name, [{ kind: 'ServiceAccount', namespace: 'kube-system', name }]),
)
