/**
 * Autoscalers are kept as v2. What v1 has no fields for travels in annotations, so that a v1 client that reads and
 * writes loses nothing.
 * @see pkg/apis/autoscaling/v1/conversion.go of Kubernetes 1.36
 */
import type { KubeObject, ObjectMeta } from '../../kube/types.ts'
import { findPart, type Part, partIn, partsIn, textIn } from '../validation/report.ts'

const annotations = {
  metrics: 'autoscaling.alpha.kubernetes.io/metrics',
  currentMetrics: 'autoscaling.alpha.kubernetes.io/current-metrics',
  conditions: 'autoscaling.alpha.kubernetes.io/conditions',
  behavior: 'autoscaling.alpha.kubernetes.io/behavior',
} as const

const isCpuUtilization = (metric: Part): boolean => {
  const resource = partIn(metric, 'resource')
  return (
    textIn(metric, 'type') === 'Resource' &&
    textIn(resource, 'name') === 'cpu' &&
    (partIn(resource, 'target').averageUtilization !== undefined ||
      partIn(resource, 'current').averageUtilization !== undefined)
  )
}

/** Annotations are text from a client: what does not parse is left out, as if nobody had set it. */
function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch (e) {
    if (e instanceof SyntaxError) return undefined
    throw e
  }
}

function withAnnotations(metadata: ObjectMeta, values: Readonly<Record<string, unknown>>): ObjectMeta {
  const ours: ReadonlySet<string> = new Set(Object.values(annotations))
  const all: Record<string, string> = {}
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) if (!ours.has(key)) all[key] = value
  for (const [key, value] of Object.entries(values)) if (value !== undefined) all[key] = JSON.stringify(value)
  const { annotations: _dropped, ...rest } = metadata
  return Object.keys(all).length > 0 ? { ...rest, annotations: all } : rest
}

const unlessEmpty = (list: readonly unknown[]): readonly unknown[] | undefined => (list.length > 0 ? list : undefined)

export function toAutoscalerV1(object: KubeObject): KubeObject {
  const { metrics: _m, behavior, ...spec } = partIn(object, 'spec')
  const { currentMetrics: _c, conditions, ...status } = partIn(object, 'status')
  const metrics = partsIn(partIn(object, 'spec'), 'metrics')
  const current = partsIn(partIn(object, 'status'), 'currentMetrics')
  const target = metrics.find(isCpuUtilization)
  const seen = current.find(isCpuUtilization)
  return {
    ...object,
    ...(object.apiVersion === undefined ? {} : { apiVersion: 'autoscaling/v1' }),
    metadata: withAnnotations(object.metadata, {
      [annotations.metrics]: unlessEmpty(metrics.filter((m) => m !== target)),
      [annotations.currentMetrics]: unlessEmpty(current.filter((m) => m !== seen)),
      [annotations.conditions]: conditions,
      [annotations.behavior]: behavior,
    }),
    spec: {
      ...spec,
      ...(target
        ? { targetCPUUtilizationPercentage: partIn(partIn(target, 'resource'), 'target').averageUtilization }
        : {}),
    },
    status: {
      // v1 always prints both.
      currentReplicas: 0,
      desiredReplicas: 0,
      ...status,
      ...(seen
        ? { currentCPUUtilizationPercentage: partIn(partIn(seen, 'resource'), 'current').averageUtilization }
        : {}),
    },
  }
}

export function toAutoscalerV2(object: KubeObject): KubeObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = partIn(object, 'spec')
  const { currentCPUUtilizationPercentage: seen, ...status } = partIn(object, 'status')
  const carried = (key: string): unknown => parse(object.metadata.annotations?.[key])
  const list = (key: string): unknown[] => {
    const found = carried(key)
    return Array.isArray(found) ? found : []
  }
  const cpu = (part: Record<string, unknown>): unknown => ({ type: 'Resource', resource: { name: 'cpu', ...part } })
  const metrics = list(annotations.metrics)
  if (target !== undefined) metrics.push(cpu({ target: { type: 'Utilization', averageUtilization: target } }))
  const current = list(annotations.currentMetrics)
  if (seen !== undefined) current.push(cpu({ current: { averageUtilization: seen } }))
  const behavior = findPart({ behavior: carried(annotations.behavior) }, 'behavior')
  const conditions = list(annotations.conditions)
  return {
    ...object,
    ...(object.apiVersion === undefined ? {} : { apiVersion: 'autoscaling/v2' }),
    metadata: withAnnotations(object.metadata, {}),
    spec: { ...spec, ...(metrics.length > 0 ? { metrics } : {}), ...(behavior ? { behavior } : {}) },
    status: {
      ...status,
      ...(current.length > 0 ? { currentMetrics: current } : {}),
      ...(conditions.length > 0 ? { conditions } : {}),
    },
  }
}
