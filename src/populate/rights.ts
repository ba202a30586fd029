/**
 * What `borough populate` may do on a cluster: what it always needs, and what the kinds in the templates need. The
 * second part is why its account must be guarded like an administrator's, and why it is made from what is used and no
 * more.
 */
import { may, read } from '../apis/rbac/bootstrap-rules.ts'
import { populationConfig } from '../apis/templates/population-config.ts'
import type { ServedKind } from '../client/client.ts'
import { type PolicyRule, rbacGroup } from '../kube/rbac.ts'
import type { KubeObject } from '../kube/types.ts'
import { definitionName } from './definition.ts'
import { accountName, baseRoleName, installName, kindsRoleName, secretName } from './names.ts'
import { policyNames } from './policies/policy.ts'

const rbacApi = `${rbacGroup}/v1`

const onlyNamed = (rule: PolicyRule, ...resourceNames: string[]): PolicyRule => ({ ...rule, resourceNames })

const admissionResources =
  'mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations ' +
  'validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations'

function baseRules(): PolicyRule[] {
  return [
    // Follows namespaces, lets them go when they are populated, tells what failed, deletes them at their end.
    may([...read, 'delete', 'initialize', 'patch', 'update'], '', 'namespaces'),
    may('patch update', '', 'namespaces/status'),
    may([...read, 'patch', 'update'], 'policy.borough.dev', 'namespacetemplates'),
    may('patch update', 'policy.borough.dev', 'namespacetemplates/status'),
    may('create patch update', ['', 'events.k8s.io'], 'events'),
    // Asks the cluster who may do what, and what the author of a template holds.
    may('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    may(read, rbacGroup, 'clusterrolebindings clusterroles'),
    // Installs itself.
    may('create', 'apiextensions.k8s.io', 'customresourcedefinitions'),
    onlyNamed(may('get patch update', 'apiextensions.k8s.io', 'customresourcedefinitions'), definitionName),
    may('create', 'admissionregistration.k8s.io', admissionResources),
    onlyNamed(
      may('delete get patch update', 'admissionregistration.k8s.io', admissionResources),
      ...Object.values(policyNames).sort(),
    ),
    // Tries, as dry runs, whether namespaces and templates come through.
    may('create', '', 'namespaces'),
    may('create', 'policy.borough.dev', 'namespacetemplates'),
    // Writes what it protects from others.
    may('bypass', 'policy.borough.dev', 'namespacetemplates'),
  ]
}

/** For kinds of templates, each with the resource that serves it. */
export function kindRules(kinds: readonly ServedKind[]): PolicyRule[] {
  const byGroup = new Map<string, Set<string>>()
  for (const { group, resource } of kinds) {
    const resources = byGroup.get(group) ?? new Set<string>()
    byGroup.set(group, resources.add(resource))
  }
  const rules = [...byGroup]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, resources]) =>
      may([...read, 'create', 'delete', 'patch', 'update'], group, [...resources].sort().join(' ')),
    )
  const grants = [...(byGroup.get(rbacGroup) ?? [])]
  if (grants.length === 0) return rules
  return [...rules, may('bind escalate', rbacGroup, 'clusterroles roles')]
}

/** Its account and all that is bound to it. */
export function rightsManifests(namespace: string, kinds: readonly ServedKind[]): KubeObject[] {
  const clusterRole = (
    name: string,
    rules: readonly PolicyRule[],
    annotations?: Record<string, string>,
  ): KubeObject => ({
    apiVersion: rbacApi,
    kind: 'ClusterRole',
    metadata: { name, ...(annotations ? { annotations } : {}) },
    rules: [...rules],
  })
  const role = (where: string, rules: readonly PolicyRule[]): KubeObject => ({
    apiVersion: rbacApi,
    kind: 'Role',
    metadata: { name: installName, namespace: where },
    rules: [...rules],
  })
  const bound = ({ kind, metadata }: KubeObject): KubeObject => ({
    apiVersion: rbacApi,
    kind: `${kind}Binding`,
    metadata: { name: metadata.name ?? '', ...(metadata.namespace ? { namespace: metadata.namespace } : {}) },
    roleRef: { apiGroup: rbacGroup, kind: kind ?? '', name: metadata.name ?? '' },
    subjects: [{ kind: 'ServiceAccount', namespace, name: accountName }],
  })
  const roles = [
    clusterRole(baseRoleName, baseRules()),
    clusterRole(kindsRoleName, kindRules(kinds), { [reachAnnotation]: reachOf(kinds) }),
    role(namespace, [
      may('create', '', 'secrets'),
      onlyNamed(may('get update', '', 'secrets'), secretName),
      may('create', 'coordination.k8s.io', 'leases'),
      onlyNamed(may([...read, 'update'], 'coordination.k8s.io', 'leases'), installName),
      // What templates made, a record for each namespace.
      may([...read, 'create', 'delete', 'update'], '', 'configmaps'),
    ]),
    // Its settings, and the revisions of templates.
    role(populationConfig.namespace, [
      onlyNamed(may(read, '', 'configmaps'), populationConfig.name),
      may([...read, 'create', 'delete', 'patch', 'update'], 'apps', 'controllerrevisions'),
    ]),
  ]
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: accountName, namespace } }
  return [account, ...roles, ...roles.map(bound)]
}

const reachAnnotation = 'policy.borough.dev/reach'

/** In plain words, for who is about to give these rights away. */
export function reachOf(kinds: readonly ServedKind[]): string {
  if (kinds.length === 0) return 'It may write nothing of what templates hold: no kinds were named.'
  const grants = kinds.some(({ group }) => group === rbacGroup)
  const secrets = kinds.some(({ group, resource }) => group === '' && resource === 'secrets')
  const workloads = kinds.some(({ resource }) => workloadResources.has(resource))
  const what = [
    'It may read, write and delete the kinds that templates hold, in every namespace, kube-system among them.',
    ...(grants
      ? [
          'Templates hold roles or bindings, so it may grant any right in any namespace: whoever acts as its ' +
            'account is administrator of the cluster.',
        ]
      : []),
    ...(secrets ? ['It may read every Secret, the tokens of administrators among them.'] : []),
    ...(workloads ? ['It may run workloads in every namespace, with the accounts and Secrets that are there.'] : []),
    'Guard its namespace accordingly, and give the right to write templates to nobody who is no ' +
      'administrator unless the check of authors (the webhook `check`) is in place.',
  ]
  return what.join(' ')
}

const workloadResources: ReadonlySet<string> = new Set(
  'cronjobs daemonsets deployments jobs pods replicasets replicationcontrollers statefulsets'.split(' '),
)
