/** What admission policies tell Prometheus, in upstream's names. */
import { type Diagnostics, type Topic, topic } from '../../base/diagnostics.ts'
import type { Instruments } from '../../feature/feature.ts'
import type { ObservedMutation } from './mutating.ts'
import type { ObservedCheck } from './validating.ts'

export const policyMutated: Topic<ObservedMutation> = topic<ObservedMutation>('admissionPolicies.mutated')
export const policyChecked: Topic<ObservedCheck> = topic<ObservedCheck>('admissionPolicies.checked')

const buckets = [0.0000005, 0.001, 0.01, 0.1, 1]

export function policyMetrics(instruments: Instruments, diagnostics: Diagnostics): void {
  const mutations = {
    total: instruments.counter({
      name: 'apiserver_mutating_admission_policy_check_total',
      help: 'Counts mutations of mutating admission policies that were evaluated, by what came of them.',
      labels: ['policy', 'policy_binding', 'error_type'],
    }),
    duration: instruments.histogram({
      name: 'apiserver_mutating_admission_policy_check_duration_seconds',
      help: 'How long mutations of mutating admission policies took.',
      labels: ['policy', 'policy_binding', 'error_type'],
      buckets,
    }),
  }
  const checks = {
    total: instruments.counter({
      name: 'apiserver_validating_admission_policy_check_total',
      help: 'Counts validations of validating admission policies that were evaluated, by what came of them.',
      labels: ['policy', 'policy_binding', 'error_type', 'enforcement_action'],
    }),
    duration: instruments.histogram({
      name: 'apiserver_validating_admission_policy_check_duration_seconds',
      help: 'How long validations of validating admission policies took.',
      labels: ['policy', 'policy_binding', 'error_type', 'enforcement_action'],
      buckets,
    }),
  }
  diagnostics.subscribe(policyMutated, ({ policy, binding, outcome, durationMs }) => {
    const labels = { policy, policy_binding: binding, error_type: outcome }
    mutations.total.inc(labels)
    mutations.duration.observe(labels, durationMs / 1000)
  })
  diagnostics.subscribe(policyChecked, ({ policy, binding, action, outcome, durationMs }) => {
    const labels = { policy, policy_binding: binding, error_type: outcome, enforcement_action: action }
    checks.total.inc(labels)
    checks.duration.observe(labels, durationMs / 1000)
  })
}
