/**
 * What differs from other kinds: limits are checked as those of a ResourceQuota, and the status is the server's own.
 */
import { append } from '../../base/append.ts'
import { resumed } from '../../base/resumable.ts'
import type { Strategy } from '../../catalog/strategy.ts'
import { type FieldError, fieldInvalid, fieldRequired } from '../../kube/field-error.ts'
import { validateLabelSelector } from '../../kube/label-selector.ts'
import { validateAnnotations } from '../../kube/metadata.ts'
import type { ClusterResourceQuota } from './types.ts'

const mustRestrict = 'must restrict the selected namespaces'

/** `limits`: the strategy of ResourceQuotas. */
export function clusterQuotaStrategy(limits: Pick<Strategy, 'validate'>): Strategy {
  return {
    prepare(next, old) {
      const { status: _, ...rest } = next
      const status = old?.['status']
      return status === undefined ? rest : { ...rest, status }
    },
    *validate(next: ClusterResourceQuota, _old, context) {
      const { selector = {}, quota = {}, perCreator, perOwner } = next.spec ?? {}
      const errors: FieldError[] = []
      const { labels, annotations } = selector
      if (!labels && Object.keys(annotations ?? {}).length === 0) {
        errors.push(fieldRequired('spec.selector', mustRestrict))
      }
      if (labels) {
        append(errors, validateLabelSelector(labels, 'spec.selector.labels'))
        if (Object.keys(labels.matchLabels ?? {}).length + (labels.matchExpressions ?? []).length === 0) {
          errors.push(fieldInvalid('spec.selector.labels', labels, mustRestrict))
        }
      }
      append(errors, validateAnnotations(annotations ?? {}, 'spec.selector.annotations'))
      if (perCreator && perOwner) {
        errors.push(fieldInvalid('spec.perOwner', true, 'may not be set together with `perCreator`'))
      }
      const judged = limits.validate?.({ metadata: {}, spec: quota }, undefined, { ...context, subresource: '' })
      for (const e of yield* resumed(judged ?? [])) errors.push({ ...e, field: e.field.replace(/^spec/, 'spec.quota') })
      return errors
    },
  }
}
