/** What admission webhooks recordVerdict Prometheus, in upstream's names. */
import { type Diagnostics, type Topic, topic } from '../../base/diagnostics.ts'
import type { Instruments } from '../../feature/feature.ts'
import type { ObservedCall } from './call-hook.ts'

export const webhookCalled: Topic<ObservedCall> = topic<ObservedCall>('webhooks.called')

/** A webhook chooses its code: beyond this they are one. */
const largestCode = 600

export function webhookMetrics(instruments: Instruments, diagnostics: Diagnostics): void {
  const duration = instruments.histogram({
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    help: 'How long admission webhooks took to answer.',
    labels: ['name', 'type', 'operation', 'rejected'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
  })
  const requests = instruments.counter({
    name: 'apiserver_admission_webhook_request_total',
    help: 'Questions to admission webhooks, by the code of the answer; 0 = none came.',
    labels: ['name', 'type', 'operation', 'code', 'rejected'],
  })
  const rejections = instruments.counter({
    name: 'apiserver_admission_webhook_rejection_count',
    help: 'Requests refused by admission webhooks, or because one could not be asked.',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  })
  const failedOpen = instruments.counter({
    name: 'apiserver_admission_webhook_fail_open_count',
    help: 'Admission webhooks that could not be asked and were passed over.',
    labels: ['name', 'type'],
  })
  diagnostics.subscribe(webhookCalled, ({ webhook: name, phase, operation, durationMs, code, outcome }) => {
    const type = phase === 'mutating' ? 'admit' : 'validating'
    const isRejected = outcome === 'refused' || outcome === 'failedClosed'
    const labels = { name, type, operation, rejected: String(isRejected) }
    const shownCode = String(Math.min(code, largestCode))
    duration.observe(labels, durationMs / 1000)
    requests.inc({ ...labels, code: shownCode })
    if (outcome === 'failedOpen') failedOpen.inc({ name, type })
    if (!isRejected) return
    const errorType = outcome === 'refused' ? 'no_error' : 'calling_webhook_error'
    rejections.inc({ name, type, operation, error_type: errorType, rejection_code: shownCode })
  })
}
