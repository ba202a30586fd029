/**
 * A claim with admin access to a device sees what others do with it: only namespaces that are marked may ask for it.
 * @see AuthorizedForAdmin in pkg/registry/resource/utils.go of Kubernetes 1.36
 */
import type { Strategy } from '../../catalog/strategy.ts'
import { type FieldError, fieldForbidden } from '../../kube/field-error.ts'
import type { KubeObject } from '../../kube/types.ts'

const adminLabel = 'resource.kubernetes.io/admin-access'
const why = `admin access to devices requires the \`${adminLabel}: true\` label on the containing namespace`

interface Request {
  readonly exactly?: { readonly adminAccess?: boolean }
}
interface ClaimSpec {
  readonly devices?: { readonly requests?: readonly Request[] }
}

type Find = (namespace: string) => KubeObject | undefined

const judge = (next: KubeObject, { devices }: ClaimSpec, find: Find): FieldError[] => {
  const i = (devices?.requests ?? []).findIndex((r) => r.exactly?.adminAccess === true)
  if (i < 0) return []
  const labels = find(next.metadata.namespace ?? '')?.metadata.labels
  return labels?.[adminLabel] === 'true' ? [] : [fieldForbidden(`spec.devices.requests[${i}].adminAccess`, why)]
}

/** Of claims and of their templates. What they ask for never changes, so it is asked once. */
export const adminAccess = (find: Find): Readonly<Record<string, Strategy>> => ({
  'resourceclaims.resource.k8s.io': {
    validate: (next, old) => (old ? [] : judge(next, (next.spec ?? {}) as ClaimSpec, find)),
  },
  'resourceclaimtemplates.resource.k8s.io': {
    validate: (next, old) =>
      old ? [] : judge(next, (next.spec as { spec?: ClaimSpec } | undefined)?.spec ?? {}, find),
  },
})
