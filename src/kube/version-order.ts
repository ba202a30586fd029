/**
 * Versions of a group from the newest to the oldest: GA before beta before alpha, higher before lower, other names
 * last.
 * @see k8s.io/apimachinery/pkg/version/helpers.go v0.36
 */
const versionShape = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/
const stageRank: Readonly<Record<string, number>> = { alpha: 0, beta: 1 }

/** For sorting: v10, v2, v1, v2beta1, v1beta2, v3alpha1, then anything else by name. */
export function compareVersions(a: string, b: string): number {
  const left = versionShape.exec(a)
  const right = versionShape.exec(b)
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0
  const stage = (m: RegExpExecArray): number => stageRank[m[2] ?? ''] ?? 2
  return (
    stage(right) - stage(left) || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0)
  )
}
