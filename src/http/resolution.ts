/** What a path is about: the record that is authorized, and then dispatched. Made by `resolve-target.ts`. */
import type { ResourceType } from '../kube/resource-type.ts'

export interface Target {
  readonly type: ResourceType
  /** As authorization knows it: `list`, `deletecollection`, … */
  readonly verb: string
  /** '' for cluster-scoped types and for all namespaces. */
  readonly namespace: string
  readonly name: string
  /** '' for the main resource. */
  readonly subresource: string
}

export type Resolution = Target | 'no resource' | 'no such group' | 'no such type' | 'no such path'
