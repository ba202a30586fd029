import type { Resource } from '../../kube/resource.ts'
import type { KubeObject } from '../../kube/types.ts'

type Amounts = Record<string, string | number>

export interface LimitRangeItem {
  type?: string
  max?: Amounts
  min?: Amounts
  default?: Amounts
  defaultRequest?: Amounts
  maxLimitRequestRatio?: Amounts
}

export interface LimitRange extends KubeObject {
  spec?: { limits?: LimitRangeItem[] }
}

export const limitRangeResource: Resource<LimitRange> = { group: '', version: 'v1', resource: 'limitranges' }
