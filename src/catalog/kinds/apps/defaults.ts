/** @see pkg/apis/apps/v1/defaults.go of Kubernetes 1.36 */
import { type DefaultRule, type DefaultRules, fillAbsent, fillUnset, structIn } from '../default-rules.ts'

const rolling = (value: Record<string, number | string>): DefaultRule => {
  const fill = fillAbsent(value)
  return (strategy) => {
    if (strategy.type === 'RollingUpdate') fill(structIn(strategy, 'rollingUpdate'))
  }
}

/** A partition is only filled in when there is a rolling update to put it in, or no strategy at all. */
const statefulStrategy: DefaultRule = (strategy) => {
  if (strategy.type === undefined || strategy.type === '') {
    strategy.type = 'RollingUpdate'
    structIn(strategy, 'rollingUpdate')
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate !== undefined) {
    fillAbsent({ partition: 0 })(structIn(strategy, 'rollingUpdate'))
  }
}

export const appsDefaults: DefaultRules = {
  'io.k8s.api.apps.v1.DeploymentSpec': [
    fillAbsent({ replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
  ],
  'io.k8s.api.apps.v1.DeploymentStrategy': [
    fillUnset({ type: 'RollingUpdate' }),
    rolling({ maxUnavailable: '25%', maxSurge: '25%' }),
  ],
  'io.k8s.api.apps.v1.DaemonSetSpec': [fillAbsent({ revisionHistoryLimit: 10 })],
  'io.k8s.api.apps.v1.DaemonSetUpdateStrategy': [
    fillUnset({ type: 'RollingUpdate' }),
    rolling({ maxUnavailable: 1, maxSurge: 0 }),
  ],
  'io.k8s.api.apps.v1.StatefulSetSpec': [
    fillUnset({ podManagementPolicy: 'OrderedReady' }),
    fillAbsent({ replicas: 1, revisionHistoryLimit: 10, persistentVolumeClaimRetentionPolicy: {} }),
  ],
  'io.k8s.api.apps.v1.StatefulSetUpdateStrategy': [statefulStrategy],
  'io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy': [
    fillUnset({ whenDeleted: 'Retain', whenScaled: 'Retain' }),
  ],
  'io.k8s.api.apps.v1.ReplicaSetSpec': [fillAbsent({ replicas: 1 })],
}
