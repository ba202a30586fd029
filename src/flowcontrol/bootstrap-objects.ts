/**
 * The objects with which every server starts. Mandatory: there are always a place for `system:masters` and one for the
 * rest. Suggested: the initial configuration, which operators may edit or delete.
 * @see k8s.io/apiserver/pkg/apis/flowschemas/bootstrap/default.go v0.36
 */
import { anonymousUser, authenticatedGroup, mastersGroup } from '../kube/user.ts'
import {
  autoUpdateSpecAnnotation,
  catchAllName,
  type DistinguisherMethod,
  exemptName,
  type FlowSchemaObject,
  flowControlGroup,
  flowControlVersion,
  type NonResourceRuleSpec,
  type PolicyRulesSpec,
  type PriorityLevelObject,
  type PriorityLevelSpec,
  type ResourceRuleSpec,
  type SubjectSpec,
  wildcard,
} from './types.ts'

const apiVersion = `${flowControlGroup}/${flowControlVersion}`
const all = [wildcard]
const unauthenticatedGroup = anonymousUser.groups[0] ?? ''
const nodesGroup = 'system:nodes'
const kubeControllerManager = 'system:kube-controller-manager'
const kubeScheduler = 'system:kube-scheduler'

const group = (name: string): SubjectSpec => ({ kind: 'Group', group: { name } })
const user = (name: string): SubjectSpec => ({ kind: 'User', user: { name } })
const kubeSystemAccounts: SubjectSpec = {
  kind: 'ServiceAccount',
  serviceAccount: { namespace: 'kube-system', name: wildcard },
}
const anyUser = [group(unauthenticatedGroup), group(authenticatedGroup)]

const everyResource: ResourceRuleSpec = {
  verbs: all,
  apiGroups: all,
  resources: all,
  clusterScope: true,
  namespaces: all,
}
const everyUrl: NonResourceRuleSpec = { verbs: all, nonResourceURLs: all }
const everything = (subjects: readonly SubjectSpec[]): PolicyRulesSpec => ({
  subjects,
  resourceRules: [everyResource],
  nonResourceRules: [everyUrl],
})
const leases = (verbs: readonly string[]): ResourceRuleSpec => ({
  verbs,
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  namespaces: all,
})

/** `distinguisher` undefined: all requests of the schema are one flow. */
interface SchemaRow {
  readonly name: string
  readonly level: string
  readonly precedence: number
  readonly distinguisher?: DistinguisherMethod
  readonly rules: PolicyRulesSpec
}

function flowSchema({ name, level, precedence, distinguisher, rules }: SchemaRow): FlowSchemaObject {
  return {
    apiVersion,
    kind: 'FlowSchema',
    metadata: { name, annotations: { [autoUpdateSpecAnnotation]: 'true' } },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: precedence,
      ...(distinguisher === undefined ? {} : { distinguisherMethod: { type: distinguisher } }),
      rules: [rules],
    },
  }
}

function priorityLevel(name: string, spec: PriorityLevelSpec): PriorityLevelObject {
  return {
    apiVersion,
    kind: 'PriorityLevelConfiguration',
    metadata: { name, annotations: { [autoUpdateSpecAnnotation]: 'true' } },
    spec,
  }
}

interface QueuedLevelRow {
  readonly name: string
  readonly shares: number
  readonly lendable: number
  readonly queues: number
  readonly handSize: number
}

const queuedLevel = ({ name, shares, lendable, queues, handSize }: QueuedLevelRow): PriorityLevelObject =>
  priorityLevel(name, {
    type: 'Limited',
    limited: {
      nominalConcurrencyShares: shares,
      lendablePercent: lendable,
      limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
    },
  })

export const mandatoryPriorityLevels: readonly PriorityLevelObject[] = [
  priorityLevel(catchAllName, {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
  }),
  priorityLevel(exemptName, { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }),
]

export const suggestedPriorityLevels: readonly PriorityLevelObject[] = [
  queuedLevel({ name: 'system', shares: 30, lendable: 33, queues: 64, handSize: 6 }),
  queuedLevel({ name: 'node-high', shares: 40, lendable: 25, queues: 64, handSize: 6 }),
  queuedLevel({ name: 'leader-election', shares: 10, lendable: 0, queues: 16, handSize: 4 }),
  queuedLevel({ name: 'workload-high', shares: 40, lendable: 50, queues: 128, handSize: 6 }),
  queuedLevel({ name: 'workload-low', shares: 100, lendable: 90, queues: 128, handSize: 6 }),
  queuedLevel({ name: 'global-default', shares: 20, lendable: 50, queues: 128, handSize: 6 }),
]

export const mandatoryFlowSchemas: readonly FlowSchemaObject[] = [
  flowSchema({ name: exemptName, level: exemptName, precedence: 1, rules: everything([group(mastersGroup)]) }),
  flowSchema({
    name: catchAllName,
    level: catchAllName,
    precedence: 10_000,
    distinguisher: 'ByUser',
    rules: everything(anyUser),
  }),
]

/** In the order of their precedence. */
export const suggestedFlowSchemas: readonly FlowSchemaObject[] = [
  flowSchema({
    name: 'probes',
    level: exemptName,
    precedence: 2,
    rules: {
      subjects: anyUser,
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
    },
  }),
  flowSchema({
    name: 'system-leader-election',
    level: 'leader-election',
    precedence: 100,
    distinguisher: 'ByUser',
    rules: {
      subjects: [user(kubeControllerManager), user(kubeScheduler), kubeSystemAccounts],
      resourceRules: [leases(['get', 'create', 'update'])],
    },
  }),
  flowSchema({
    name: 'system-node-high',
    level: 'node-high',
    precedence: 400,
    distinguisher: 'ByUser',
    rules: {
      subjects: [group(nodesGroup)],
      resourceRules: [
        { verbs: all, apiGroups: [''], resources: ['nodes', 'nodes/status'], clusterScope: true, namespaces: all },
        leases(all),
      ],
    },
  }),
  flowSchema({
    name: 'system-nodes',
    level: 'system',
    precedence: 500,
    distinguisher: 'ByUser',
    rules: everything([group(nodesGroup)]),
  }),
  flowSchema({
    name: 'kube-controller-manager',
    level: 'workload-high',
    precedence: 800,
    distinguisher: 'ByNamespace',
    rules: everything([user(kubeControllerManager)]),
  }),
  flowSchema({
    name: 'kube-scheduler',
    level: 'workload-high',
    precedence: 800,
    distinguisher: 'ByNamespace',
    rules: everything([user(kubeScheduler)]),
  }),
  flowSchema({
    name: 'kube-system-service-accounts',
    level: 'workload-high',
    precedence: 900,
    distinguisher: 'ByNamespace',
    rules: everything([kubeSystemAccounts]),
  }),
  flowSchema({
    name: 'service-accounts',
    level: 'workload-low',
    precedence: 9000,
    distinguisher: 'ByUser',
    rules: everything([group('system:serviceaccounts')]),
  }),
  flowSchema({
    name: 'global-default',
    level: 'global-default',
    precedence: 9900,
    distinguisher: 'ByUser',
    rules: everything(anyUser),
  }),
]
