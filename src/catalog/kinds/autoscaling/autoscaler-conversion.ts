/**
 * Autoscalers are kept as v2. What v1 has no fields for travels in annotations, so that a v1 client that reads and
 * writes loses nothing.
 * @see pkg/apis/autoscaling/v1/conversion.go of Kubernetes 1.36
 */
import type { Conversion } from '../../../kube/resource-type.ts'
import { DecodeError, decode } from '../../../kube/schema/decode.ts'
import type { Schema } from '../../../kube/schema/schema.ts'
import { JsonSyntaxError, parseJson } from '../../../kube/strict-json.ts'
import type { KubeObject, ObjectMeta } from '../../../kube/types.ts'
import { TooManyValuesError } from '../../../kube/value-count.ts'
import { type Part, partIn, partsIn, textIn } from '../report.ts'

/** On objects of v1: what v2 has besides. */
export const carryingAnnotations = {
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

/** An annotation may have 256 KiB, which is room for more values than a body may hold. */
const maxCarriedValues = 10_000

/** Annotations are text from a client: one that does not decode is left out, as upstream leaves it out. */
function readCarried(schema: Schema, text: string | undefined, [part, field]: readonly [string, string]): unknown {
  if (text === undefined) return undefined
  try {
    const { value } = parseJson(text, { maxValues: maxCarriedValues })
    return partIn(decode({ [part]: { [field]: value } }, schema).value, part)[field]
  } catch (e) {
    const isTheirs = e instanceof JsonSyntaxError || e instanceof TooManyValuesError || e instanceof DecodeError
    if (!isTheirs) throw e
    return undefined
  }
}

/** What v1 was before v2 came, and still is without metrics: 80 % of the processor. */
export const defaultUtilization = 80

function withAnnotations(metadata: ObjectMeta, values: Readonly<Record<string, unknown>>): ObjectMeta {
  const ours: ReadonlySet<string> = new Set(Object.values(carryingAnnotations))
  const all: Record<string, string> = {}
  for (const [key, value] of Object.entries(metadata.annotations ?? {})) if (!ours.has(key)) all[key] = value
  for (const [key, value] of Object.entries(values)) if (value !== undefined) all[key] = JSON.stringify(value)
  const { annotations: _dropped, ...rest } = metadata
  return Object.keys(all).length > 0 ? { ...rest, annotations: all } : rest
}

const unlessEmpty = (list: readonly unknown[]): readonly unknown[] | undefined => (list.length > 0 ? list : undefined)

function toAutoscalerV1(object: KubeObject): KubeObject {
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
      [carryingAnnotations.metrics]: unlessEmpty(metrics.filter((m) => m !== target)),
      [carryingAnnotations.currentMetrics]: unlessEmpty(current.filter((m) => m !== seen)),
      [carryingAnnotations.conditions]: conditions,
      [carryingAnnotations.behavior]: behavior,
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

function toAutoscalerV2(object: KubeObject, schema: Schema): KubeObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = partIn(object, 'spec')
  const { currentCPUUtilizationPercentage: seen, ...status } = partIn(object, 'status')
  const given = object.metadata.annotations
  const list = (key: string, ...place: [string, string]): unknown[] => {
    const found = readCarried(schema, given?.[key], place)
    return Array.isArray(found) ? [...(found as unknown[])] : []
  }
  const cpu = (part: Record<string, unknown>): unknown => ({ type: 'Resource', resource: { name: 'cpu', ...part } })
  const metrics = list(carryingAnnotations.metrics, 'spec', 'metrics')
  if (target !== undefined || metrics.length === 0) {
    metrics.push(cpu({ target: { type: 'Utilization', averageUtilization: target ?? defaultUtilization } }))
  }
  const current = list(carryingAnnotations.currentMetrics, 'status', 'currentMetrics')
  if (seen !== undefined) current.push(cpu({ current: { averageUtilization: seen } }))
  const behavior = readCarried(schema, given?.[carryingAnnotations.behavior], ['spec', 'behavior'])
  const conditions = list(carryingAnnotations.conditions, 'status', 'conditions')
  return {
    ...object,
    ...(object.apiVersion === undefined ? {} : { apiVersion: 'autoscaling/v2' }),
    metadata: withAnnotations(object.metadata, {}),
    spec: { ...spec, metrics, ...(behavior === undefined ? {} : { behavior }) },
    status: {
      ...status,
      ...(current.length > 0 ? { currentMetrics: current } : {}),
      ...(conditions.length > 0 ? { conditions } : {}),
    },
  }
}

/** @param schema of autoscaling/v2: what annotations carry must fit it */
export const autoscalerConversion = (schema: () => Schema): Conversion => ({
  toStored: (object) => toAutoscalerV2(object, schema()),
  fromStored: toAutoscalerV1,
})
