/**
 * The `scale` sub-resource of built-in workloads: a small object of its own that reads and writes one field of its
 * parent.
 * @see ScaleREST in pkg/registry/apps/deployment/storage and its siblings, Kubernetes 1.36
 */
import { type FieldError, fieldInvalid } from '../../kube/field-error.ts'
import {
  type LabelSelectorObject,
  labelSelectorOf,
  printLabelSelector,
  selectorOfLabels,
} from '../../kube/label-selector.ts'
import type { KubeObject, ObjectMeta } from '../../kube/types.ts'
import { notNegative, numberIn, type Part, partIn } from '../validation/report.ts'

/** As text: that is how autoscalers find the pods. Replication controllers have plain labels, the others a selector. */
function selectorText(spec: Part): string {
  const selector = partIn(spec, 'selector')
  const plain = !('matchLabels' in selector) && !('matchExpressions' in selector)
  return printLabelSelector(
    plain ? selectorOfLabels(selector as Record<string, string>) : labelSelectorOf(selector as LabelSelectorObject),
  )
}

const metadataFields = ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'] as const

export function scaleOf(workload: KubeObject): KubeObject {
  const spec = partIn(workload, 'spec')
  const replicas = numberIn(spec, 'replicas') ?? 0
  const metadata: Record<string, unknown> = {}
  for (const field of metadataFields) {
    if (workload.metadata[field] !== undefined) metadata[field] = workload.metadata[field]
  }
  const selector = selectorText(spec)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: metadata as ObjectMeta,
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: numberIn(partIn(workload, 'status'), 'replicas') ?? 0,
      ...(selector === '' ? {} : { selector }),
    },
  }
}

/** A new workload that wants what the scale says; its resourceVersion, if given, is what the write depends on. */
export function withScale(workload: KubeObject, scale: KubeObject): KubeObject {
  const { resourceVersion: _, ...metadata } = workload.metadata
  const asked = scale.metadata.resourceVersion
  return {
    ...workload,
    metadata: asked === undefined ? metadata : { ...metadata, resourceVersion: asked },
    spec: { ...partIn(workload, 'spec'), replicas: numberIn(partIn(scale, 'spec'), 'replicas') ?? 0 },
  }
}

export function validateScale(scale: KubeObject): FieldError[] {
  const replicas = numberIn(partIn(scale, 'spec'), 'replicas') ?? 0
  return replicas < 0 ? [fieldInvalid('spec.replicas', replicas, notNegative)] : []
}
