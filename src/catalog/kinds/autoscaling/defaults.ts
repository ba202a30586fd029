/** @see pkg/apis/autoscaling/v1/{defaults,conversion}.go and v2/defaults.go of Kubernetes 1.36 */
import type { JsonValue } from '../../../kube/types.ts'
import { type DefaultRule, type DefaultRules, fillAbsent, findStruct, structIn } from '../default-rules.ts'
import { carryingAnnotations, defaultUtilization } from './autoscaler-conversion.ts'

const periodSeconds = 15

const cpuMetric: JsonValue = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: defaultUtilization } },
}
const scaleUp: JsonValue = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds },
    { type: 'Percent', value: 100, periodSeconds },
  ],
}
const scaleDown: JsonValue = { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds }] }

const metrics: DefaultRule = (spec) => {
  if (!Array.isArray(spec.metrics) || spec.metrics.length === 0) spec.metrics = [structuredClone(cpuMetric)]
}

/**
 * Upstream does this when it converts from v1, and so does our conversion; here so that the client sees it in its
 * answer, and owns it. The other metrics of such an autoscaler are in an annotation.
 */
const processorTarget: DefaultRule = (autoscaler) => {
  const spec = structIn(autoscaler, 'spec')
  if (spec.targetCPUUtilizationPercentage !== undefined) return
  const metadata = findStruct(autoscaler, 'metadata')
  const carried = (metadata && findStruct(metadata, 'annotations'))?.[carryingAnnotations.metrics]
  if (carried === undefined) spec.targetCPUUtilizationPercentage = defaultUtilization
}

/** Either both directions have rules or neither does. */
const behavior: DefaultRule = (value) => {
  value.scaleUp = { ...structuredClone(scaleUp), ...findStruct(value, 'scaleUp') }
  value.scaleDown = { ...structuredClone(scaleDown), ...findStruct(value, 'scaleDown') }
}

export const autoscalingDefaults: DefaultRules = {
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler': [processorTarget],
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec': [fillAbsent({ minReplicas: 1 })],
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec': [fillAbsent({ minReplicas: 1 }), metrics],
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior': [behavior],
}
