/**
 * What differs from other kinds: limits are checked as those of a ResourceQuota, and the status is the server's own. A
 * limit of what is not served is taken, since its definition may come later, with a warning.
 */
import { append } from '../../base/append.ts'
import { resumed } from '../../base/resumable.ts'
import type { Strategy } from '../../catalog/strategy.ts'
import { type FieldError, fieldForbidden, fieldInvalid, fieldRequired } from '../../kube/field-error.ts'
import { validateLabelSelector } from '../../kube/label-selector.ts'
import { validateAnnotations } from '../../kube/metadata.ts'
import type { ResourceTypes } from '../../kube/resource-type.ts'
import { type ClusterResourceQuota, namespacesName } from './types.ts'

export interface ClusterQuotaStrategyDeps {
  /** The strategy of ResourceQuotas. */
  readonly limits: Pick<Strategy, 'validate'>
  /** Who creates and owns namespaces is recorded by the server. Else clients say so, and share out their use by it. */
  readonly recordsCreators: boolean
  readonly types: Pick<ResourceTypes, 'all' | 'findPreferred'>
}

const mustRestrict = 'must restrict the selected namespaces'

const notRecorded =
  'this server does not record who creates and owns namespaces: it takes population or the feature gate ' +
  'NamespaceInitializers'

export function clusterQuotaStrategy({ limits, recordsCreators, types }: ClusterQuotaStrategyDeps): Strategy {
  return {
    prepare(next, old) {
      const { status: _, ...rest } = next
      const status = old?.['status']
      return status === undefined ? rest : { ...rest, status }
    },
    *validate(next: ClusterResourceQuota, old: ClusterResourceQuota | undefined, context) {
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
      for (const per of ['perCreator', 'perOwner'] as const) {
        // One that was stored before stays as it is: its other fields can be edited.
        const isNew = next.spec?.[per] === true && old?.spec?.[per] !== true
        if (isNew && !recordsCreators) errors.push(fieldForbidden(`spec.${per}`, notRecorded))
      }
      const asQuota = { metadata: {}, spec: quota }
      const limitErrors = limits.validate?.(asQuota, undefined, { ...context, subresource: '' }) ?? []
      for (const e of yield* resumed(limitErrors)) errors.push({ ...e, field: e.field.replace(/^spec/, 'spec.quota') })
      return errors
    },
    warnings: ({ spec }: ClusterResourceQuota) =>
      Object.keys(spec?.quota?.hard ?? {}).flatMap((name) => {
        const uncounted = findUncounted(types, name)
        return uncounted === undefined ? [] : [`spec.quota.hard[${name}]: ${uncounted}`]
      }),
  }
}

/** Why nothing counts towards a limit; undefined = something may. */
function findUncounted(types: ClusterQuotaStrategyDeps['types'], name: string): string | undefined {
  if (name === namespacesName || !name.startsWith('count/')) return undefined
  const [, resource = '', group = ''] = /^count\/([^.]*)(?:\.(.*))?$/s.exec(name) ?? []
  if (types.findPreferred(group, resource)?.namespaced === true) return undefined
  const meant = [...types.all()].find((type) => type.namespaced && type.resource === resource && type.group !== '')
  const hint = meant === undefined ? '' : `; \`count/${resource}.${meant.group}\` is`
  return `no namespaced resource of this name is served, so nothing is counted${hint}`
}
