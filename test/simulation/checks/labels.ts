import type { KubeObject } from '../../../src/kube/types.ts'

/** By one label; absent: everything. */
export const matchesLabels = (object: KubeObject, label: readonly [name: string, value: string] | undefined): boolean =>
  label === undefined || object.metadata.labels?.[label[0]] === label[1]
