/** API services. @see pkg/apis/apiregistration/{validation,v1/defaults.go} of k8s.io/kube-aggregator v0.36 */
import { isDns1035Label, nameIsPathSegment } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { fillAbsent } from '../default-rules.ts'
import { conditionAt, objectAt, textAt } from '../field-access.ts'
import { allMetadata, type BuiltInKind, validateWholeWith } from '../kind.ts'
import { findPart, numberIn, partIn, type Report, textIn } from '../report.ts'

function checkApiService(report: Report, next: KubeObject): void {
  const spec = partIn(next, 'spec')
  const group = textIn(spec, 'group')
  const version = textIn(spec, 'version')
  const wanted = `${version}.${group}`
  if (next.metadata.name !== wanted)
    report.invalid('metadata.name', next.metadata.name, `must be \`spec.version+"."+spec.group\`: "${wanted}"`)
  if (group !== '') report.subdomain('spec.group', group)
  report.each('spec.version', version, isDns1035Label(version))
  const service = findPart(spec, 'service')
  for (const [field, max] of [
    ['groupPriorityMinimum', 20_000],
    ['versionPriority', 1000],
  ] as const) {
    const value = numberIn(spec, field) ?? 0
    if (value <= 0 || value > max) report.invalid(`spec.${field}`, value, `must be positive and less than ${max}`)
  }
  if (!service) {
    const sizeBytes = Buffer.from(textIn(spec, 'caBundle'), 'base64').length
    if (sizeBytes > 0)
      report.invalid('spec.caBundle', `${sizeBytes} bytes`, 'local APIServices may not have a caBundle')
    if (spec.insecureSkipTLSVerify === true)
      report.invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')
    return
  }
  for (const field of ['namespace', 'name']) if (textIn(service, field) === '') report.required(`spec.service.${field}`)
  if (spec.insecureSkipTLSVerify === true && textIn(spec, 'caBundle') !== '') {
    report.invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')
  }
}

function availability(service: KubeObject): string {
  const available = conditionAt(service, 'Available')
  if (available === undefined) return 'Unknown'
  const status = textAt(available, 'status')
  return status === 'True' ? status : `${status} (${textAt(available, 'reason')})`
}

const columns: TableColumns = {
  definitions: [
    nameColumn,
    column('Service', 'string', 'Who answers for the group and version.'),
    column('Available', 'string', 'Whether it answers.'),
    ageColumn,
  ],
  cells(o, now) {
    const service = objectAt(o, 'spec', 'service')
    const where = service ? `${textAt(service, 'namespace')}/${textAt(service, 'name')}` : 'Local'
    return [nameOf(o), where, availability(o), ageOf(o, now)]
  },
}

export const apiService: BuiltInKind = {
  categories: ['api-extensions'],
  strategy: {
    validate: validateWholeWith(checkApiService),
    // `v1.` names the core group.
    validateName: nameIsPathSegment,
    unconditionalUpdate: false,
    keptMetadata: { status: allMetadata },
  },
  defaults: {
    'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference': [fillAbsent({ port: 443 })],
  },
  columns,
}
