/** Names of kinds and resources. The core group is the empty string. */
import { isDns1035Label, isDns1123Subdomain } from './names.ts'

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface GroupResource {
  readonly group: string
  readonly resource: string
}

export interface GroupVersionResource extends GroupResource {
  readonly version: string
}

/** `v1`, `apps/v1` */
export function apiVersionOf(gv: { readonly group: string; readonly version: string }): string {
  return gv.group === '' ? gv.version : `${gv.group}/${gv.version}`
}

/** Undefined for anything that is not `version` or `group/version`. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const parts = apiVersion.split('/')
  if (parts.length === 1 && parts[0]) return { group: '', version: parts[0] }
  if (parts.length === 2 && parts[0] && parts[1]) return { group: parts[0], version: parts[1] }
  return undefined
}

/** Whether a server could serve it at all. Nothing else may become part of a path. */
export function isServable({ group, version }: { readonly group: string; readonly version: string }): boolean {
  return isDns1035Label(version).length === 0 && (group === '' || isDns1123Subdomain(group).length === 0)
}

/** `pods`, `deployments.apps`: how messages name a resource. */
export function qualifiedResource(r: GroupResource): string {
  return r.group === '' ? r.resource : `${r.resource}.${r.group}`
}

/** `Pod`, `Deployment.apps` */
export function qualifiedKind(k: { readonly group: string; readonly kind: string }): string {
  return k.group === '' ? k.kind : `${k.kind}.${k.group}`
}

/** What Go calls that which it first reads an object into, to see what it is. */
export const goTypeMeta: string =
  String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; ` +
  String.raw`Kind string "json:\"kind,omitempty\"" }`
