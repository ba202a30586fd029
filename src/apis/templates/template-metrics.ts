/** What Prometheus is told of each template: the figures of its status, and whether its rollout stands still. */
import type { Instruments } from '../../feature/feature.ts'
import { nameOf } from '../../kube/metadata.ts'
import type { Matcher } from './match.ts'
import { isHaltReason, progressingCondition } from './rollout.ts'
import { rolledOut } from './status.ts'

const figures = {
  matched: 'Namespaces that the template selects.',
  synced: 'Of them, those that hold what it says.',
  failed: 'Namespaces where something of it could not be made or taken away.',
  skipped: 'Of those it selects, the ones without what names a creator or owner: none is recorded there.',
  waiting: 'Namespaces that wait for their turn to be changed.',
} as const

/** Every process sees all templates, and of several the figures of one are told. */
const aggregator = 'max'

export type ShownTemplates = () => Iterable<Matcher>

export function templateMetrics(instruments: Instruments, matchers: ShownTemplates): void {
  for (const [figure, help] of Object.entries(figures) as [keyof typeof figures, string][]) {
    instruments.gauge({
      name: `borough_template_${figure}`,
      help,
      labels: ['template'],
      aggregator,
      collect(gauge) {
        gauge.reset()
        for (const { template } of matchers()) {
          gauge.set({ template: nameOf(template.metadata) }, template.status?.[figure] ?? 0)
        }
      },
    })
  }
  instruments.gauge({
    name: 'borough_template_rollout_progress_ratio',
    help: 'The share of the namespaces that the template selects which its newest generation has reached.',
    labels: ['template'],
    aggregator,
    collect(gauge) {
      gauge.reset()
      for (const { template } of matchers()) gauge.set({ template: nameOf(template.metadata) }, rolledOut(template))
    },
  })
  instruments.gauge({
    name: 'borough_template_rollout_halted',
    help: 'Templates whose rollout stands still, by the reason.',
    labels: ['template', 'reason'],
    aggregator,
    collect(gauge) {
      gauge.reset()
      for (const { template } of matchers()) {
        const progress = template.status?.conditions?.find((c) => c.type === progressingCondition)
        if (progress === undefined || !isHaltReason(progress.reason)) continue
        gauge.set({ template: nameOf(template.metadata), reason: progress.reason }, 1)
      }
    },
  })
}
