/**
 * The scale face of a workload: how many copies it shall have, has, and by which labels they are found. The same for
 * every kind, so that autoscalers and `kubectl scale` need not know the kinds.
 * @see k8s.io/api/autoscaling/v1 Scale v0.36
 */
import { isJsonObject } from './json-value.ts'
import { type LabelSelectorObject, labelSelectorOf, printLabelSelector, selectorOfLabels } from './label-selector.ts'
import type { JsonObject, KubeObject } from './types.ts'

export interface Scale extends KubeObject {
  readonly spec: { readonly replicas?: number }
  readonly status: { readonly replicas: number; readonly selector?: string }
}

/** An own object: nothing of it is shared with the workload. */
export function scaleOf(workload: KubeObject): Scale {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = workload.metadata
  const spec = partOf(workload, 'spec')
  const replicas = numberOr0(spec['replicas'])
  const selector = printedSelector(spec['selector'])
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: defined({ name, namespace, uid, resourceVersion, creationTimestamp }),
    // Written as upstream writes it: zero is left out of the spec, and never of the status.
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberOr0(partOf(workload, 'status')['replicas']),
      ...(selector === '' ? {} : { selector }),
    },
  }
}

/** A copy of the workload that shall have so many copies; all else is shared. */
export function withReplicas(workload: KubeObject, replicas: number): KubeObject {
  return { ...workload, spec: { ...partOf(workload, 'spec'), replicas } }
}

/** A LabelSelector, or the plain labels of a ReplicationController. */
function printedSelector(selector: unknown): string {
  if (!isJsonObject(selector)) return ''
  const isPlain = Object.values(selector).every((value) => typeof value === 'string')
  if (isPlain) return printLabelSelector(selectorOfLabels(selector as Record<string, string>))
  return printLabelSelector(labelSelectorOf(selector as LabelSelectorObject))
}

const partOf = (object: KubeObject, part: string): JsonObject => {
  const value = object[part]
  return isJsonObject(value) ? value : {}
}

const numberOr0 = (value: unknown): number => (typeof value === 'number' ? value : 0)

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

const defined = <T extends object>(fields: T): Partial<Defined<T>> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Defined<T>>
