/** Quotas and what is kept beside them, as they lie in the store (docs/storage-format.md). */
import type { StoredObject } from './etcd-commits.ts'

export interface Share {
  readonly quota: string
  readonly holder: string
  readonly counted: string
  readonly used: Readonly<Record<string, string>>
}

export interface Counter {
  readonly quota: string
  readonly holder: string
  readonly namespaces: number
  readonly used: Readonly<Record<string, string>>
}

export interface ClusterQuota extends StoredObject {
  readonly spec: {
    readonly selector: {
      readonly labels?: {
        readonly matchLabels?: Readonly<Record<string, string>>
        readonly matchExpressions?: readonly { readonly key: string; readonly values?: readonly string[] }[]
      }
      readonly annotations?: Readonly<Record<string, string>>
    }
    readonly perCreator?: boolean
    readonly perOwner?: boolean
    readonly quota: { readonly hard: Readonly<Record<string, string>>; readonly scopes?: readonly string[] }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly total?: { readonly used: Readonly<Record<string, string>> }
    readonly namespaceCount?: number
    readonly accounts?: readonly { readonly name: string; readonly used: Readonly<Record<string, string>> }[]
  }
}
