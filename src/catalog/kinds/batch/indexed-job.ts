/**
 * Jobs whose pods have indexes, and those that have none.
 * @see validateJobSpec in pkg/apis/batch/validation of Kubernetes 1.36
 */
import { numberIn, type Part, type Report } from '../report.ts'

const parallelismMax = 100_000
const failedMax = 100_000
/** Beyond so many completions the limits are lower. */
const manyCompletions = 100_000
const failedMaxOfMany = 10_000
const parallelismMaxOfMany = 10_000

export function checkIndexedJob(report: Report, at: string, spec: Part): void {
  const completions = numberIn(spec, 'completions')
  const parallelism = numberIn(spec, 'parallelism') ?? 0
  const failed = numberIn(spec, 'maxFailedIndexes')
  if (completions === undefined) report.required(`${at}.completions`, 'when completion mode is Indexed')
  if (parallelism > parallelismMax) {
    report.invalid(
      `${at}.parallelism`,
      parallelism,
      `must be less than or equal to ${parallelismMax} when completion mode is Indexed`,
    )
  }
  if (failed !== undefined && completions !== undefined && failed > completions) {
    report.invalid(`${at}.maxFailedIndexes`, failed, 'must be less than or equal to completions')
  }
  if (failed !== undefined && failed > failedMax) {
    report.invalid(`${at}.maxFailedIndexes`, failed, `must be less than or equal to ${failedMax}`)
  }
  if (completions === undefined || completions <= manyCompletions || spec.backoffLimitPerIndex === undefined) return
  const ofMany = `when completions are above ${manyCompletions} and used with backoff limit per index`
  if (failed === undefined) {
    report.required(`${at}.maxFailedIndexes`, `must be specified when completions is above ${manyCompletions}`)
  }
  if (parallelism > parallelismMaxOfMany) {
    report.invalid(`${at}.parallelism`, parallelism, `must be less than or equal to ${parallelismMaxOfMany} ${ofMany}`)
  }
  if (failed !== undefined && failed > failedMaxOfMany) {
    report.invalid(`${at}.maxFailedIndexes`, failed, `must be less than or equal to ${failedMaxOfMany} ${ofMany}`)
  }
}

export function checkJobWithoutIndexes(report: Report, at: string, spec: Part): void {
  for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
    const value = numberIn(spec, field)
    if (value !== undefined) report.invalid(`${at}.${field}`, value, 'requires indexed completion mode')
  }
}
