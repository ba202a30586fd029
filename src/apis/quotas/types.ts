import type { Resource } from '../../kube/resource.ts'
import type { KubeObject } from '../../kube/types.ts'

export interface ScopeRequirement {
  scopeName?: string
  operator?: string
  values?: string[]
}

export interface ResourceQuota extends KubeObject {
  spec?: {
    hard?: Record<string, string | number>
    scopes?: string[]
    scopeSelector?: { matchExpressions?: ScopeRequirement[] }
  }
  status?: { hard?: Record<string, string | number>; used?: Record<string, string | number> }
}

export const quotaResource: Resource<ResourceQuota> = { group: '', version: 'v1', resource: 'resourcequotas' }
