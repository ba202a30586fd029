import type { KubeObject } from '../../src/kube/types.ts'

/** A resourceVersion is the number of its transaction × 1024, and a place in it. */
export const transactionOf = ({ metadata }: KubeObject): number => Math.floor(Number(metadata.resourceVersion) / 1024)
