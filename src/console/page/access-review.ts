/** Whether the user may do something: the server's word, so that no button is offered that it would refuse. */
import type { Cluster } from './cluster.ts'
import type { RulesAnswer } from './namespace/own-rules.ts'
import { useAnswer } from './use-answer.ts'
import { useCluster } from './use-cluster.ts'
import { useTick } from './widgets/use-tick.ts'

export interface ReviewedAction {
  readonly verb: string
  readonly group?: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

export async function mayI(cluster: Cluster, action: ReviewedAction, signal?: AbortSignal): Promise<boolean> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const spec = { resourceAttributes: action }
  const body = { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec }
  const answer = await cluster.client.request('POST', path, body, signal === undefined ? {} : { signal })
  return (answer as { status?: { allowed?: boolean } }).status?.allowed === true
}

/** What the server lists of what the user may do in a namespace. */
export async function askRules(cluster: Cluster, namespace: string, signal: AbortSignal): Promise<RulesAnswer> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'
  const body = { kind: 'SelfSubjectRulesReview', apiVersion: 'authorization.k8s.io/v1', spec: { namespace } }
  const answer = await cluster.client.request('POST', path, body, { signal })
  return (answer as { status?: RulesAnswer }).status ?? {}
}

/** Every user may ask what they may do. */
const groupsOfReviews: ReadonlySet<string> = new Set(['authorization.k8s.io', 'authentication.k8s.io'])

/** Whether the user may do anything with what is in a namespace: it may be theirs, though they may not see itself. */
export async function mayWorkIn(cluster: Cluster, namespace: string, signal: AbortSignal): Promise<boolean> {
  const resourceRules = (await askRules(cluster, namespace, signal)).resourceRules ?? []
  if (resourceRules.length === 0) return false
  const { kinds } = await cluster.client.discovery.kinds()
  const inside = new Set(
    kinds.filter(({ namespaced }) => namespaced).map(({ group, resource }) => `${resource}.${group}`),
  )
  const isInside = (resource: string, group: string): boolean =>
    !groupsOfReviews.has(group) &&
    (resource === '*' || group === '*' || inside.has(`${resource.split('/')[0]}.${group}`))
  return resourceRules.some(({ apiGroups = [], resources = [] }) =>
    apiGroups.some((group) => resources.some((resource) => isInside(resource, group))),
  )
}

/** False until the server has said yes. */
export const useMay = (action: ReviewedAction): boolean => useMayAll([action])

/** False until the server has said yes to each. */
export const useMayAll = (actions: readonly ReviewedAction[]): boolean => useVerdict(actions) ?? false

/** Rights are given and taken while a page is open. */
const askAgainMs = 60_000

/** Undefined until the server has said it. */
export function useVerdict(actions: readonly ReviewedAction[]): boolean | undefined {
  const cluster = useCluster()
  const tick = useTick(askAgainMs)
  const { value } = useAnswer(
    async (signal) => {
      const answers = await Promise.all(actions.map((action) => mayI(cluster, action, signal)))
      return answers.every((isAllowed) => isAllowed)
    },
    [cluster, JSON.stringify(actions), tick],
  )
  return value
}
