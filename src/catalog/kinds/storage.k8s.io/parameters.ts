/** What a provisioner is told. @see validateParameters in pkg/apis/storage/validation of Kubernetes 1.36 */
import type { Part, Report } from '../report.ts'

const maxParameters = 512
const maxBytes = 256 * 1024

export function checkProvisionerParameters(report: Report, parameters: Part): void {
  const entries = Object.entries(parameters)
  // Upstream says bytes of either.
  if (entries.length > maxParameters) return report.tooLong('parameters', maxParameters)
  let bytes = 0
  for (const [key, value] of entries) {
    if (key === '') report.invalid('parameters', key, 'field can not be empty.')
    bytes += Buffer.byteLength(key) + Buffer.byteLength(String(value))
  }
  if (bytes > maxBytes) report.tooLong('parameters', maxBytes)
}
