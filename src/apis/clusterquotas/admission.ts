/**
 * What admission does for quotas over several namespaces:
 *
 * - on a namespace: a change that takes it into a quota's selection, or out of it, needs the verb `use` of that quota.
 * - on a quota: an edit of its selector needs it too, and must not take more into it than its limits allow.
 *
 * What a namespace brings is charged by `accountant.ts`, at the commit.
 */
import type { AdmissionPlugin, Attributes } from '../../admission/admission.ts'
import { objectOf } from '../../admission/object-of.ts'
import type { Authorizer } from '../../authz/authz.ts'
import { jsonEqual } from '../../kube/json-value.ts'
import { forbidden } from '../../kube/status-error.ts'
import type { KubeObject } from '../../kube/types.ts'
import { checkJoining, type JoiningDeps } from './joining.ts'
import type { QuotaIndex } from './quota-index.ts'
import { parseQuota } from './selection.ts'
import { type ClusterResourceQuota, clusterQuotaResource } from './types.ts'

export interface ClusterQuotaAdmissionDeps extends JoiningDeps {
  readonly quotas: QuotaIndex
  readonly authorizer: Authorizer
  isInUse(): boolean
  onUse(listener: () => void): void
}

export function clusterQuotaAdmission(deps: ClusterQuotaAdmissionDeps): AdmissionPlugin {
  return {
    name: 'ClusterResourceQuotas',
    handles(operation, { group, resource }, subresource) {
      if (operation !== 'UPDATE') return false
      if (group === '' && resource === 'namespaces') return deps.isInUse() && ['decide']
      const isQuota = group === clusterQuotaResource.group && resource === clusterQuotaResource.resource
      return isQuota && subresource === '' && ['validate']
    },
    onHandlesChange: (listener) => deps.onUse(listener),
    /** Here and not in `validate`: the commit is guarded by the specs that this looked at. */
    decide(a) {
      checkMove(a, deps)
      return {}
    },
    validate: (a) => checkSelector(a, deps),
  }
}

/** @throws StatusError Forbidden */
function checkMove(a: Attributes, deps: ClusterQuotaAdmissionDeps): void {
  const { object, oldObject } = a
  if (object === undefined || oldObject === undefined) return
  const { labels, annotations } = object.metadata
  const { labels: oldLabels, annotations: oldAnnotations } = oldObject.metadata
  if (jsonEqual(labels ?? {}, oldLabels ?? {}) && jsonEqual(annotations ?? {}, oldAnnotations ?? {})) return
  for (const quota of deps.quotas.all()) {
    const [before, after] = [quota.selects(oldObject), quota.selects(object)]
    if (before !== after) checkUse(a, deps, quota.name, after ? 'selects' : 'would no longer select')
  }
}

/** @throws StatusError Forbidden */
function checkSelector(a: Attributes, deps: ClusterQuotaAdmissionDeps): void | Promise<void> {
  const [next, old] = [objectOf(clusterQuotaResource, a), a.oldObject as ClusterResourceQuota]
  if (jsonEqual(selectorOf(next), selectorOf(old))) return undefined
  if (!mayUse(deps.authorizer, a, a.name)) {
    throw forbidden(
      a.type,
      a.name,
      `user ${JSON.stringify(a.user.username)} cannot change which namespaces are counted: spec.selector needs the ` +
        `verb "use" on clusterresourcequotas ${JSON.stringify(a.name)}`,
    )
  }
  return checkJoining(deps, a, { next: parseQuota(next), old: parseQuota(old) })
}

const selectorOf = ({ spec }: ClusterResourceQuota): object => ({ ...spec?.selector })

function mayUse(authorizer: Authorizer, { user }: Pick<Attributes, 'user'>, name: string): boolean {
  const { group, version, resource } = clusterQuotaResource
  return authorizer.authorize({ user, verb: 'use', group, version, resource, subresource: '', namespace: '', name })
    .allowed
}

function checkUse(
  a: Attributes<KubeObject>,
  { authorizer }: ClusterQuotaAdmissionDeps,
  name: string,
  relation: 'selects' | 'would no longer select',
): void {
  if (mayUse(authorizer, a, name)) return
  throw forbidden(
    a.type,
    a.name,
    `user ${JSON.stringify(a.user.username)} cannot use clusterresourcequotas ${JSON.stringify(name)}, which ` +
      `${relation} this namespace`,
  )
}
