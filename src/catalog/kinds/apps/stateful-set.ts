/**
 * Stateful sets.
 * @see ValidateStatefulSetSpec in pkg/apis/apps/validation, pkg/apis/apps/v1/defaults.go of Kubernetes 1.36
 */
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, containerColumns, nameColumn, nameOf } from '../cell-text.ts'
import { checkClaimSpec } from '../core/claim-spec.ts'
import { checkPodTemplate } from '../core/pod-template.ts'
import { type DefaultRule, type DefaultRules, fillAbsent, fillUnset, structIn } from '../default-rules.ts'
import { numberAt } from '../field-access.ts'
import { type BuiltInKind, validatePartsWith } from '../kind.ts'
import { findPart, type Part, partIn, partsIn, type Report, sameValue, textIn } from '../report.ts'
import { checkAlwaysRestarts, checkSelector, shownStrategy, templateContainers } from './workload.ts'
import { checkStatefulSetStatus } from './workload-status.ts'

const updatable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
]

/** The template as its controller uses it: it gives each pod a name, a domain and the claims made for it. */
function podsOf(set: Part): Part {
  const template = partIn(set, 'template')
  const { hostname: _hostname, subdomain: _subdomain, ...spec } = partIn(template, 'spec')
  const claims = partsIn(set, 'volumeClaimTemplates').map((claim) => textIn(partIn(claim, 'metadata'), 'name'))
  if (claims.length === 0) return { ...template, spec }
  const volumes = [...new Set(claims)].map((name): Part => ({ name, persistentVolumeClaim: { claimName: name } }))
  const own = partsIn(spec, 'volumes').filter((volume) => !claims.includes(textIn(volume, 'name')))
  return { ...template, spec: { ...spec, volumes: [...volumes, ...own] } }
}

function checkStatefulSet(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  const management = textIn(spec, 'podManagementPolicy')
  if (management !== 'OrderedReady' && management !== 'Parallel') {
    report.invalid('spec.podManagementPolicy', management, "must be 'OrderedReady' or 'Parallel'")
  }
  const strategy = partIn(spec, 'updateStrategy')
  const type = textIn(strategy, 'type')
  const rolling = findPart(strategy, 'rollingUpdate')
  if (type === 'OnDelete') {
    if (rolling) {
      report.invalid('spec.updateStrategy.rollingUpdate', rolling, "only allowed for updateStrategy 'RollingUpdate'")
    }
  } else if (type === 'RollingUpdate') {
    if (rolling) report.notNegative(rolling, 'spec.updateStrategy.rollingUpdate', 'partition')
  } else report.invalid('spec.updateStrategy', shownStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'")
  const retention = partIn(spec, 'persistentVolumeClaimRetentionPolicy')
  for (const field of ['whenDeleted', 'whenScaled']) {
    report.oneOfIfSet(`spec.persistentVolumeClaimRetentionPolicy.${field}`, retention[field], ['Retain', 'Delete'])
  }
  if (!old) {
    partsIn(spec, 'volumeClaimTemplates').forEach((claim, i) => {
      checkClaimSpec(report, `spec.volumeClaimTemplates[${i}].spec`, partIn(claim, 'spec'))
    })
  }
  report.notNegative(spec, 'spec', 'replicas', 'minReadySeconds')
  const ordinals = findPart(spec, 'ordinals')
  if (ordinals) report.notNegative(ordinals, 'spec.ordinals', 'start')
  const service = textIn(spec, 'serviceName')
  if (!old && service !== '') report.label('spec.serviceName', service)
  checkSelector(report, spec, 'statefulset')
  checkPodTemplate(report, 'spec.template', podsOf(spec), old && podsOf(partIn(old, 'spec')))
  checkAlwaysRestarts(report, spec, 'StatefulSet')
  if (!old) return
  const before = partIn(old, 'spec')
  const fixed = new Set([...Object.keys(spec), ...Object.keys(before)].filter((f) => !updatable.includes(f)))
  if ([...fixed].some((f) => !sameValue(spec[f], before[f]))) {
    const names = updatable.map((f) => `'${f}'`)
    report.forbidden(
      'spec',
      `updates to statefulset spec for fields other than ${names.slice(0, -1).join(', ')} and ` +
        `${names.at(-1)} are forbidden`,
    )
  }
}

/** A partition is only filled in when there is a rolling update to put it in, or no strategy at all. */
const updateStrategy: DefaultRule = (strategy) => {
  if (strategy.type === undefined || strategy.type === '') {
    strategy.type = 'RollingUpdate'
    structIn(strategy, 'rollingUpdate')
  }
  if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate !== undefined) {
    fillAbsent({ partition: 0 })(structIn(strategy, 'rollingUpdate'))
  }
}

const defaults: DefaultRules = {
  'io.k8s.api.apps.v1.StatefulSetSpec': [
    fillUnset({ podManagementPolicy: 'OrderedReady' }),
    fillAbsent({ replicas: 1, revisionHistoryLimit: 10, persistentVolumeClaimRetentionPolicy: {} }),
  ],
  'io.k8s.api.apps.v1.StatefulSetUpdateStrategy': [updateStrategy],
  'io.k8s.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy': [
    fillUnset({ whenDeleted: 'Retain', whenScaled: 'Retain' }),
  ],
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Ready', 'string', 'How many pods are ready, of how many wanted.'),
    ageColumn,
    ...containerColumns,
  ],
  cells: (o, now) => [
    nameOf(o),
    `${numberAt(o, 'status', 'readyReplicas')}/${numberAt(o, 'spec', 'replicas')}`,
    ageOf(o, now),
    ...templateContainers(o),
  ],
}

export const statefulSet: BuiltInKind = {
  shortNames: ['sts'],
  categories: ['all'],
  strategy: { validate: validatePartsWith(checkStatefulSet, checkStatefulSetStatus), tracksGeneration: true },
  defaults,
  columns,
}
