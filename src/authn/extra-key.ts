/**
 * Keys of a user's extra: each belongs to a domain.
 * @see k8s.io/apimachinery/pkg/util/validation/validation.go v0.36 (IsDomainPrefixedPath)
 */
import { isDns1123Subdomain } from '../kube/names.ts'

export function isDomainPrefixedPath(key: string): boolean {
  const slash = key.indexOf('/')
  if (slash <= 0 || isDns1123Subdomain(key.slice(0, slash)).length > 0) return false
  return /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(key.slice(slash + 1))
}
