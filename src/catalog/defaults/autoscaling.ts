/** @see pkg/apis/autoscaling/v1/defaults.go and v2/defaults.go of Kubernetes 1.36 */
import type { JsonValue } from '../../kube/types.ts'
import { type DefaultRule, type DefaultRules, fillAbsent, findStruct } from './default-rules.ts'

const cpuUtilization = 80
const periodSeconds = 15

const cpuMetric: JsonValue = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpuUtilization } },
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

/** Either both directions have rules or neither does. */
const behavior: DefaultRule = (value) => {
  value.scaleUp = { ...structuredClone(scaleUp), ...findStruct(value, 'scaleUp') }
  value.scaleDown = { ...structuredClone(scaleDown), ...findStruct(value, 'scaleDown') }
}

export const autoscalingDefaults: DefaultRules = {
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec': [fillAbsent({ minReplicas: 1 })],
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec': [fillAbsent({ minReplicas: 1 }), metrics],
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerBehavior': [behavior],
}
