/**
 * CSI drivers.
 * @see ValidateCSIDriver in pkg/apis/storage/validation, pkg/apis/storage/v1/defaults.go of Kubernetes 1.36
 */
import { isDns1123Subdomain } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { type DefaultRule, fillAbsent } from '../default-rules.ts'
import { booleanAt, fieldAt, listAt, textAt, textsAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { numberIn, type Part, partIn, partsIn, type Report, textIn, textsIn } from '../report.ts'

const maxDriverNameBytes = 63

export function checkDriverName(report: Report, field: string, name: string): void {
  if (name === '') report.required(field)
  if (name.length > maxDriverNameBytes) report.tooLong(field, maxDriverNameBytes)
  report.each(field, name, isDns1123Subdomain(name.toLowerCase()))
}

function checkCsiDriver(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const spec = partIn(next, 'spec')
  report.oneOfIfSet('spec.fsGroupPolicy', spec.fsGroupPolicy, ['File', 'None', 'ReadWriteOnceWithFSType'])
  checkTokenRequests(report, partsIn(spec, 'tokenRequests'))
  for (const mode of textsIn(spec, 'volumeLifecycleModes')) {
    report.oneOf('spec.volumeLifecycleModes', mode, ['Persistent', 'Ephemeral'])
  }
  const period = numberIn(spec, 'nodeAllocatableUpdatePeriodSeconds')
  if (period !== undefined && period < 10) {
    report.invalid(
      'spec.nodeAllocatableUpdatePeriodSeconds',
      spec.nodeAllocatableUpdatePeriodSeconds,
      'must be greater than or equal to 10 seconds',
    )
  }
  const inSecrets = spec.serviceAccountTokenInSecrets
  if (inSecrets !== undefined && partsIn(spec, 'tokenRequests').length === 0) {
    const why = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
    report.invalid('spec.serviceAccountTokenInSecrets', inSecrets, why)
  }
  if (!old) return
  const before = partIn(old, 'spec')
  // Upstream spells the field so.
  report.immutable('spec.attachedRequired', spec.attachRequired, before.attachRequired)
  report.immutable('spec.volumeLifecycleModes', spec.volumeLifecycleModes, before.volumeLifecycleModes)
}

function checkTokenRequests(report: Report, requests: readonly Part[]): void {
  const audiences = new Set<string>()
  requests.forEach((request, i) => {
    const at = `spec.tokenRequests[${i}]`
    const audience = textIn(request, 'audience')
    if (audiences.has(audience)) return report.duplicate(`${at}.audience`, audience)
    audiences.add(audience)
    const seconds = numberIn(request, 'expirationSeconds')
    if (seconds === undefined) return
    const field = `${at}.expirationSeconds`
    if (seconds < 600) report.invalid(field, seconds, 'may not specify a duration less than 10 minutes')
    if (seconds > 2 ** 32) report.invalid(field, seconds, 'may not specify a duration larger than 2^32 seconds')
  })
}

const lifecycleModes: DefaultRule = (spec) => {
  if (!Array.isArray(spec.volumeLifecycleModes) || spec.volumeLifecycleModes.length === 0) {
    spec.volumeLifecycleModes = ['Persistent']
  }
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('AttachRequired', 'boolean', 'Whether volumes must be attached before they are mounted.'),
    column('PodInfoOnMount', 'boolean', 'Whether it is told about the pod.'),
    column('StorageCapacity', 'boolean', 'Whether its capacity is looked at before pods are placed.'),
    column('TokenRequests', 'string', 'The audiences of the tokens it gets.'),
    column('RequiresRepublish', 'boolean', 'Whether mounts are refreshed from time to time.'),
    column('Modes', 'string', 'The kinds of volumes it offers.'),
    ageColumn,
  ],
  cells: (o, now) => [
    nameOf(o),
    fieldAt(o, 'spec', 'attachRequired') !== false,
    booleanAt(o, 'spec', 'podInfoOnMount'),
    booleanAt(o, 'spec', 'storageCapacity'),
    fieldAt(o, 'spec', 'tokenRequests') === undefined
      ? '<unset>'
      : listAt(o, 'spec', 'tokenRequests')
          .map((r) => textAt(r, 'audience'))
          .join(','),
    booleanAt(o, 'spec', 'requiresRepublish'),
    textsAt(o, 'spec', 'volumeLifecycleModes').join(',') || '<none>',
    ageOf(o, now),
  ],
}

const spec = fillAbsent({
  attachRequired: true,
  podInfoOnMount: false,
  storageCapacity: false,
  fsGroupPolicy: 'ReadWriteOnceWithFSType',
  requiresRepublish: false,
  seLinuxMount: false,
})

export const csiDriver: BuiltInKind = {
  strategy: {
    validate: validateWholeWith(checkCsiDriver),
    unconditionalUpdate: false,
    returnsDeleted: true,
    tracksGeneration: true,
  },
  defaults: { 'io.k8s.api.storage.v1.CSIDriverSpec': [spec, lifecycleModes] },
  columns,
}
