/** IP addresses of services. @see ValidateIPAddress in pkg/apis/networking/validation of Kubernetes 1.36 */
import { qualifiedResource } from '../../../kube/gvk.ts'
import { isCanonicalIp } from '../../../kube/ip-address.ts'
import { isDns1123Subdomain, isPathSegment } from '../../../kube/names.ts'
import type { TableColumns } from '../../../kube/table.ts'
import type { KubeObject } from '../../../kube/types.ts'
import { ageColumn, ageOf, column, nameColumn, nameOf } from '../cell-text.ts'
import { objectAt, textAt } from '../field-access.ts'
import { type BuiltInKind, validateWholeWith } from '../kind.ts'
import { fieldIsImmutable, findPart, type Part, partIn, type Report, sameValue, textIn } from '../report.ts'

function checkIpAddress(report: Report, next: KubeObject, old: KubeObject | undefined): void {
  const parent = findPart(partIn(next, 'spec'), 'parentRef')
  const at = 'spec.parentRef'
  if (parent === undefined) report.required(at)
  if (old) {
    // Once it is made, only that it stays is asked.
    if (!sameValue(parent, findPart(partIn(old, 'spec'), 'parentRef'))) {
      report.invalid(at, shownParent(parent), fieldIsImmutable)
    }
  } else if (parent !== undefined) {
    const group = textIn(parent, 'group')
    if (group !== '') report.each(`${at}.group`, group, isDns1123Subdomain(group))
    for (const field of ['resource', 'name', 'namespace']) {
      const value = textIn(parent, field)
      if (value !== '') report.each(`${at}.${field}`, value, isPathSegment(value))
      else if (field !== 'namespace') report.required(`${at}.${field}`)
    }
  }
}

/** As Go prints it. */
const shownParent = (parent: Part | undefined): object | null =>
  parent
    ? {
        Group: textIn(parent, 'group'),
        Resource: textIn(parent, 'resource'),
        Namespace: textIn(parent, 'namespace'),
        Name: textIn(parent, 'name'),
      }
    : null

function parentOf(address: KubeObject): string {
  const parent = objectAt(address, 'spec', 'parentRef')
  if (!parent) return '<none>'
  const resource = qualifiedResource({ group: textAt(parent, 'group'), resource: textAt(parent, 'resource') })
  return [resource.toLowerCase(), textAt(parent, 'namespace'), textAt(parent, 'name')].filter((p) => p !== '').join('/')
}

const columns: TableColumns = {
  definitions: [nameColumn, column('ParentRef', 'string', 'Whose address it is.'), ageColumn],
  cells: (o, now) => [nameOf(o), parentOf(o), ageOf(o, now)],
}

export const ipAddress: BuiltInKind = {
  shortNames: ['ip'],
  strategy: { validate: validateWholeWith(checkIpAddress), validateName: isCanonicalIp },
  columns,
}
