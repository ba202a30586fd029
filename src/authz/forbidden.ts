/**
 * How a refusal reads. The text is upstream's, word for word: clients, tests and people search for it.
 * @see k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go v0.36
 */
import { quote } from '../kube/go-quote.ts'
import { qualifiedResource } from '../kube/gvk.ts'
import { StatusError } from '../kube/status-error.ts'
import type { AuthzAttributes } from './authz.ts'

const htmlEscapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A browser must not take a name in a refusal for markup. */
const sanitize = (text: string): string => text.replace(/[&<>]/g, (c) => htmlEscapes[c] as string)

/** `User "u" cannot list resource "pods" in API group "" in the namespace "ns"[: reason]` */
function forbiddenMessage(attributes: AuthzAttributes, reason: string): string {
  const text = sanitize(cannot(attributes))
  return reason === '' ? text : `${text}: ${reason}`
}

function cannot(a: AuthzAttributes): string {
  const who = `User ${quote(a.user.username)} cannot ${a.verb}`
  if (a.path !== undefined) return `${who} path ${quote(a.path)}`
  const resource = a.subresource ? `${a.resource}/${a.subresource}` : a.resource
  const what = `${who} resource ${quote(resource)} in API group ${quote(a.group)}`
  return a.namespace === '' ? `${what} at the cluster scope` : `${what} in the namespace ${quote(a.namespace)}`
}

/** The 403 a client gets for `attributes`; `reason` is the authorizer's. */
export function forbiddenError(attributes: AuthzAttributes, reason = ''): StatusError {
  const message = forbiddenMessage(attributes, reason)
  if (attributes.path !== undefined) {
    return new StatusError(`forbidden: ${message}`, { reason: 'Forbidden', details: {} })
  }
  const { group, resource, name } = attributes
  const subject = name === '' ? qualifiedResource(attributes) : `${qualifiedResource(attributes)} ${quote(name)}`
  return new StatusError(`${subject} is forbidden: ${message}`, {
    reason: 'Forbidden',
    details: { ...(name ? { name } : {}), ...(group ? { group } : {}), kind: resource },
  })
}
