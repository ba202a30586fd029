/**
 * Paths inside volumes and images: none leads out of them.
 * @see validateLocalDescendingPath, validatePathNoBacksteps, ValidateLocalNonReservedPath in
 *   pkg/apis/core/validation/validation.go of Kubernetes 1.36
 */
import type { Report } from '../report.ts'

export const leadsUp = (path: string): boolean => path.split('/').includes('..')

export function checkNoBacksteps(report: Report, field: string, path: string): void {
  if (leadsUp(path)) report.invalid(field, path, "must not contain '..'")
}

export function checkRelativePath(report: Report, field: string, path: string): void {
  if (path.startsWith('/')) report.invalid(field, path, 'must be a relative path')
  checkNoBacksteps(report, field, path)
}

/** Kubelets keep names that begin with two dots for themselves. */
export function checkUnreservedPath(report: Report, field: string, path: string): void {
  checkRelativePath(report, field, path)
  if (path.startsWith('..') && !path.startsWith('../')) report.invalid(field, path, "must not start with '..'")
}
