/** Whether the user may do something: the server's word, so that no button is offered that it would refuse. */
import type { Cluster } from './cluster.ts'
import { useAnswer } from './use-answer.ts'
import { useCluster } from './use-cluster.ts'

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

/** False until the server has said yes. */
export function useMay(action: ReviewedAction): boolean {
  const cluster = useCluster()
  const { value = false } = useAnswer((signal) => mayI(cluster, action, signal), [cluster, JSON.stringify(action)])
  return value
}
