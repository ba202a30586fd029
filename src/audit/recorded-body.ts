/**
 * Bodies as the audit log may keep them: without tokens, without managed fields where the policy says so, and never so
 * large that one event fills the log.
 */
import type { AuditSubject } from './audit.ts'

type Fields = Record<string, unknown>

/** What stands where a token stood. */
export const redacted = '[redacted]'

/** Beyond this a body is left out and the event says so. */
export const maxRecordedBytes: number = 1024 * 1024

/** The annotation of an event that lacks a body for its size. */
export const truncatedAnnotation = 'audit.k8s.io/truncated'

/**
 * A copy of `value` fit for the log. Tokens are struck out whatever the policy asks for: a TokenRequest answers with a
 * fresh credential, a TokenReview is sent one.
 */
export function recordedBody(
  value: unknown,
  subject: Pick<AuditSubject, 'group' | 'resource' | 'subresource'>,
  omitManagedFields: boolean,
): unknown {
  if (!isFields(value)) return value
  let body = value
  const { group, resource, subresource } = subject
  if (group === '' && resource === 'serviceaccounts' && subresource === 'token') body = withoutToken(body, 'status')
  if (group === 'authentication.k8s.io' && resource === 'tokenreviews') body = withoutToken(body, 'spec')
  return omitManagedFields ? withoutManagedFields(body) : body
}

function withoutToken(body: Fields, part: 'spec' | 'status'): Fields {
  const holder = body[part]
  return isFields(holder) && 'token' in holder ? { ...body, [part]: { ...holder, token: redacted } } : body
}

function withoutManagedFields(body: Fields): Fields {
  const items = body['items']
  const rest = Array.isArray(items)
    ? { ...body, items: items.map((i: unknown) => (isFields(i) ? withoutManagedFields(i) : i)) }
    : body
  const metadata = rest['metadata']
  if (!isFields(metadata) || !('managedFields' in metadata)) return rest
  const { managedFields: _, ...kept } = metadata
  return { ...rest, metadata: kept }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
