/** Names of attributes of devices: `domain/identifier`. @see pkg/apis/resource/validation of Kubernetes 1.36 */
import type { Report } from '../report.ts'
import { checkDriverName } from '../storage.k8s.io/csi-driver.ts'

const maxIdentifierBytes = 32
const identifierPattern = /^[A-Za-z_][A-Za-z0-9_]*$/
const notIdentifier =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric " +
  "characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is " +
  "'[A-Za-z_][A-Za-z0-9_]*')"

export function checkFullyQualifiedName(report: Report, field: string, name: string): void {
  const parts = name.split('/')
  const [first = '', second] = parts
  if (second === undefined) {
    checkIdentifier(report, field, first)
    report.invalid(field, name, 'a fully qualified name must be a domain and a name separated by a slash')
    return
  }
  // As upstream: of a name with more slashes nothing is said.
  if (parts.length > 2) return
  if (first === '') report.invalid(field, '', 'the domain must not be empty')
  else checkDriverName(report, field, first)
  if (second === '') report.invalid(field, '', 'the name must not be empty')
  else checkIdentifier(report, field, second)
}

function checkIdentifier(report: Report, field: string, id: string): void {
  if (Buffer.byteLength(id) > maxIdentifierBytes) report.tooLong(field, maxIdentifierBytes)
  if (!identifierPattern.test(id)) report.invalid(field, id, notIdentifier)
}
